//! The environment of commands that run without approval.

use octo_workspace::is_inside;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

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
            ("GIT_PAGER", "cat"),
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

/// Returns whether a variable sets git's settings, folders or programs.
pub fn alters_git(name: &str) -> bool {
    name.starts_with("GIT_")
}

/// Returns the variables with git settings that override a repository's own, so that git starts no program that the
/// repository names.
pub fn git_overrides() -> Variables {
    const SETTINGS: &[(&str, &str)] = &[
        ("core.fsmonitor", "false"),
        ("core.hooksPath", "/dev/null"),
        ("core.pager", "cat"),
        ("core.editor", "false"),
        ("core.sshCommand", "false"),
        // `git diff` would write the index.
        ("diff.autoRefreshIndex", "false"),
        ("interactive.diffFilter", "cat"),
        ("log.showSignature", "false"),
        ("gpg.program", "false"),
        ("gpg.openpgp.program", "false"),
        ("gpg.x509.program", "false"),
        ("gpg.ssh.program", "false"),
        // A folder that looks like a bare repository does not count as one.
        ("safe.bareRepository", "explicit"),
        ("status.submoduleSummary", "false"),
        ("submodule.recurse", "false"),
    ];
    let mut variables = Variables::from([
        ("GIT_CONFIG_COUNT".to_owned(), SETTINGS.len().to_string()),
        // No incidental writes, no fetches.
        ("GIT_OPTIONAL_LOCKS".to_owned(), "0".to_owned()),
        ("GIT_NO_LAZY_FETCH".to_owned(), "1".to_owned()),
        ("GIT_ALLOW_PROTOCOL".to_owned(), "none".to_owned()),
        ("GIT_TERMINAL_PROMPT".to_owned(), "0".to_owned()),
    ]);
    for (at, (name, value)) in SETTINGS.iter().enumerate() {
        variables.insert(format!("GIT_CONFIG_KEY_{at}"), (*name).to_owned());
        variables.insert(format!("GIT_CONFIG_VALUE_{at}"), (*value).to_owned());
    }
    variables
}

/// The `PATH` of commands if none is set.
pub const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Returns `path` without relative entries and entries inside `folder`, because files that the session may write must
/// not replace tools.
pub fn trusted_path(path: &str, folder: &Path) -> String {
    let folder = octo_workspace::resolve_links(folder).unwrap_or_else(|_| folder.to_owned());
    let trusted: Vec<PathBuf> = std::env::split_paths(path)
        .filter(|entry| entry.is_absolute())
        .filter(|entry| octo_workspace::resolve_links(entry).is_ok_and(|entry| !is_inside(&folder, &entry)))
        .collect();
    let joined = std::env::join_paths(trusted).unwrap_or_default().to_string_lossy().into_owned();
    if joined.is_empty() { DEFAULT_PATH.to_owned() } else { joined }
}
