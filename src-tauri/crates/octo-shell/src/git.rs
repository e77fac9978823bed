//! Queries of git for the command policy, which starts no process itself.

use octo_policy::{alters_git, git_overrides, trusted_path};
use std::{
    path::Path,
    process::{Command, Stdio},
};

/// Returns what `git` with these arguments prints in a repository, or `None` if it fails. It runs in the
/// environment of commands that run without approval.
pub fn git_answer(repository: &Path, arguments: &[&str]) -> Option<String> {
    let path = trusted_path(std::env::var_os("PATH")?.to_str()?, repository);
    let program = std::env::split_paths(&path).map(|folder| folder.join("git")).find(|git| git.is_file())?;
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os().filter(|(name, _)| alters_git(&name.to_string_lossy())) {
        command.env_remove(name);
    }
    let output = command
        .envs(git_overrides())
        .env("PATH", path)
        .current_dir(repository)
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_queried_without_starting_what_its_settings_name() {
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| git_answer(folder.path(), arguments);
        assert_eq!(git(&["config", "--list"]).map(|_| ()), Some(()), "the overrides are settings too");
        git(&["init", "-q"]).unwrap();
        git(&["config", "core.fsmonitor", "touch ran"]).unwrap();
        git(&["status"]).unwrap();
        assert_eq!(git(&["config", "core.fsmonitor"]).as_deref(), Some("false\n"));
        assert!(!folder.path().join("ran").exists());
        assert_eq!(git(&["no-such-command"]), None);
    }
}
