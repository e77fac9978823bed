//! The start-up files of login shells, as far as a change of them is looked for.

use super::Variables;
use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Below the person's home. Files these read in turn are not followed: a new terminal is opened for such a change
/// too.
const OF_THE_PERSON: &[&str] = &[
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

/// Of the machine.
const OF_THE_MACHINE: &[&str] = &[
    "/etc/environment",
    "/etc/profile",
    "/etc/profile.d",
    "/etc/paths",
    "/etc/paths.d",
    "/etc/zshenv",
    "/etc/zprofile",
    "/etc/bash.bashrc",
];

/// When start-up files were changed, and how long they were: one that is not the same means that the shell is to be
/// asked again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp(Vec<Option<(SystemTime, u64)>>);

impl Stamp {
    /// As of now, of the person whose variables these are. Reads the folders' entries only, about twenty looks.
    pub(super) fn now(own: &Variables) -> Self {
        let home = own.get("HOME").map(PathBuf::from).or_else(std::env::home_dir).unwrap_or_default();
        let zsh = own.get("ZDOTDIR").map(PathBuf::from);
        Self(files(Some(&home), zsh.as_deref()).map(|path| state(&path)).collect())
    }
}

/// The start-up files of a person with this home and, where it is not the home, this folder for those of zsh; and
/// those of the machine.
pub(super) fn files(home: Option<&Path>, zsh: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    let of_the_person = home.into_iter().flat_map(|home| OF_THE_PERSON.iter().map(|name| home.join(name)));
    let of_zsh = zsh.into_iter().flat_map(|folder| OF_ZSH.iter().map(|name| folder.join(name)));
    of_the_person.chain(of_zsh).chain(OF_THE_MACHINE.iter().map(PathBuf::from))
}

fn state(path: &Path) -> Option<(SystemTime, u64)> {
    let meta = fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}
