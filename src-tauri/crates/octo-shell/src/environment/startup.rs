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
        let elsewhere =
            own.get("ZDOTDIR").map(PathBuf::from).into_iter().flat_map(|folder| {
                [".zshenv", ".zprofile", ".zshrc", ".zlogin"].map(|name| folder.join(name))
            });
        let of_the_person = OF_THE_PERSON.iter().map(|name| home.join(name));
        let all = of_the_person.chain(elsewhere).chain(OF_THE_MACHINE.iter().map(PathBuf::from));
        Self(all.map(|path| state(&path)).collect())
    }
}

fn state(path: &Path) -> Option<(SystemTime, u64)> {
    let meta = fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}
