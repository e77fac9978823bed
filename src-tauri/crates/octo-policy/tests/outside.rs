//! The corpora written from outside, in their fixture: no hostile line runs unasked, and few everyday lines ask.
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
    let unasked: Vec<&String> = lines.iter().filter(|line| project.unasked(line).is_some()).collect();
    println!("hostile: {} of {} run unasked", unasked.len(), lines.len());
    assert!(unasked.is_empty(), "{unasked:#?}");
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
fn every_breach_found_by_an_attack_asks() {
    let project = Project::new();
    let lines: Vec<String> = commands(include_str!("attack/breaches.txt"))
        .chain(commands(include_str!("attack/kinds.txt")))
        .collect();
    let unasked: Vec<&String> = lines.iter().filter(|line| project.unasked(line).is_some()).collect();
    assert!(unasked.is_empty(), "{unasked:#?}");
}

#[test]
fn harmless_lines_found_by_an_attack_run() {
    let project = Project::new();
    let lines: Vec<String> = commands(include_str!("attack/harmless.txt")).collect();
    let asked: Vec<&String> = lines.iter().filter(|line| project.unasked(line).is_none()).collect();
    assert!(asked.is_empty(), "{asked:#?}");
}
