//! The location of a moved home: a file next to the usual path.

use super::{HomePlanError, POINTER, sibling_path, tree, write_sibling};
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The content of the pointer file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HomePointer {
    /// The home's path.
    pub(super) home: PathBuf,
    /// Its former locations, the newest last.
    pub(super) former: Vec<PathBuf>,
}

impl HomePointer {
    /// Returns the file's path for a usual home.
    pub(super) fn path(usual: &Path) -> PathBuf {
        sibling_path(usual, POINTER)
    }

    /// Reads the pointer; `None` if the home was never moved.
    ///
    /// # Errors
    ///
    /// [`HomePlanError::Unreadable`]: the home's location is unknown then, and a new home would hide it.
    pub(super) fn read(usual: &Path) -> Result<Option<Self>, HomePlanError> {
        let path = Self::path(usual);
        let unreadable = |detail: String| HomePlanError::Unreadable { path: path.clone(), detail };
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
        write_sibling(&Self::path(usual), self)
    }

    pub(super) fn remove(usual: &Path) -> io::Result<()> {
        tree::remove_file_if_there(&Self::path(usual))
    }
}
