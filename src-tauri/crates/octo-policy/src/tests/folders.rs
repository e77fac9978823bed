//! The effect of a folder on a line.

use super::{Judgement, LinePermission, judge_at, words};
use crate::{folder::FolderQueries, judge::allowed_at};
use octo_workspace::{PathRestriction, is_secret};
use std::{fs, path::Path, process::Command};

/// Returns the restriction of a path if the person has no rules.
fn secrets_only(path: &Path) -> PathRestriction {
    if is_secret(path) { PathRestriction::Secret } else { PathRestriction::No }
}

const QUERIES: FolderQueries<'static> = FolderQueries {
    restriction: &secrets_only,
    git: octo_testkit::git_answer,
    has_role: &|_| false,
    begins_role: &|_| false,
};

fn reads_at(line: &str, folder: &Path) -> Option<Vec<String>> {
    match judge_at(line, &[], folder, QUERIES) {
        Judgement::ReadOnly { mut reads } => {
            reads.sort();
            Some(reads)
        }
        Judgement::Ask { .. } => None,
        Judgement::Unparsed => panic!("{line:?}"),
    }
}

fn run_bash(script: &str, folder: &Path) {
    let home = folder.parent().unwrap();
    let done = Command::new("bash")
        .args(["-ec", script])
        .current_dir(folder)
        .env("HOME", home)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs([
            ("GIT_AUTHOR_NAME", "n"),
            ("GIT_AUTHOR_EMAIL", "e@x"),
            ("GIT_COMMITTER_NAME", "n"),
            ("GIT_COMMITTER_EMAIL", "e@x"),
        ])
        .status()
        .unwrap();
    assert!(done.success(), "{script}");
}

/// Creates a folder inside a temporary folder, so that the folder above it is the test's own too.
fn project(script: &str) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("project");
    fs::create_dir(&folder).unwrap();
    run_bash(script, &folder);
    root
}

#[test]
fn patterns_are_replaced_by_the_names_they_match() {
    let root =
        project("touch a.rs b.rs prod.env .hidden; mkdir src; touch src/c.rs; ln -s /etc/passwd leak.rs");
    let folder = root.path().join("project");
    for (line, expected) in [
        ("cat *.rs", "*.rs a.rs b.rs leak.rs"),
        ("cat ?.rs", "?.rs a.rs b.rs leak.rs"),
        ("cat */*.rs", "*/*.rs src/c.rs"),
        ("cat [ab].rs", "[ab].rs a.rs b.rs leak.rs prod.env src"),
        ("cat *.en?", "*.en? prod.env"),
        ("cat .h*", ".h* .hidden"),
        ("cat none*", "none*"),
        ("cd src && cat *.rs", "src src/*.rs src/c.rs"),
    ] {
        assert_eq!(reads_at(line, &folder).unwrap().join(" "), expected, "{line}");
    }
    let many = project("for n in {1..2100}; do : >\"f$n\"; done");
    assert_eq!(reads_at("cat *", &many.path().join("project")), None);
}

#[test]
fn secrets_that_a_recursive_search_encounters_are_read() {
    let root = project("mkdir -p src deep/er; touch src/a.rs .env deep/er/id_rsa");
    let folder = root.path().join("project");
    let secret = |line: &str| reads_at(line, &folder).unwrap().iter().any(|read| is_secret(Path::new(read)));
    assert!(secret("grep -rn key ."));
    assert!(secret("grep -r key"));
    assert!(secret("grep --recursive key deep"));
    assert!(secret("rg key"));
    assert!(secret("rg -uu key"));
    assert!(secret("diff -r . deep"));
    assert!(!secret("grep -rn key src"));
    assert!(!secret("grep -rn key --include='*.rs' ."));
    assert!(!secret("grep key src/a.rs"));
    assert!(!secret("rg key src"));
    assert!(!secret("ls -R"));
}

#[test]
fn an_ordinary_repository_does_not_ask() {
    let root = project(
        "git init -q .; echo a >a; git add a; git commit -qm one; git remote add origin https://example.com/x.git
         git config user.name n; git config branch.main.remote origin; git config pull.rebase true",
    );
    let folder = root.path().join("project");
    for line in ["git status", "git diff", "git log -p", "git show HEAD", "git blame a"] {
        assert!(reads_at(line, &folder).is_some(), "{line}");
    }
    // Outside any repository git only reports an error.
    assert!(reads_at("git status", root.path()).is_some());
}

#[test]
fn a_repository_whose_settings_name_programs_asks() {
    for settings in [
        "git config diff.x.textconv evil",
        "git config diff.external evil",
        "git config diff.x.command evil",
        "git config filter.x.clean evil",
        "git config filter.x.process evil",
        "git config core.fsmonitor evil",
        "git config core.sshCommand evil",
        "git config core.worktree /",
        "git config gpg.program evil",
        "git config extensions.partialClone origin",
        "git config remote.origin.promisor true",
        "git config remote.origin.uploadpack evil",
        "git config alias.status '!evil'",
        "git config pager.log evil",
        "git config include.path evil",
        "printf '[diff \"x\"]\\n textconv = evil\\n' >../more; git config include.path ../../more",
        "git config submodule.x.update '!evil'",
        "echo broken >.git/config",
        "git init -q sub; git -C sub commit -q --allow-empty -m x; git add sub 2>/dev/null",
    ] {
        let root = project(&format!("git init -q .; echo a >a; git add a; git commit -qm one; {settings}"));
        let folder = root.path().join("project");
        assert_eq!(reads_at("git status", &folder), None, "{settings}");
        assert_eq!(reads_at("cd project && git log -p", root.path()), None, "{settings}");
        assert!(reads_at("ls", &folder).is_some(), "{settings}");
        assert_eq!(
            allowed_at("git log && cargo test", &[words("cargo test")], &folder, QUERIES),
            LinePermission::No,
            "{settings}"
        );
    }
}

#[test]
fn an_apparent_bare_repository_asks() {
    let root = project("git init -q --bare bare");
    assert_eq!(reads_at("cd bare && git log", &root.path().join("project")), None);
}

#[test]
fn a_folder_that_chooses_versions_makes_a_version_query_ask() {
    let root = project("true");
    let folder = root.path().join("project");
    assert!(reads_at("node --version", &folder).is_some());
    for name in [".tool-versions", "rust-toolchain.toml", "mise.toml"] {
        let file = root.path().join(name);
        fs::write(&file, "").unwrap();
        assert_eq!(reads_at("node --version", &folder), None, "{name}");
        fs::remove_file(file).unwrap();
    }
}
