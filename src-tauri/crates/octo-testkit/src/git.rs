//! Queries of git for the command policy, which starts no process itself.

use std::{path::Path, process::Command};

/// Returns what `git` with these arguments prints in a repository, or `None` if it fails.
pub fn git_answer(repository: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(repository).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
