//! Lines in a repository whose history and names hold more than its files show.
#![expect(clippy::expect_used, reason = "a test")]
#![cfg(target_os = "linux")]

#[path = "support/corpus.rs"]
mod corpus;
#[path = "support/project.rs"]
mod project;

use corpus::commands;
use project::Project;
use std::{fs, process::Command};

/// Adds the history and the names to a project, beside what every [`Project`] has.
fn hostile_project() -> Project {
    let project = Project::new();
    let done = Command::new("bash")
        .args(["-ec", include_str!("attack/repository.sh")])
        .current_dir(&project.context.folder)
        .env("HOME", project.root.join("home"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .status()
        .expect("bash");
    assert!(done.success());
    project
}

#[test]
fn no_line_prints_or_writes_what_it_does_not_name() {
    let project = hostile_project();
    let lines: Vec<String> = commands(include_str!("attack/repository.txt")).collect();
    let unasked: Vec<&String> = lines.iter().filter(|line| project.unasked(line).is_some()).collect();
    assert!(unasked.is_empty(), "{unasked:#?}");
}

#[test]
fn their_harmless_neighbours_run() {
    let project = hostile_project();
    let lines: Vec<String> = commands(include_str!("attack/repository-harmless.txt")).collect();
    let asked: Vec<&String> = lines.iter().filter(|line| project.unasked(line).is_none()).collect();
    assert!(asked.is_empty(), "{asked:#?}");
}

#[test]
fn a_repository_in_which_commits_print_differences_asks() {
    let project = hostile_project();
    assert!(project.unasked("git commit -m x").is_some());
    let settings = project.context.folder.join(".git/config");
    let text = fs::read_to_string(&settings).expect("the settings");
    fs::write(&settings, text + "[commit]\n verbose = 2\n").expect("the settings");
    assert!(project.unasked("git commit -m x").is_none());
}
