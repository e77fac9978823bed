//! The folder of tmux's sockets, which is in the system's folder for temporary files.

use super::Confinement;
use octo_policy::Variables;
use std::{
    fs,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

/// The folder below which tmux makes its own, unless a variable names another one.
const SYSTEM: &str = "/tmp";
/// That variable.
const VARIABLE: &str = "TMUX_TMPDIR";

impl Confinement {
    /// Grants the folder in which tmux has its sockets, and the lock with which it starts a server. Creates it where
    /// it is missing and tmux is installed: what is not there cannot be granted. A folder of another user is not
    /// granted.
    pub(crate) fn grant_tmux(&mut self, variables: &Variables) {
        let path = variables.get("PATH").map(String::as_str).unwrap_or_default();
        if !std::env::split_paths(path).any(|folder| folder.is_absolute() && folder.join("tmux").is_file()) {
            return;
        }
        let base = variables.get(VARIABLE).map_or_else(|| PathBuf::from(SYSTEM), PathBuf::from);
        let user = nix::unistd::geteuid().as_raw();
        let folder = base.join(format!("tmux-{user}"));
        if let Err(error) = fs::DirBuilder::new().mode(0o700).create(&folder) {
            tracing::trace!(%error, "the folder of tmux's sockets is not made");
        }
        let is_own =
            |folder: &Path| folder.symlink_metadata().is_ok_and(|meta| meta.is_dir() && meta.uid() == user);
        if is_own(&folder) {
            self.writable.push(folder);
        }
    }
}
