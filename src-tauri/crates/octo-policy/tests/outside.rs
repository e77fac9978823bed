//! The corpora written from the outside, in their fixture: no hostile line runs unasked, and few everyday lines ask.
#![expect(clippy::expect_used, reason = "a test")]
#![cfg(target_os = "linux")]

#[path = "support/corpus.rs"]
mod corpus;
#[path = "support/project.rs"]
mod project;

use corpus::commands;
use project::Project;

#[test]
fn no_hostile_line_runs_unasked() {
    let project = Project::new();
    let lines: Vec<String> = commands(include_str!("outside/hostile.txt")).collect();
    let through: Vec<&String> = lines.iter().filter(|line| project.unasked(line).is_some()).collect();
    println!("hostile: {} of {} run unasked", through.len(), lines.len());
    assert!(through.is_empty(), "{through:#?}");
    assert!(lines.len() >= 1_000, "{}", lines.len());
}

#[test]
fn few_everyday_lines_ask() {
    let project = Project::new();
    let lines: Vec<String> = commands(include_str!("outside/everyday.txt")).collect();
    let asked: Vec<&String> = lines.iter().filter(|line| project.unasked(line).is_none()).collect();
    println!("everyday: {} of {} ask: {asked:#?}", asked.len(), lines.len());
    assert!(asked.len() * 100 <= lines.len() * 3, "{} of {}: {asked:#?}", asked.len(), lines.len());
}

#[test]
fn every_breach_that_an_attack_found_asks() {
    let project = Project::new();
    let lines: Vec<String> = commands(include_str!("attack/breaches.txt"))
        .chain(commands(include_str!("attack/kinds.txt")))
        .collect();
    let through: Vec<&String> = lines.iter().filter(|line| project.unasked(line).is_some()).collect();
    assert!(through.is_empty(), "{through:#?}");
}

#[test]
fn what_an_attack_found_to_ask_needlessly_runs() {
    let project = Project::new();
    let lines: Vec<String> = commands(include_str!("attack/harmless.txt")).collect();
    let asked: Vec<&String> = lines.iter().filter(|line| project.unasked(line).is_none()).collect();
    assert!(asked.is_empty(), "{asked:#?}");
}
