//! The start-up files of login shells that are checked for changes.

use super::Variables;
use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Files below the person's home. Files they read in turn are not followed: such a change takes effect only in
/// a new terminal too.
const PERSON_FILES: &[&str] = &[
    ".profile",
    ".bash_profile",
    ".bash_login",
    ".bashrc",
    ".zshenv",
    ".zprofile",
    ".zshrc",
    ".zlogin",
    ".config/fish/config.fish",
    ".config/fish/conf.d",
    ".config/fish/fish_variables",
    ".config/nushell/env.nu",
    ".config/nushell/config.nu",
    ".config/environment.d",
    ".config/mise/config.toml",
];

/// In the folder that `ZDOTDIR` names.
const OF_ZSH: &[&str] = &[".zshenv", ".zprofile", ".zshrc", ".zlogin"];

/// Files of the machine.
const MACHINE_FILES: &[&str] = &[
    "/etc/environment",
    "/etc/profile",
    "/etc/profile.d",
    "/etc/paths",
    "/etc/paths.d",
    "/etc/zshenv",
    "/etc/zprofile",
    "/etc/bash.bashrc",
];

/// The modification times and lengths of start-up files: a difference means the shell must be queried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StartupStamp(Vec<Option<(SystemTime, u64)>>);

impl StartupStamp {
    /// Returns the present stamp for the person with these variables. Reads only metadata, about twenty
    /// lookups.
    pub(super) fn now(own: &Variables) -> Self {
        let home = own.get("HOME").map(PathBuf::from).or_else(std::env::home_dir).unwrap_or_default();
        let zsh = own.get("ZDOTDIR").map(PathBuf::from);
        Self(files(Some(&home), zsh.as_deref()).map(|path| state(&path)).collect())
    }
}

/// The start-up files of a person with this home and, where it is not the home, this folder for those of zsh; and
/// those of the machine.
pub(super) fn files(home: Option<&Path>, zsh: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    let of_the_person = home.into_iter().flat_map(|home| PERSON_FILES.iter().map(|name| home.join(name)));
    let of_zsh = zsh.into_iter().flat_map(|folder| OF_ZSH.iter().map(|name| folder.join(name)));
    of_the_person.chain(of_zsh).chain(MACHINE_FILES.iter().map(PathBuf::from))
}

fn state(path: &Path) -> Option<(SystemTime, u64)> {
    let meta = fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}
