//! Compares the policy with the real bash on random lines: an allowed line must start no tripwire and must change
//! nothing outside the folder.
//!
//! Every line runs with a `PATH` of tripwires and a few harmless tools, in its own namespaces if the system provides
//! them. Without `OCTO_SOAK` the test runs a seeded tenth of the full number.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "a test")]
#![cfg(target_os = "linux")]

mod lines;

use lines::{LineRandom, bad_line, change_line};
use octo_policy::{
    Language, LineContext, Policy, PolicyContext, StartupFiles, TouchedPaths, Verdict, assess,
};
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Number of lines in the full campaigns.
const FULL: usize = 20_000;

fn lines() -> usize {
    if std::env::var_os("OCTO_SOAK").is_some() { FULL } else { FULL / 10 }
}

/// Programs that must never run unasked. Here each of them is a tripwire.
const TRIPWIRES: &[&str] = &["tripwire", "make", "curl", "sudo", "sh", "python3", "npm", "env", "tar", "vim"];

/// Real tools under their own names.
const TOOLS: &[&str] = &[
    "awk", "basename", "cat", "chmod", "cp", "cut", "dirname", "find", "grep", "head", "ln", "ls", "mkdir",
    "mv", "rm", "rmdir", "sed", "seq", "sort", "tail", "tee", "timeout", "touch", "tr", "truncate", "uniq",
    "wc", "date", "nice", "tac", "xargs", "bash",
];

struct FuzzProject {
    _keep: tempfile::TempDir,
    root: PathBuf,
    context: LineContext,
}

fn project() -> FuzzProject {
    let keep = tempfile::tempdir().expect("a folder");
    let root = keep.path().canonicalize().expect("a real path");
    let bin = root.join("bin");
    fs::create_dir_all(&bin).expect("a folder");
    let real = std::env::var("PATH").expect("a path");
    for tool in TOOLS {
        if let Some(found) =
            std::env::split_paths(&real).map(|folder| folder.join(tool)).find(|path| path.is_file())
        {
            symlink(found, bin.join(tool)).expect("a link");
        }
    }
    for tripwire in TRIPWIRES {
        write_tripwire(&bin.join(tripwire), &root);
    }
    fs::create_dir(root.join("outside")).expect("a folder");
    let context = LineContext {
        folder: root.join("project"),
        home: Some(root.join("home")),
        octo_home: root.join("home/.octo"),
        octo_others: Vec::new(),
        processes: vec![],
        language: Language::Bash,
    };
    FuzzProject { _keep: keep, root, context }
}

fn write_tripwire(path: &Path, root: &Path) {
    fs::write(path, format!("#!/bin/bash\n: >'{}/tripped'\n", root.display())).expect("a tripwire");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a mode");
}

impl FuzzProject {
    /// Restores the project's initial state before every line.
    fn reset(&self) {
        let folder = &self.context.folder;
        let _missing = fs::remove_dir_all(folder);
        fs::create_dir_all(folder.join("dir/deep")).expect("folders");
        for name in ["a", "b.txt", "in", "dir/c", "dir/deep/d", ".hidden", "-n"] {
            fs::write(folder.join(name), "one\ntwo\n").expect("a file");
        }
        write_tripwire(&folder.join("run"), &self.root);
        symlink("../outside", folder.join("out-link")).expect("a link");
        symlink("../../outside/file", folder.join("dir/a")).expect("a link");
        symlink("dir", folder.join("in-link")).expect("a link");
        let outside = self.root.join("outside");
        fs::write(outside.join("file"), "kept\n").expect("a file");
    }

    fn outside(&self) -> BTreeMap<PathBuf, (u32, u64, i64, Vec<u8>)> {
        let mut all = BTreeMap::new();
        for folder in [self.root.join("outside"), self.root.join("bin"), self.root.clone()] {
            for entry in fs::read_dir(&folder).expect("a folder").flatten() {
                let meta = entry.path().symlink_metadata().expect("an entry");
                let content =
                    if meta.is_file() { fs::read(entry.path()).expect("a file") } else { Vec::new() };
                // The time of a folder tells nothing beyond its entries.
                let time = if meta.is_file() { meta.mtime_nsec() } else { 0 };
                all.insert(entry.path(), (meta.mode(), meta.ino(), time, content));
            }
        }
        all.retain(|path, _| !path.ends_with("project") && !path.ends_with("line"));
        all
    }

    /// Runs a line like a command that needs no question; returns whether a tripwire was started.
    fn run(&self, line: &str) -> bool {
        fs::write(self.root.join("line"), line).expect("the line");
        let tripped = self.root.join("tripped");
        let _missing = fs::remove_file(&tripped);
        let script = format!(
            "{}builtin eval -- \"$(</{}/line)\"",
            octo_policy::PATTERN_SETUP,
            self.root.display().to_string().trim_start_matches('/')
        );
        let mut command = match isolation() {
            Some(arguments) => {
                let mut command = Command::new("unshare");
                command.args(arguments).args(["timeout", "-s", "KILL", "5"]);
                command
            }
            None => {
                let mut command = Command::new("timeout");
                command.args(["-s", "KILL", "5"]);
                command
            }
        };
        let bash = self.root.join("bin/bash");
        command.arg("/usr/bin/env").arg("-i");
        command.arg(format!("PATH={}", self.root.join("bin").display()));
        command.arg(format!("HOME={}", self.root.join("home").display()));
        command.arg("LC_ALL=C.UTF-8").arg(bash).args(["--noprofile", "--norc", "-c", &script]);
        command
            .current_dir(&self.context.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.status().expect("bash");
        tripped.exists()
    }

    /// Returns the paths a line would touch, if the policy and the paths allow it.
    fn allowed(&self, line: &str) -> Option<TouchedPaths> {
        let (policy, startup) = (Policy::default(), StartupFiles::default());
        let context = PolicyContext {
            context: &self.context,
            policy: &policy,
            rules: &[],
            startup: &startup,
            git: octo_testkit::git_answer,
        };
        let assessment = assess(line, &[], context);
        let Verdict::Known(known) = assessment.verdict else { return None };
        let folder = &self.context.folder;
        let open = |text: &String| {
            octo_workspace::resolve(text, folder).is_ok_and(|path| {
                octo_workspace::is_inside(folder, &path) && !octo_workspace::is_secret(&path)
            })
        };
        let taken = |text: &String| octo_workspace::resolve(text, folder).is_ok_and(|path| path != *folder);
        let all =
            known.reads.iter().all(open) && known.writes.iter().all(open) && known.removes.iter().all(open);
        (all && known.removes.iter().all(taken)).then_some(known)
    }
}

/// Returns how a command gets its own namespaces here, or `None` if the system provides none.
fn isolation() -> Option<&'static [&'static str]> {
    static FOUND: std::sync::LazyLock<Option<&'static [&'static str]>> = std::sync::LazyLock::new(|| {
        let ways: [&[&str]; 2] = [&["-rmpfn", "--kill-child"], &["-rmpf"]];
        let works = |arguments: &&&[&str]| {
            Command::new("unshare")
                .args(**arguments)
                .arg("true")
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success())
        };
        let found = ways.iter().find(works).copied();
        if found.is_none() {
            println!(
                "no name spaces here: lines run in an empty folder with nothing but tripwires on their PATH"
            );
        }
        found
    });
    *FOUND
}

#[test]
fn no_allowed_line_starts_a_tripwire() {
    let (project, mut dice) = (project(), LineRandom::new());
    let (mut allowed, mut checked, mut tripping) = (0, 0, 0);
    for number in 0..lines() {
        let line = bad_line(&mut dice);
        if number % 64 == 0 {
            project.reset();
        }
        if project.allowed(&line).is_some() {
            allowed += 1;
            project.reset();
            assert!(!project.run(&line), "line {number} was allowed and started a tripwire: {line:?}");
        } else if number % 40 == 0 {
            // Checks that the generated lines do start tripwires.
            checked += 1;
            project.reset();
            tripping += usize::from(project.run(&line));
        }
    }
    println!(
        "{} lines: {allowed} allowed, none started a tripwire; of {checked} others {tripping} did",
        lines()
    );
    assert!(tripping * 3 > checked, "only {tripping} of {checked} lines do what they are made for");
}

#[test]
fn no_allowed_line_changes_anything_outside_the_folder() {
    let (project, mut dice) = (project(), LineRandom::new());
    let mut allowed = 0;
    project.reset();
    for number in 0..lines() / 2 {
        let line = change_line(&mut dice);
        if project.allowed(&line).is_none() {
            continue;
        }
        project.reset();
        // The verdict must hold for the restored folder.
        if project.allowed(&line).is_none() {
            continue;
        }
        allowed += 1;
        let before = project.outside();
        let tripped = project.run(&line);
        let after = project.outside();
        if tripped || before != after {
            panic!("line {number} was allowed and changed something outside: {line:?}");
        }
        project.reset();
    }
    println!("{} lines: {allowed} allowed, nothing outside changed", lines() / 2);
    assert!(allowed > lines() / 60, "only {allowed} were allowed");
}
