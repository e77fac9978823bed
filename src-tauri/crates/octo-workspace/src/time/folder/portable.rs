//! Folders identified by their paths, checked before every step.

use super::{DiskEntry, PathStamp};
use crate::paths;
use std::{
    ffi::{OsStr, OsString},
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

/// A folder at a real path.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Opens the folder at an absolute path that contains no links.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let folder = Self(path.to_owned());
        folder.check()?;
        Ok(folder)
    }

    fn check(&self) -> io::Result<()> {
        let resolved = paths::resolve_links(&self.0).map_err(io::Error::other)?;
        if resolved != self.0 || !fs::symlink_metadata(&resolved)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(())
    }

    fn at(&self, name: &OsStr) -> io::Result<PathBuf> {
        self.check()?;
        Ok(self.0.join(name))
    }

    /// Returns the object under the name; opens an ordinary file.
    pub(crate) fn read_entry(&self, name: &OsStr) -> io::Result<DiskEntry> {
        let path = self.at(name)?;
        let meta = match fs::symlink_metadata(&path) {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(DiskEntry::Absent),
            Err(error) => return Err(error),
        };
        let stamp = PathStamp::of(&meta);
        if meta.is_symlink() {
            return Ok(DiskEntry::Link(fs::read_link(&path)?, stamp));
        }
        if meta.is_dir() {
            return Ok(DiskEntry::Folder(stamp));
        }
        if !meta.is_file() {
            return Ok(DiskEntry::Special(stamp));
        }
        match File::open(&path) {
            Ok(file) => Ok(DiskEntry::File(file, stamp)),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(DiskEntry::Unreadable(stamp)),
            Err(error) => Err(error),
        }
    }

    /// Returns the stamp of a name, or `None` if it does not exist.
    pub(crate) fn stamp(&self, name: &OsStr) -> io::Result<Option<PathStamp>> {
        match fs::symlink_metadata(self.at(name)?) {
            Ok(meta) => Ok(Some(PathStamp::of(&meta))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Creates a file under an unused name.
    pub(crate) fn create(&self, name: &OsStr, _mode: u32) -> io::Result<File> {
        File::options().read(true).write(true).create_new(true).open(self.at(name)?)
    }

    /// Creates a link under an unused name.
    #[cfg(windows)]
    pub(crate) fn link(&self, name: &OsStr, target: &Path) -> io::Result<()> {
        let path = self.at(name)?;
        if self.0.join(target).is_dir() {
            std::os::windows::fs::symlink_dir(target, path)
        } else {
            std::os::windows::fs::symlink_file(target, path)
        }
    }

    /// Creates a folder.
    pub(crate) fn make(&self, name: &OsStr) -> io::Result<()> {
        fs::create_dir(self.at(name)?)
    }

    /// Moves the name from this folder to a name in another, replacing a file or link.
    pub(crate) fn rename(&self, name: &OsStr, target: &Self, new_name: &OsStr) -> io::Result<()> {
        fs::rename(self.at(name)?, target.at(new_name)?)
    }

    /// Removes a file or link.
    pub(crate) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        let path = self.at(name)?;
        // On Windows, a link to a folder is removed like a folder.
        fs::remove_file(&path).or_else(|error| fs::remove_dir(&path).map_err(|_| error))
    }

    /// Removes an empty folder.
    pub(crate) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.at(name)?)
    }

    /// Does nothing: the system has no permission bits.
    pub(crate) fn set_mode(&self, _: &OsStr, _: u32) -> io::Result<()> {
        Ok(())
    }

    /// Returns the names in the folder called `name`.
    pub(crate) fn names(&self, name: &OsStr) -> io::Result<Vec<OsString>> {
        fs::read_dir(self.at(name)?)?.map(|entry| entry.map(|entry| entry.file_name())).collect()
    }

    /// Does nothing: folders need no flush here.
    pub(crate) fn sync(&self) {}
}
