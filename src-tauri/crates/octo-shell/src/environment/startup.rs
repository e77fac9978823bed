//! The start-up files of login shells that are checked for changes.

use octo_policy::{Variables, login_startup_files};
use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// The modification times and lengths of start-up files: a difference means the shell must be queried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StartupStamp(Vec<Option<(SystemTime, u64)>>);

impl StartupStamp {
    /// Returns the present stamp for the person with these variables. Reads only metadata, about twenty
    /// lookups.
    pub(super) fn now(variables: &Variables) -> Self {
        let home = variables.get("HOME").map(PathBuf::from).or_else(std::env::home_dir).unwrap_or_default();
        let zsh = variables.get("ZDOTDIR").map(PathBuf::from);
        Self(login_startup_files(Some(&home), zsh.as_deref()).map(|path| state(&path)).collect())
    }
}

fn state(path: &Path) -> Option<(SystemTime, u64)> {
    let meta = fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}
