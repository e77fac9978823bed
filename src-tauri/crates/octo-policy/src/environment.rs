//! The environment of commands that run without approval.

use octo_workspace::{alters_git, git_overrides, trusted_path};
use std::{collections::BTreeMap, path::Path};

/// Variables by name.
pub type Variables = BTreeMap<String, String>;

/// Returns the environment of a command that runs without approval, made from the variables of the login shell. In it
/// the words of the command have the meaning that the policy assumed.
pub fn unattended(login: Variables, folder: &Path) -> Variables {
    let mut variables: Variables = login.into_iter().filter(|(name, _)| !alters_commands(name)).collect();
    let path = variables.get("PATH").cloned().unwrap_or_default();
    variables.insert("PATH".to_owned(), trusted_path(&path, folder));
    variables.extend(git_overrides());
    variables.extend(
        [
            // A single-byte locale may have blanks that the policy does not know.
            ("LC_ALL", "C.UTF-8"),
            // A query for a version must not download a tool.
            ("GOTOOLCHAIN", "local"),
            ("RUSTUP_AUTO_INSTALL", "0"),
            ("COREPACK_ENABLE_DOWNLOAD_PROMPT", "0"),
            ("COREPACK_ENABLE_STRICT", "0"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    variables
}

/// The commands of bash that run before a line that runs without approval. They keep patterns from matching names that
/// look like options. A value of `GLOBIGNORE` makes patterns match hidden names too, which the second command undoes.
pub const PATTERN_SETUP: &str = "GLOBIGNORE='-*'\nbuiltin shopt -u dotglob\n";

/// Returns whether a variable changes the behaviour of a command in the policy's tables: start-up files and options of
/// bash, exported functions, options and settings files of tools.
fn alters_commands(name: &str) -> bool {
    #[rustfmt::skip]
    const NAMES: &[&str] = &[
        "BASH_ENV", "BASHOPTS", "SHELLOPTS", "ENV", "CDPATH", "GLOBIGNORE", "IFS", "POSIXLY_CORRECT", "PS4",
        "GREP_OPTIONS", "RIPGREP_CONFIG_PATH", "MAGIC", "NODE_OPTIONS", "PYTHONSTARTUP", "RUBYOPT", "MAKEFLAGS",
        "EXECIGNORE", "RUSTUP_TOOLCHAIN", "LS_OPTIONS",
    ];
    NAMES.contains(&name) || name.starts_with("BASH_FUNC_") || alters_git(name)
}
