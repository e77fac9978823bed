//! Folders that are kept open while their content changes.
//!
//! A restore writes to paths that were recorded long ago. A parent folder may be a link by now, planted or not,
//! and must not be followed. On Unix every folder is opened name by name, each relative to the one before and
//! none through a link, and all operations are relative to the open folder: a link that replaces a folder at
//! any moment makes the step fail, and cannot redirect it. On other systems the path is checked before every
//! step, which leaves a short window in between.

#[cfg(not(unix))]
mod portable;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use portable::Folder;
#[cfg(unix)]
pub(crate) use unix::Folder;

use std::{
    ffi::OsStr,
    fs::{File, Metadata},
    io,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

/// The metadata that shows whether a path changed since it was last checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub(crate) struct PathStamp {
    pub(crate) len: u64,
    /// Nanoseconds since the Unix epoch.
    pub(crate) modified: i64,
    /// The last change of content or attributes; unlike `modified` it cannot be set back.
    pub(crate) changed: i64,
    pub(crate) inode: u64,
    /// Kind and permissions.
    pub(crate) mode: u32,
}

impl PathStamp {
    #[cfg(unix)]
    pub(crate) fn of(meta: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let nanoseconds =
            |seconds: i64, fraction: i64| seconds.saturating_mul(1_000_000_000).saturating_add(fraction);
        Self {
            len: meta.len(),
            modified: nanoseconds(meta.mtime(), meta.mtime_nsec()),
            changed: nanoseconds(meta.ctime(), meta.ctime_nsec()),
            inode: meta.ino(),
            mode: meta.mode(),
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn of(meta: &Metadata) -> Self {
        let time = |time: io::Result<std::time::SystemTime>| time.map_or(0, nanoseconds);
        Self {
            len: meta.len(),
            modified: time(meta.modified()),
            changed: time(meta.created()),
            inode: 0,
            mode: u32::from(meta.permissions().readonly()),
        }
    }

    /// Returns the permission bits; 0 if the system has none.
    pub(crate) fn permissions(&self) -> u32 {
        if cfg!(unix) { self.mode & 0o7777 } else { 0 }
    }
}

/// Returns nanoseconds since the Unix epoch; earlier times count as the epoch.
pub(crate) fn nanoseconds(time: std::time::SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|elapsed| i64::try_from(elapsed.as_nanos()).ok())
        .unwrap_or(0)
}

/// The object under a name.
#[derive(Debug)]
pub(crate) enum DiskEntry {
    Absent,
    /// An ordinary file, opened for reading.
    File(File, PathStamp),
    /// An ordinary file that this account may not read.
    Unreadable(PathStamp),
    Link(PathBuf, PathStamp),
    Folder(PathStamp),
    /// A device, a pipe or a socket.
    Special(PathStamp),
}

impl DiskEntry {
    pub(crate) fn stamp(&self) -> Option<PathStamp> {
        match self {
            Self::Absent => None,
            Self::File(_, stamp)
            | Self::Unreadable(stamp)
            | Self::Link(_, stamp)
            | Self::Folder(stamp)
            | Self::Special(stamp) => Some(*stamp),
        }
    }
}

/// Splits a path into its folder and its name there.
pub(crate) fn parent_and_name(path: &Path) -> io::Result<(&Path, &OsStr)> {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => Ok((folder, name)),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// Opens the folders of paths, and keeps the last one open, because consecutive paths often share it.
#[derive(Default)]
pub(crate) struct FolderCache(Option<(PathBuf, Folder)>);

impl FolderCache {
    /// Returns the folder that contains `path`, and the name of `path` in it.
    pub(crate) fn parent_of<'a>(&mut self, path: &'a Path) -> io::Result<(&Folder, &'a OsStr)> {
        let (parent, name) = parent_and_name(path)?;
        if self.0.as_ref().is_none_or(|(open, _)| open != parent) {
            self.0 = None;
        }
        let open = match self.0.take() {
            Some(open) => open,
            None => (parent.to_owned(), Folder::open(parent)?),
        };
        Ok((&self.0.insert(open).1, name))
    }

    /// Forgets the open folder: the path may lead to another one by now.
    pub(crate) fn forget(&mut self) {
        self.0 = None;
    }

    /// Returns the object at `path`. A path below a link, a file or a missing folder counts as absent.
    pub(crate) fn read_entry(&mut self, path: &Path) -> io::Result<DiskEntry> {
        match self.parent_of(path) {
            Ok((folder, name)) => folder.read_entry(name),
            Err(error) if is_missing_parent(&error) => Ok(DiskEntry::Absent),
            Err(error) => Err(error),
        }
    }
}

/// Whether the error means that the parent folder does not exist.
pub(crate) fn is_missing_parent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) || is_loop(error)
}

#[cfg(unix)]
fn is_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(nix::errno::Errno::ELOOP as i32)
}

#[cfg(not(unix))]
fn is_loop(_: &io::Error) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests;
