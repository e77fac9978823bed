//! Start-up files of shells. A shell runs them unconfined in the person's next terminal, so a line in one of them is a
//! command that runs without approval. The login shell from which Octo takes variables is confined.

mod login;

pub use login::login_startup_files;

use crate::{context::LineContext, environment::Variables};
use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// Paths below the person's home, in addition to those of [`login_startup_files`]. A folder includes
/// everything below it.
const PERSON_FILES: &[&str] = &[
    ".bash_aliases",
    ".bash_logout",
    ".config/fish",
    ".config/nushell",
    ".config/powershell",
    ".config/zsh",
    ".cshrc",
    ".inputrc",
    ".kshrc",
    ".login",
    ".logout",
    ".mkshrc",
    ".pam_environment",
    ".shrc",
    ".tcshrc",
    ".xonshrc",
    ".xprofile",
    ".xsessionrc",
    ".yashrc",
    ".zlogout",
    "Documents/PowerShell",
    "Documents/WindowsPowerShell",
    "Library/Application Support/nushell",
];

/// Paths of the machine, in addition to those of [`login_startup_files`].
const MACHINE_FILES: &[&str] = &[
    "/etc/csh.cshrc",
    "/etc/csh.login",
    "/etc/fish",
    "/etc/inputrc",
    "/etc/zlogin",
    "/etc/zsh",
    "/etc/zshrc",
];

/// Variables that name start-up files or, like `ZDOTDIR`, their folder.
const STARTUP_VARIABLES: &[&str] = &["ZDOTDIR", "BASH_ENV", "ENV"];

/// The start-up files of the person's shells and of the machine, and the folders of their programs, looked up on the
/// disk once.
#[derive(Clone, Debug, Default)]
pub struct StartupFiles {
    /// The values of [`STARTUP_VARIABLES`], per environment.
    variables: Vec<Variables>,
    /// The start-up files, with links resolved.
    files: OnceLock<Vec<PathBuf>>,
    /// The values of `PATH`, per environment.
    paths: Vec<String>,
    /// The folders in `PATH`, with links resolved.
    folders: OnceLock<Vec<PathBuf>>,
}

impl StartupFiles {
    /// Returns the start-up files of a person whose shells may have any of these environments. A login shell's answer
    /// alone does not say which files it reads: a start-up file may have changed the variables.
    pub fn new(environments: &[&Variables]) -> Self {
        let named = |variables: &&Variables| -> Variables {
            let named = variables.iter().filter(|(name, _)| STARTUP_VARIABLES.contains(&name.as_str()));
            named.map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        Self {
            variables: environments.iter().map(named).collect(),
            files: OnceLock::new(),
            paths: environments.iter().filter_map(|variables| variables.get("PATH").cloned()).collect(),
            folders: OnceLock::new(),
        }
    }

    /// Returns whether a real path lies in a folder in which the person's shells look for programs.
    pub(crate) fn is_on_path(&self, path: &Path) -> bool {
        let folders = self.folders.get_or_init(|| {
            let entries =
                self.paths.iter().flat_map(std::env::split_paths).filter(|entry| entry.is_absolute());
            entries.map(|entry| octo_workspace::resolve_links(&entry).unwrap_or(entry)).collect()
        });
        folders.iter().any(|folder| is_below(folder, path))
    }

    /// Returns whether creating, changing or removing a real path changes the commands a shell runs at its
    /// start.
    pub(crate) fn include(&self, path: &Path, context: &LineContext) -> bool {
        self.files.get_or_init(|| self.all_files(context)).iter().any(|file| {
            // Replacing a folder above the file replaces the file too; a new file in that folder does not.
            is_below(file, path) || (is_below(path, file) && !path.is_dir())
        })
    }

    /// Returns the real paths of all start-up files, including files elsewhere that the home links to.
    fn all_files(&self, context: &LineContext) -> Vec<PathBuf> {
        let home = context.home.as_deref();
        let listed = home.into_iter().flat_map(|home| PERSON_FILES.iter().map(|name| home.join(name)));
        let mut files: Vec<PathBuf> = login_startup_files(home, None)
            .chain(self.variables.iter().flat_map(|variables| variable_files(variables, home)))
            .chain(listed)
            .chain(MACHINE_FILES.iter().map(PathBuf::from))
            .map(|file| octo_workspace::resolve_links(&file).unwrap_or(file))
            .collect();
        files.sort();
        files.dedup();
        files
    }
}

/// Returns the start-up files of login shells, and the files the variables name.
fn variable_files(variables: &Variables, home: Option<&Path>) -> Vec<PathBuf> {
    let named = |name: &str| expanded(variables.get(name)?, home);
    let zsh = named("ZDOTDIR");
    let sourced = ["BASH_ENV", "ENV"].into_iter().filter_map(named);
    login_startup_files(home, zsh.as_deref()).chain(sourced).collect()
}

/// Returns the absolute path in a variable's value, with the home expanded; `None` if it is relative.
fn expanded(value: &str, home: Option<&Path>) -> Option<PathBuf> {
    let below_home = ["~/", "$HOME/", "${HOME}/"].iter().find_map(|start| value.strip_prefix(start));
    let path = match below_home {
        Some(rest) => home?.join(rest),
        None => PathBuf::from(value),
    };
    path.is_absolute().then_some(path)
}

/// Returns whether a path equals another one or lies below it. Ignores case, as many file systems do.
fn is_below(above: &Path, path: &Path) -> bool {
    let mut parts = path.components();
    above.components().all(|part| {
        parts.next().is_some_and(|other| OsStr::eq_ignore_ascii_case(part.as_os_str(), other.as_os_str()))
    })
}

#[cfg(test)]
mod tests;
