//! Queries of git for the command policy, which starts no process itself.

use std::{path::Path, process::Command};

/// Returns what `git` with these arguments prints in a repository, or `None` if it fails. Settings of the machine and
/// of its person do not apply.
pub fn git_answer(repository: &Path, arguments: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    git.env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", if cfg!(windows) { "NUL" } else { "/dev/null" });
    let output = git.args(arguments).current_dir(repository).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
