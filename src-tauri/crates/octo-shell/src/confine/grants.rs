//! Resolves a [`Confinement`] to paths on the disk.

use super::Confinement;
#[cfg(any(target_os = "linux", test))]
use octo_keeper::PathGrants;
use octo_workspace::FORMER_HOME_INFIX;
use octo_workspace::is_secret;
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Devices intended for writing, and the terminals.
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
/// Memory that programs share by names: the system offers them no other place. Nothing else is kept there.
#[cfg(any(target_os = "linux", test))]
const SHARED_MEMORY: &str = "/dev/shm";
/// Folders of a home with application data, which include secrets: searched.
const DATA_FOLDERS: &[&str] = &[".config", ".local", ".var", "Library", "snap"];
/// How deep below the home to search for secrets: `.local/share/keyrings`.
const SECRET_DEPTH: usize = 3;

impl Confinement {
    #[cfg(any(target_os = "linux", test))]
    pub(crate) fn grants(&self) -> PathGrants {
        let mut grants = PathGrants {
            write: self.outside_former_homes(&self.writable).cloned().collect(),
            enter: self.outside_former_homes(&self.enterable).cloned().collect(),
            read: self.outside_former_homes(&self.secrets).chain(&self.octo_readable).cloned().collect(),
            devices: DEVICES.iter().map(PathBuf::from).collect(),
        };
        grants.write.extend(self.caches());
        let shared_memory = Path::new(SHARED_MEMORY);
        if !self.leads_to_a_home(shared_memory) {
            grants.write.insert(shared_memory.to_owned());
        }
        self.read_below(Path::new("/"), &mut grants.read);
        grants
    }

    /// Returns the paths of the home that must not be read: its secrets, within the searched depth.
    #[cfg(any(target_os = "macos", test))]
    pub(super) fn hidden(&self) -> BTreeSet<PathBuf> {
        let mut hidden = BTreeSet::new();
        if let Some(home) = &self.home {
            self.hidden_below(home, SECRET_DEPTH, &mut hidden);
        }
        hidden
    }

    /// Returns Octo's homes: the present one, former locations, and former homes in the same folders.
    #[cfg(any(target_os = "macos", test))]
    pub(super) fn octo_homes(&self) -> BTreeSet<PathBuf> {
        let siblings = self.octo_paths().filter_map(|octo| octo.parent()).flat_map(entries);
        self.octo_paths().cloned().chain(siblings.filter(|entry| self.is_former_home(entry))).collect()
    }

    fn octo_paths(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.octo].into_iter().chain(&self.octo_others)
    }

    #[cfg(any(target_os = "linux", test))]
    fn is_octo_home(&self, path: &Path) -> bool {
        self.octo_paths().any(|octo| octo == path) || self.is_former_home(path)
    }

    /// Whether the path is a former home, by its name.
    fn is_former_home(&self, path: &Path) -> bool {
        let Some(name) = path.file_name().filter(|_| path != self.octo) else { return false };
        self.octo_paths().filter(|octo| octo.parent() == path.parent()).any(|octo| {
            let octo = octo.file_name().unwrap_or_default().to_string_lossy();
            name.to_string_lossy()
                .strip_prefix(&*octo)
                .is_some_and(|suffix| suffix.starts_with(FORMER_HOME_INFIX))
        })
    }

    /// Filters out paths inside former homes: nothing in those is ever granted.
    pub(super) fn outside_former_homes<'a>(
        &'a self,
        paths: &'a [PathBuf],
    ) -> impl Iterator<Item = &'a PathBuf> {
        paths.iter().filter(move |path| !path.ancestors().any(|ancestor| self.is_former_home(ancestor)))
    }

    #[cfg(any(target_os = "macos", test))]
    fn hidden_below(&self, folder: &Path, depth: usize, hidden: &mut BTreeSet<PathBuf>) {
        for entry in entries(folder) {
            if is_secret(&entry) {
                hidden.insert(entry);
            } else if depth > 1 && entry.is_dir() && may_contain_secrets(&entry) {
                self.hidden_below(&entry, depth - 1, hidden);
            }
        }
    }

    /// Grants the entries of a folder, one by one in folders that lead to a home.
    #[cfg(any(target_os = "linux", test))]
    fn read_below(&self, folder: &Path, read: &mut BTreeSet<PathBuf>) {
        for entry in entries(folder) {
            if self.home.as_deref() == Some(entry.as_path()) {
                self.read_home(&entry, SECRET_DEPTH, read);
            } else if self.is_octo_home(&entry) {
                // Only its named entries.
            } else if self.leads_to_a_home(&entry) {
                self.read_below(&entry, read);
            } else {
                read.insert(entry);
            }
        }
    }

    #[cfg(any(target_os = "linux", test))]
    fn leads_to_a_home(&self, path: &Path) -> bool {
        self.home.iter().any(|home| home.starts_with(path)) || self.leads_to_octo(path)
    }

    #[cfg(any(target_os = "linux", test))]
    fn leads_to_octo(&self, path: &Path) -> bool {
        self.octo_paths().any(|octo| octo.starts_with(path))
    }

    #[cfg(any(target_os = "linux", test))]
    fn read_home(&self, folder: &Path, depth: usize, read: &mut BTreeSet<PathBuf>) {
        for entry in entries(folder) {
            if is_secret(&entry) || self.is_octo_home(&entry) {
                continue;
            }
            let looked_into = depth > 1 && entry.is_dir() && may_contain_secrets(&entry);
            if looked_into || self.leads_to_octo(&entry) {
                self.read_home(&entry, depth.saturating_sub(1), read);
            } else {
                read.insert(entry);
            }
        }
    }
}

/// Whether a folder of a home may contain secrets among other files. Only hidden folders and those of
/// application data are searched: a person's own project may be granted as a whole.
fn may_contain_secrets(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    if DATA_FOLDERS.contains(&name.as_ref()) {
        return true;
    }
    let in_data = folder.components().any(|part| DATA_FOLDERS.iter().any(|data| part.as_os_str() == *data));
    (name.starts_with('.') || in_data) && entries(folder).any(|entry| is_secret(&entry))
}

/// Returns the entries of a folder that are not links: a link's target is granted by its own name, or not.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()))
        .map(|entry| entry.path())
}
