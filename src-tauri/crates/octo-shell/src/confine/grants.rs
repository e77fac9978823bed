//! Which paths a [`Confinement`] comes to, by a look at the disk.

use super::Confinement;
use octo_workspace::is_secret;
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Devices that are there to be written, and the terminals.
#[cfg(any(target_os = "linux", test))]
const DEVICES: &[&str] = &[
    "/dev/full",
    "/dev/null",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/random",
    "/dev/tty",
    "/dev/urandom",
    "/dev/zero",
];
/// Folders of a home that hold applications' data, secrets among them: looked into.
const DATA: &[&str] = &[".config", ".local", ".var", "Library", "snap"];
/// How deep below the home secrets are looked for: `.local/share/keyrings`.
const DEPTH: usize = 3;

/// What is granted. Folders stand for everything below them.
#[cfg(any(target_os = "linux", test))]
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Grants {
    pub(super) write: BTreeSet<PathBuf>,
    pub(super) enter: BTreeSet<PathBuf>,
    pub(super) read: BTreeSet<PathBuf>,
    pub(super) devices: BTreeSet<PathBuf>,
}

impl Confinement {
    #[cfg(any(target_os = "linux", test))]
    pub(super) fn grants(&self) -> Grants {
        let mut grants = Grants {
            write: self.writable.iter().cloned().collect(),
            enter: self.entered.iter().cloned().collect(),
            read: self.secrets.iter().chain(&self.octo_readable).cloned().collect(),
            devices: DEVICES.iter().map(PathBuf::from).collect(),
        };
        grants.write.extend(self.caches());
        self.read_below(Path::new("/"), &mut grants.read);
        grants
    }

    /// What must not be read of the home: its secrets, as far as they are looked for.
    #[cfg(any(target_os = "macos", test))]
    pub(super) fn hidden(&self) -> BTreeSet<PathBuf> {
        let mut hidden = BTreeSet::new();
        if let Some(home) = &self.home {
            self.hidden_below(home, DEPTH, &mut hidden);
        }
        hidden
    }

    #[cfg(any(target_os = "macos", test))]
    fn hidden_below(&self, folder: &Path, depth: usize, hidden: &mut BTreeSet<PathBuf>) {
        for entry in entries(folder) {
            if is_secret(&entry) {
                hidden.insert(entry);
            } else if depth > 1 && entry.is_dir() && is_looked_into(&entry) {
                self.hidden_below(&entry, depth - 1, hidden);
            }
        }
    }

    /// Grants what is in a folder, one by one on the way to a home.
    #[cfg(any(target_os = "linux", test))]
    fn read_below(&self, folder: &Path, read: &mut BTreeSet<PathBuf>) {
        for entry in entries(folder) {
            if self.home.as_deref() == Some(entry.as_path()) {
                self.read_home(&entry, DEPTH, read);
            } else if entry == self.octo {
                // Only what is named of it.
            } else if self.leads_to_a_home(&entry) {
                self.read_below(&entry, read);
            } else {
                read.insert(entry);
            }
        }
    }

    #[cfg(any(target_os = "linux", test))]
    fn leads_to_a_home(&self, path: &Path) -> bool {
        self.home.iter().chain([&self.octo]).any(|home| home.starts_with(path))
    }

    #[cfg(any(target_os = "linux", test))]
    fn read_home(&self, folder: &Path, depth: usize, read: &mut BTreeSet<PathBuf>) {
        for entry in entries(folder) {
            if is_secret(&entry) || entry == self.octo {
                continue;
            }
            if depth > 1 && entry.is_dir() && (self.octo.starts_with(&entry) || is_looked_into(&entry)) {
                self.read_home(&entry, depth - 1, read);
            } else {
                read.insert(entry);
            }
        }
    }
}

/// Whether a folder of a home holds secrets among other things. Only hidden folders and those of applications' data
/// are looked at: what a person calls a project is theirs to open as a whole.
fn is_looked_into(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    if DATA.contains(&name.as_ref()) {
        return true;
    }
    let in_data = folder.components().any(|part| DATA.iter().any(|data| part.as_os_str() == *data));
    (name.starts_with('.') || in_data) && entries(folder).any(|entry| is_secret(&entry))
}

/// The entries of a folder that are no links: where a link leads is granted by its own name, or not.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()))
        .map(|entry| entry.path())
}
