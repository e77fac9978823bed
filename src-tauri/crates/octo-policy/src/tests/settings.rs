//! Git's settings in the person's home, for commands that run without approval.

use crate::{
    Language, LineContext, Policy, PolicyContext, StartupFiles, Verdict, assess, environment::unattended,
};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// A repository, and a home with settings and a program that notes that it was started.
struct Person {
    _keep: tempfile::TempDir,
    root: PathBuf,
    context: LineContext,
}

/// Gives a command the home next to its folder.
fn with_home(command: &mut Command, folder: &Path) {
    let home = folder.ancestors().map(|above| above.join("home")).find(|home| home.is_dir()).unwrap();
    command.env("HOME", &home).env_remove("XDG_CONFIG_HOME").env("GIT_CONFIG_NOSYSTEM", "1");
}

fn query(folder: &Path, arguments: &[&str]) -> Option<String> {
    let mut git = octo_workspace::git_command(folder, octo_workspace::PersonalSettings::Apply)?;
    with_home(&mut git, folder);
    let output = git.args(arguments).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

impl Person {
    fn new() -> Self {
        let keep = tempfile::tempdir().unwrap();
        let root = keep.path().canonicalize().unwrap();
        let folder = root.join("project");
        for name in ["home/included", "project", "plain"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let evil = root.join("evil");
        fs::write(&evil, format!("#!/bin/sh\ntouch {}\n[ -t 0 ] || cat\n", root.join("ran").display()))
            .unwrap();
        fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).unwrap();
        let context = LineContext {
            folder: folder.clone(),
            home: Some(root.join("home")),
            octo_home: root.join("home/.octo"),
            octo_others: Vec::new(),
            processes: Vec::new(),
            language: Language::Bash,
        };
        let person = Self { _keep: keep, root, context };
        fs::write(folder.join("a"), "one\n").unwrap();
        fs::write(folder.join(".gitattributes"), "* diff=x filter=x merge=x\n").unwrap();
        person.git(&["init", "-q"]);
        person.git(&["config", "--global", "user.name", "Ada"]);
        person.git(&["config", "--global", "user.email", "ada@example.org"]);
        person.git(&["add", "-A"]);
        person.git(&["commit", "-qm", "one"]);
        fs::write(folder.join("a"), "two\n").unwrap();
        person
    }

    fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        with_home(&mut git, &self.context.folder);
        assert!(
            git.args(arguments).current_dir(&self.context.folder).status().unwrap().success(),
            "{arguments:?}"
        );
    }

    fn is_known(&self, line: &str) -> bool {
        self.is_known_in(line, "project")
    }

    fn is_known_in(&self, line: &str, folder: &str) -> bool {
        let context = LineContext { folder: self.root.join(folder), ..self.context.clone() };
        let (policy, startup) = (Policy::default(), StartupFiles::default());
        let context =
            PolicyContext { context: &context, policy: &policy, rules: &[], startup: &startup, git: query };
        matches!(assess(line, &[], context).verdict, Verdict::Known(_))
    }

    /// Runs a line as one without approval, and returns whether the program was started.
    fn starts_program(&self, line: &str) -> bool {
        let ran = self.root.join("ran");
        if ran.exists() {
            fs::remove_file(&ran).unwrap();
        }
        // Never what an earlier line has committed.
        fs::write(self.context.folder.join("a"), format!("after {line}\n")).unwrap();
        let login = std::env::vars().collect();
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-c", line]).current_dir(&self.context.folder).env_clear();
        bash.envs(unattended(login, &self.context.folder));
        with_home(&mut bash, &self.context.folder);
        bash.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        ran.exists()
    }
}

/// Lines with git that run without approval in a repository.
const LINES: &[&str] = &[
    "git status",
    "git diff",
    "git diff HEAD",
    "git diff --stat",
    "git log",
    "git log -p",
    "git log -G one",
    "git show",
    "git blame a",
    "git ls-files -m",
    "git branch",
    "git add -A",
    "git stash",
    "git commit -am x",
    "git config user.name",
    "git whatchanged",
];

/// Those for which git starts no external diff and no converter.
const QUIET: &[&str] = &[
    "git status",
    "git log",
    "git ls-files -m",
    "git branch",
    "git add -A",
    "git commit -am x",
    "git config user.name",
    "git stash",
    "git whatchanged",
];

#[test]
fn a_program_in_the_persons_settings_runs_in_no_line_that_does_not_ask() {
    let evil = |person: &Person| person.root.join("evil").display().to_string();
    for (name, quiet) in [
        ("alias.whatchanged", &[][..]),
        ("core.askPass", LINES),
        ("core.editor", LINES),
        ("core.fsmonitor", LINES),
        ("core.pager", LINES),
        ("core.sshCommand", LINES),
        ("credential.helper", LINES),
        ("diff.external", QUIET),
        ("diff.x.command", QUIET),
        ("diff.x.textconv", QUIET),
        ("filter.x.clean", &[]),
        ("filter.x.process", &[]),
        ("filter.lfs.clean", &[]),
        ("gc.recentObjectsHook", &[]),
        ("gpg.program", LINES),
        ("hook.x.command", &[]),
        ("interactive.diffFilter", LINES),
        ("lfs.extension.x.clean", &[]),
        ("merge.x.driver", &[]),
        ("pager.diff", LINES),
        ("trace2.normalTarget", LINES),
        // A program for which no line without approval has a use.
        ("alias.co", LINES),
        ("difftool.x.cmd", LINES),
        ("mergetool.x.cmd", LINES),
        ("sendemail.toCmd", LINES),
    ] {
        let person = Person::new();
        let alias = if name.starts_with("alias") { "!" } else { "" };
        let value = match name {
            "trace2.normalTarget" => person.root.join("ran").display().to_string(),
            _ => format!("{alias}{}", evil(&person)),
        };
        person.git(&["config", "--global", name, &value]);
        for line in LINES {
            let is_known = person.is_known(line);
            assert_eq!(is_known, quiet.contains(line), "{name}: {line}");
            assert!(!is_known || !person.starts_program(line), "{name}: {line}");
        }
        // What asks has a reason.
        let is_started = || LINES.iter().any(|line| !quiet.contains(line) && person.starts_program(line));
        assert!(!name.starts_with("diff.") || is_started(), "{name}");
    }
}

#[test]
fn a_program_in_an_included_file_counts_too() {
    let person = Person::new();
    let included = person.root.join("home/included/config");
    fs::write(&included, format!("[diff]\n\texternal = {}\n", person.root.join("evil").display())).unwrap();
    person.git(&["config", "--global", "include.path", "included/config"]);
    assert!(!person.is_known("git diff") && person.is_known("git status"));
    person.git(&["config", "--global", "--unset", "include.path"]);
    assert!(person.is_known_in("git init -q && git status", "plain"));
    let condition = format!("includeIf.gitdir:{}/.path", person.root.join("project").display());
    person.git(&["config", "--global", &condition, "included/config"]);
    assert!(!person.is_known("git diff") && person.is_known("git status"));
    // Outside a repository the condition does not apply, and a new one changes that.
    assert!(person.is_known_in("git diff a b", "plain"));
    assert!(!person.is_known_in("git init -q && git status", "plain"));
    person.git(&["config", "--global", "--unset", &condition]);
    assert!(person.is_known("git diff"));
    person.git(&["config", "--global", "includeIf.onbranch:evil.path", "included/config"]);
    assert!(!person.is_known("git status"));
}

#[test]
fn an_external_diff_counts_outside_a_repository() {
    let person = Person::new();
    assert!(person.is_known_in("git diff a b", "plain"));
    person.git(&["config", "--global", "diff.external", "/e"]);
    assert!(!person.is_known_in("git diff a b", "plain"));
}

#[test]
fn the_usual_filter_for_large_files_does_not_ask() {
    let person = Person::new();
    for (name, value) in [
        ("filter.lfs.clean", "git-lfs clean -- %f"),
        ("filter.lfs.smudge", "git-lfs smudge -- %f"),
        ("filter.lfs.process", "git-lfs filter-process"),
        ("filter.lfs.required", "true"),
    ] {
        person.git(&["config", "--global", name, value]);
    }
    for line in LINES {
        assert!(person.is_known(line), "{line}");
    }
    person.git(&["config", "--global", "filter.lfs.process", "git-lfs filter-process; x"]);
    assert!(!person.is_known("git status"));
}
