//! What the next start is to do: a file beside the usual home.

use super::{PENDING, Residence, ResidenceError, beside, tree, write_beside};
use octo_protocol::Millis;
use serde::{Deserialize, Serialize};
use std::{
    fmt::Display,
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

/// What is planned for a home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    /// When the person asked for it.
    pub at: Millis,
    /// The home as of then.
    pub home: PathBuf,
    /// What becomes of it.
    pub plan: Plan,
}

/// What becomes of a home at the next start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Plan {
    /// A copy takes its place.
    Restore {
        /// The copy the person chose.
        from: PathBuf,
        /// What was made of it, whole, beside the home.
        staged: PathBuf,
        /// Where the home is put.
        aside: PathBuf,
    },
    /// It goes into another folder.
    Move {
        /// That folder.
        to: PathBuf,
        /// Told apart from whatever else may lie there.
        mark: String,
    },
}

impl Planned {
    pub(super) fn place(usual: &Path) -> PathBuf {
        beside(usual, PENDING)
    }

    /// What is planned for a home; none where nothing is.
    ///
    /// # Errors
    /// [`ResidenceError::Unreadable`].
    pub fn read(residence: &Residence) -> Result<Option<Self>, ResidenceError> {
        read(&Self::place(&residence.usual))
    }

    pub(super) fn write(&self, usual: &Path) -> io::Result<()> {
        write_beside(&Self::place(usual), self)
    }

    pub(super) fn remove(usual: &Path) -> io::Result<()> {
        tree::remove_file_if_there(&Self::place(usual))
    }

    /// The plan, held by this process alone: whoever else is to carry it out waits, and finds it done. Nothing where
    /// there is none.
    pub(super) fn hold(usual: &Path) -> Result<Option<(Self, File)>, ResidenceError> {
        let path = Self::place(usual);
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
            // While this waited the plan may have been carried out, or another one made.
            if is_same(&file, &path) {
                // Through the same file: some systems keep everybody else from reading what is locked.
                let mut bytes = Vec::new();
                (&file).read_to_end(&mut bytes).map_err(|error| unreadable(&path, &error))?;
                return Ok(Some((parse(&path, &bytes)?, file)));
            }
        }
    }
}

fn read(path: &Path) -> Result<Option<Planned>, ResidenceError> {
    match fs::read(path) {
        Ok(bytes) => parse(path, &bytes).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Planned, ResidenceError> {
    serde_json::from_slice(bytes).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, detail: &dyn Display) -> ResidenceError {
    ResidenceError::Unreadable { path: path.to_owned(), detail: detail.to_string() }
}

#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let ids = |meta: io::Result<fs::Metadata>| meta.map(|meta| (meta.dev(), meta.ino())).ok();
    ids(file.metadata()) == ids(fs::metadata(path))
}

/// A file that is open is not replaced there.
#[cfg(not(unix))]
fn is_same(_file: &File, path: &Path) -> bool {
    path.exists()
}
