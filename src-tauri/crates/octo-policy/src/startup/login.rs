//! The start-up files of login shells.

use std::path::{Path, PathBuf};

/// Files below the person's home. Files that these read in turn are not listed.
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

/// Files in the folder that `ZDOTDIR` names.
const ZSH_FILES: &[&str] = &[".zshenv", ".zprofile", ".zshrc", ".zlogin"];

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

/// Returns the start-up files of login shells: those of a person with this home, those of zsh in the folder that
/// `ZDOTDIR` names, and those of the machine.
pub fn login_startup_files(home: Option<&Path>, zsh: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    let of_person = home.into_iter().flat_map(|home| PERSON_FILES.iter().map(|name| home.join(name)));
    let of_zsh = zsh.into_iter().flat_map(|folder| ZSH_FILES.iter().map(|name| folder.join(name)));
    of_person.chain(of_zsh).chain(MACHINE_FILES.iter().map(PathBuf::from))
}
