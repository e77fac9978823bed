//! Where the home is, once it was moved: a file beside the usual place.

use super::{POINTER, ResidenceError, beside, tree, write_beside};
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Where the home is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pointer {
    /// There.
    pub(super) home: PathBuf,
    /// Where it was before, the newest last.
    pub(super) former: Vec<PathBuf>,
}

impl Pointer {
    /// The file, for a usual home.
    pub(super) fn place(usual: &Path) -> PathBuf {
        beside(usual, POINTER)
    }

    /// What it says; none where the home was never moved.
    ///
    /// # Errors
    /// [`ResidenceError::Unreadable`]: nobody knows then where the home is, and a new one would hide it.
    pub(super) fn read(usual: &Path) -> Result<Option<Self>, ResidenceError> {
        let path = Self::place(usual);
        let unreadable = |detail: String| ResidenceError::Unreadable { path: path.clone(), detail };
        match fs::read(&path) {
            Ok(bytes) => {
                let pointer: Self =
                    serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()))?;
                if !pointer.home.is_absolute() {
                    return Err(unreadable("the path is not absolute".to_owned()));
                }
                Ok(Some(pointer))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unreadable(error.to_string())),
        }
    }

    pub(super) fn write(&self, usual: &Path) -> io::Result<()> {
        write_beside(&Self::place(usual), self)
    }

    pub(super) fn remove(usual: &Path) -> io::Result<()> {
        tree::remove_file_if_there(&Self::place(usual))
    }
}
