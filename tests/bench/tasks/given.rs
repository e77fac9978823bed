//! The tasks: their prompts, and the files they start with.

use super::{
    checks::{self, Check},
    rehearsal,
};
use octo_testkit::Reply;
use std::path::Path;

/// A task.
pub struct BenchTask {
    /// Its name.
    pub name: &'static str,
    /// The person's message.
    pub prompt: &'static str,
    /// The files of the folder, by relative path.
    pub files: &'static [(&'static str, &'static str)],
    /// Checks the results in a folder.
    pub check: fn(&Path) -> Vec<Check>,
    /// The scripted model's replies.
    pub rehearsal: fn() -> Vec<Reply>,
}

/// The files of a task, by their names in its folder next to this file.
macro_rules! files {
    ($task:literal: $($file:literal),+) => {
        &[$(($file, include_str!(concat!($task, "/", $file)))),+]
    };
}

/// All of them.
pub const TASKS: [BenchTask; 3] = [
    BenchTask {
        name: "deck",
        prompt: include_str!("deck/prompt.md"),
        files: files!("deck": "brief.md", "figures.csv", "quotes.md"),
        check: checks::deck,
        rehearsal: rehearsal::deck,
    },
    BenchTask {
        name: "plan",
        prompt: include_str!("plan/prompt.md"),
        files: files!("plan": "product.md", "limits.md", "survey.csv"),
        check: checks::plan,
        rehearsal: rehearsal::plan,
    },
    BenchTask {
        name: "pipeline",
        prompt: include_str!("pipeline/prompt.md"),
        files: PIPELINE,
        check: checks::pipeline,
        rehearsal: rehearsal::pipeline,
    },
];

/// The magazine's files.
pub const PIPELINE: &[(&str, &str)] = files!("pipeline":
    "pipeline.md",
    "articles/a-map-of-smells.md",
    "articles/bridges.md",
    "articles/draft-of-a-storm.md",
    "articles/salt-and-light.md",
    "articles/the-clockmaker.md",
    "articles/the-last-ferry.md"
);
