//! A home folder for one test.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    time::SystemTime,
};
use tempfile::TempDir;

/// A home folder, an Octo home and a work folder of one test. Dropping it removes them and fails the test if
/// anything was written to the real home's `.octo` meanwhile.
#[derive(Debug)]
pub struct TempHome {
    folder: TempDir,
    real_home: Option<PathBuf>,
    before: BTreeMap<PathBuf, FileTrace>,
}

#[derive(Debug, PartialEq)]
struct FileTrace {
    size: u64,
    changed: Option<SystemTime>,
}

impl Default for TempHome {
    fn default() -> Self {
        Self::new()
    }
}

impl TempHome {
    /// Creates fresh, empty folders.
    pub fn new() -> Self {
        Self::new_in(&crate::folder::base())
    }

    /// Creates fresh, empty folders below `folder`.
    pub fn new_in(folder: &Path) -> Self {
        let real_home =
            std::env::home_dir().filter(|home| !home.as_os_str().is_empty()).map(|home| home.join(".octo"));
        Self::watching(folder, real_home)
    }

    fn watching(folder: &Path, real_home: Option<PathBuf>) -> Self {
        let folder =
            tempfile::Builder::new().prefix("octo-test-").tempdir_in(folder).expect("a temporary folder");
        for name in ["home", "octo", "work"] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder of the temporary folder");
        }
        let before = real_home.as_deref().map(traces).unwrap_or_default();
        Self { folder, real_home, before }
    }

    /// Returns the value of `HOME`.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Returns the value of `OCTO_HOME`.
    pub fn octo(&self) -> PathBuf {
        self.folder.path().join("octo")
    }

    /// Returns the folder that contains the temporary folders of sessions: outside the home, so that paths of sockets
    /// in them are short. See `octo_workspace::TemporaryFolders`.
    pub fn temporary(&self) -> PathBuf {
        let home = self.octo().canonicalize().unwrap_or_else(|_| self.octo());
        let hash = blake3::hash(home.as_os_str().as_encoded_bytes()).to_hex();
        std::env::temp_dir().join(format!("octo-{}", hash.get(..8).expect("a long hash")))
    }

    /// Returns the work folder.
    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Returns the environment that confines a child process to these folders.
    pub fn env(&self) -> Vec<(OsString, OsString)> {
        let home = self.home();
        [
            ("HOME", home.clone()),
            ("OCTO_HOME", self.octo()),
            ("XDG_CONFIG_HOME", home.join(".config")),
            ("XDG_DATA_HOME", home.join(".local/share")),
            ("XDG_STATE_HOME", home.join(".local/state")),
            ("XDG_CACHE_HOME", home.join(".cache")),
        ]
        .into_iter()
        .map(|(name, value)| (name.into(), value.into_os_string()))
        .collect()
    }

    /// Writes a file below the work folder and creates its parent folders.
    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).expect("the folders above the file");
        }
        std::fs::write(&path, content).expect("a file in the folder to work in");
        path
    }

    /// Reads a file below the work folder.
    pub fn read(&self, path: impl AsRef<Path>) -> String {
        let path = self.work().join(path);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

impl Drop for TempHome {
    fn drop(&mut self) {
        // Usually there is none.
        let _ = std::fs::remove_dir_all(self.temporary());
        let Some(real_home) = &self.real_home else { return };
        let after = traces(real_home);
        if after == self.before || std::thread::panicking() {
            return;
        }
        let touched: Vec<&PathBuf> = after
            .iter()
            .filter(|(path, trace)| self.before.get(*path) != Some(trace))
            .map(|(path, _)| path)
            .chain(self.before.keys().filter(|path| !after.contains_key(*path)))
            .collect();
        panic!("the real home changed during a test (is another Octo running?): {touched:?}");
    }
}

/// Returns every file below a folder with a trace that reveals changes; empty if the folder does not exist.
fn traces(folder: &Path) -> BTreeMap<PathBuf, FileTrace> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let Ok(data) = entry.metadata() else { continue };
            if data.is_dir() {
                folders.push(entry.path());
            }
            let size = if data.is_dir() { 0 } else { data.len() };
            found.insert(entry.path(), FileTrace { size, changed: data.modified().ok() });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_to_the_real_home_fails_the_test() {
        let pretended = tempfile::tempdir().unwrap();
        let real_home = pretended.path().join(".octo");
        drop(TempHome::watching(&std::env::temp_dir(), Some(real_home.clone())));

        let home = TempHome::watching(&std::env::temp_dir(), Some(real_home.clone()));
        std::fs::create_dir_all(&real_home).unwrap();
        std::fs::write(real_home.join("octo.db"), "x").unwrap();
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(home)));
        let message = *failed.unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains("octo.db"), "{message}");

        // Files that existed before do not matter.
        drop(TempHome::watching(&std::env::temp_dir(), Some(real_home)));
    }

    #[test]
    fn the_environment_points_into_the_home() {
        let home = TempHome::new();
        let root = home.folder.path().to_path_buf();
        assert!(home.env().iter().all(|(_, value)| Path::new(value).starts_with(&root)));
        home.write("a/b.txt", "hello");
        assert_eq!(home.read("a/b.txt"), "hello");
        drop(home);
        assert!(!root.exists());
    }
}
