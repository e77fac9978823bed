//! The plan for the next start: a file next to the usual home.

use super::{HomeLocation, HomePlanError, PENDING, sibling_path, tree, write_sibling};
use octo_protocol::Millis;
use serde::{Deserialize, Serialize};
use std::{
    fmt::Display,
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

/// The plan for a home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingHomePlan {
    /// The time the person requested it.
    pub at: Millis,
    /// The home's path at that time.
    pub home: PathBuf,
    /// The planned change.
    pub plan: HomeChange,
}

/// The change of a home at the next start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum HomeChange {
    /// A copy replaces the home.
    Restore {
        /// The copy the person chose.
        from: PathBuf,
        /// The complete home made from it, next to the home.
        staged: PathBuf,
        /// The path to which the present home is renamed.
        aside: PathBuf,
    },
    /// The home moves into another folder.
    Move {
        /// The target folder.
        to: PathBuf,
        /// A mark that distinguishes this plan's files from others in the folder.
        mark: String,
    },
}

impl PendingHomePlan {
    pub(super) fn path(usual: &Path) -> PathBuf {
        sibling_path(usual, PENDING)
    }

    /// Returns the plan for a home, or `None` if no plan exists.
    ///
    /// # Errors
    ///
    /// [`HomePlanError::Unreadable`].
    pub fn read(location: &HomeLocation) -> Result<Option<Self>, HomePlanError> {
        read(&Self::path(&location.default_home))
    }

    pub(super) fn write(&self, usual: &Path) -> io::Result<()> {
        write_sibling(&Self::path(usual), self)
    }

    pub(super) fn remove(usual: &Path) -> io::Result<()> {
        tree::remove_file_if_there(&Self::path(usual))
    }

    /// Returns the plan, locked by this process: another process waits and then finds it carried out. Returns
    /// `None` if no plan exists.
    pub(super) fn lock(usual: &Path) -> Result<Option<(Self, File)>, HomePlanError> {
        let path = Self::path(usual);
        loop {
            let file = match File::open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(unreadable(&path, &error)),
            };
            match file.lock() {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
                Err(error) => return Err(unreadable(&path, &error)),
            }
            // While this process waited, the plan may have been carried out, or another one made.
            if is_same(&file, &path) {
                // Through the same file: some systems keep other handles from reading a locked file.
                let mut bytes = Vec::new();
                (&file).read_to_end(&mut bytes).map_err(|error| unreadable(&path, &error))?;
                return Ok(Some((parse(&path, &bytes)?, file)));
            }
        }
    }
}

fn read(path: &Path) -> Result<Option<PendingHomePlan>, HomePlanError> {
    match fs::read(path) {
        Ok(bytes) => parse(path, &bytes).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn parse(path: &Path, bytes: &[u8]) -> Result<PendingHomePlan, HomePlanError> {
    serde_json::from_slice(bytes).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, detail: &dyn Display) -> HomePlanError {
    HomePlanError::Unreadable { path: path.to_owned(), detail: detail.to_string() }
}

#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let ids = |meta: io::Result<fs::Metadata>| meta.map(|meta| (meta.dev(), meta.ino())).ok();
    ids(file.metadata()) == ids(fs::metadata(path))
}

/// Always true: an open file cannot be replaced on these systems.
#[cfg(not(unix))]
fn is_same(_file: &File, path: &Path) -> bool {
    path.exists()
}
