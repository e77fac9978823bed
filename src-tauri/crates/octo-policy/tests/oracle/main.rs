//! Compares the policy with the programs of this machine: the files that a line opens and writes and the programs it
//! starts with those that the policy expected.
//!
//! The lines are random, made from each program's own `--help` and from the languages that the policy reads. The lines
//! that the policy would run unasked run in batches under `strace`, in a namespace without a network and in the
//! environment of commands that run unasked. A line may read files that a session may read. It must start only programs
//! that it names, change only files that the policy expected, and open no connection. The gate runs 3,000 lines, the
//! soak 200,000.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "a test")]
#![cfg(target_os = "linux")]

mod family;
mod generator;
#[path = "../support/project.rs"]
mod project;
mod trace;

use family::Family;
use generator::Generator;
use octo_policy::{TouchedPaths, Variables, unattended};
use project::Project;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use trace::{Event, events};

/// Number of lines in the gate.
const LINES: usize = 3_000;
/// Number of lines in the soak.
const SOAK_LINES: usize = 200_000;
/// Number of lines that run under one `strace`.
const BATCH: usize = 500;

#[test]
fn lines_that_run_unasked_do_what_the_policy_believes() {
    if !works("strace", &["-V"]) || !works("unshare", &["-rn", "true"]) {
        assert!(std::env::var_os("CI").is_none(), "strace is missing; cargo xtask test installs it");
        println!("left out: no strace or no namespaces");
        return;
    }
    let total = if std::env::var_os("OCTO_SOAK").is_some() { SOAK_LINES } else { LINES };
    let project = Project::new();
    let families = family::installed(&project.root);
    let mut disagreements = Vec::new();
    for family in &families {
        let mut generator = Generator::new(octo_policy::known_programs(), &family.path);
        let (mut lines, mut ran, mut programs) = (0, 0, BTreeMap::<String, usize>::new());
        let before = disagreements.len();
        while lines < total / families.len() {
            let mut batch = Vec::new();
            while batch.len() < BATCH && lines < total / families.len() {
                let line = generator.line();
                lines += 1;
                if let Some(known) = project.unasked(&line) {
                    for name in octo_policy::known_programs()
                        .filter(|name| line.split([' ', '(']).any(|word| word == *name))
                    {
                        *programs.entry(name.to_owned()).or_default() += 1;
                    }
                    batch.push((line, known));
                }
            }
            ran += batch.len();
            disagreements.extend(watch(&project, family, &batch));
        }
        println!(
            "{}: {lines} lines, {ran} ran unasked, with {} programs: {} disagreements",
            family.name,
            programs.len(),
            disagreements.len() - before
        );
        println!("{programs:?}");
        assert!(ran * 10 > lines, "only {ran} of {lines} ran");
    }
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
}

fn works(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// Runs lines and returns their effects that the policy did not expect.
fn watch(project: &Project, family: &Family, lines: &[(String, TouchedPaths)]) -> Vec<String> {
    let script = project.root.join("script");
    let written = project.root.join("trace");
    let mut text = octo_policy::PATTERN_SETUP.to_owned();
    let (folder, original) = (&project.context.folder, project.root.join("whole"));
    if !original.exists() {
        let copied = Command::new("cp").arg("-a").arg(folder).arg(&original).status().expect("cp");
        assert!(copied.success());
    }
    for (number, (line, known)) in lines.iter().enumerate() {
        let quoted = line.replace('\'', "'\\''");
        text.push_str(&format!(
            ": < {}{number}\n( builtin ulimit -t 2; builtin eval -- '{quoted}' )\n",
            trace::MARKER
        ));
        if !only_reads(known) {
            // The policy judged the next line in the original state.
            let (folder, original) = (folder.display(), original.display());
            text.push_str(&format!(
                ": < {}restored\ncd /; /bin/rm -rf {folder}; /bin/cp -a {original} {folder}; cd {folder}\n",
                trace::MARKER
            ));
        }
    }
    text.push_str(&format!(": < {}end\n", trace::MARKER));
    fs::write(&script, text).expect("a script");
    let login = Variables::from([
        ("PATH".to_owned(), family.path.clone()),
        ("HOME".to_owned(), project.root.join("home").display().to_string()),
    ]);
    let mut command = Command::new("timeout");
    command.args([
        "-s",
        "KILL",
        "600",
        "unshare",
        "-rn",
        "strace",
        "-f",
        "--seccomp-bpf",
        "-y",
        "-s",
        "4096",
        "-qq",
    ]);
    command.args(["-e", trace::CALLS, "-o"]).arg(&written);
    command.args(["bash", "--noprofile", "--norc"]).arg(&script);
    command
        .env_clear()
        .envs(unattended(login, &project.context.folder))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .current_dir(&project.context.folder)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    command.status().expect("strace");
    let trace = fs::read(&written).expect("a trace");
    let trace = String::from_utf8_lossy(&trace);
    let mut found = Vec::new();
    let mut ended = false;
    for (marker, event) in events(&trace) {
        let Some((line, known)) = marker.parse::<usize>().ok().and_then(|number| lines.get(number)) else {
            ended |= marker == "end";
            continue;
        };
        if let Some(unexpected_effect) = unexpected_effect(project, line, known, &event) {
            found.push(format!("{line:?}: {unexpected_effect}"));
        }
    }
    if !ended && !lines.is_empty() && !trace.contains(&format!("{}end", trace::MARKER)) {
        found.push("a line did not end".to_owned());
    }
    found.dedup();
    found
}

fn only_reads(known: &TouchedPaths) -> bool {
    known.writes.is_empty() && known.removes.is_empty() && known.repositories.is_empty()
}

/// Returns whether the policy expected that a line changes a path or a folder above it.
fn is_expected(project: &Project, known: &TouchedPaths, path: &Path) -> bool {
    let folder = &project.context.folder;
    let in_repository = path.starts_with(folder.join(".git"));
    if in_repository && !known.repositories.is_empty() {
        return !path.starts_with(folder.join(".git/hooks")) && !path.starts_with(folder.join(".git/config"));
    }
    let expected: Vec<PathBuf> = known
        .writes
        .iter()
        .chain(&known.removes)
        .filter_map(|text| octo_workspace::resolve(text, folder).ok())
        .collect();
    // `sed -i` writes a new file next to the file it replaces.
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let next_to = |other: &PathBuf| {
        let other_name = other.file_name().unwrap_or_default().to_string_lossy();
        other.parent() == path.parent() && (name.starts_with("sed") || name.starts_with(&*other_name))
    };
    if expected.iter().any(next_to) {
        return true;
    }
    if path.is_relative() {
        // The new file of GNU's `sed -i`, or that of busybox's for `.`.
        if name.starts_with("sed") || (name.starts_with('.') && name.len() == 7) {
            return true;
        }
        let above = |expected: &PathBuf| {
            path.ancestors().any(|above| above != Path::new("") && expected.ends_with(above))
        };
        return !known.repositories.is_empty() || expected.iter().any(above);
    }
    // To remove or replace a link changes the link itself.
    expected.iter().any(|expected| {
        path.starts_with(expected) && (!in_repository || expected.starts_with(folder.join(".git")))
    }) || known.removes.iter().any(|text| path.starts_with(folder.join(text)))
}

/// Returns the effect of an event that the policy did not expect of a line.
fn unexpected_effect(project: &Project, line: &str, known: &TouchedPaths, event: &Event) -> Option<String> {
    match event {
        Event::Reads(path) => {
            let in_project = path.starts_with(&project.root) && *path != project.root.join("script");
            // `ps` opens the environment of each process, and prints it only with options that the policy refuses.
            let lists_processes = line.split_whitespace().next() == Some("ps");
            let private = (path.ends_with("environ") && !lists_processes)
                || path.starts_with("/etc/shadow")
                || path.starts_with("/root");
            // Git's own settings, in which `rg` looks up ignored files too.
            let asks_git = line.contains("git") || line.contains("rg");
            let settings = [".gitconfig", ".config/git"]
                .iter()
                .any(|name| asks_git && path.starts_with(project.root.join("home").join(name)));
            // The objects ask if a line names them. Git reads them by itself, and a search only lists their folders.
            let objects =
                (asks_git || path.is_dir()) && path.starts_with(project.context.folder.join(".git/objects"));
            let open = !(in_project || private) || settings || objects || project.may_read(path);
            (!open).then(|| format!("reads {}", path.display()))
        }
        Event::Writes(path) => {
            let device = path.starts_with("/dev") || path.starts_with("/proc");
            (!device && !is_expected(project, known, path)).then(|| format!("writes {}", path.display()))
        }
        Event::Starts(path) => {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_git_program = line.contains("git") && path.starts_with("/usr/lib/git-core");
            // A distribution resolves some names: `awk` is `mawk`.
            let named = line.contains(name.as_str()) || is_git_program || name == "busybox";
            (!named).then(|| format!("starts {}", path.display()))
        }
        Event::Changes(paths) => paths
            .iter()
            .find(|path| !is_expected(project, known, path))
            .map(|path| format!("changes {}", path.display())),
        Event::Connects(call) => Some(format!("connects: {call}")),
    }
}
