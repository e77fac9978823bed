//! A name in an open folder: wherever its path leads later, the folder stays the same one.

use std::{
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
};

/// A name in an open folder.
pub(super) struct DirSlot {
    #[cfg(unix)]
    parent: std::os::fd::OwnedFd,
    /// Returns the folder's real path.
    folder: PathBuf,
    name: OsString,
}

/// The object at a spot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DirSlotObject {
    pub kind: DirSlotKind,
    /// The file system it is on.
    pub device: u64,
    pub inode: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DirSlotKind {
    File,
    Folder,
    Link,
    /// A pipe or socket.
    #[cfg(unix)]
    Special,
    Device,
}

impl DirSlot {
    /// Opens the spot a path names. The folder must exist; the name need not.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        Self::in_folder(parent, &name)
    }

    /// Returns the real path.
    pub(super) fn path(&self) -> PathBuf {
        self.folder.join(&self.name)
    }

    /// The folder's real path.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns another name in the same folder.
    pub(super) fn sibling(&self, name: &OsStr) -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            parent: self.parent.try_clone()?,
            folder: self.folder.clone(),
            name: name.to_owned(),
        })
    }
}

#[cfg(unix)]
impl DirSlot {
    pub(super) fn in_folder(folder: &Path, name: &OsStr) -> io::Result<Self> {
        use rustix::fs::{Mode, OFlags};
        use std::os::unix::fs::MetadataExt;
        let resolved = folder.canonicalize()?;
        #[cfg(target_os = "linux")]
        let access = OFlags::PATH;
        #[cfg(not(target_os = "linux"))]
        let access = OFlags::RDONLY;
        let flags = access | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let parent = rustix::fs::open(&resolved, flags, Mode::empty())?;
        // Between the two checks a parent folder may have been swapped for a link.
        let (opened, by_name) = (rustix::fs::fstat(&parent)?, fs::symlink_metadata(&resolved)?);
        let is_same = device(opened.st_dev) == Some(by_name.dev())
            && opened.st_ino == by_name.ino()
            && resolved.canonicalize()? == resolved;
        if !is_same {
            return Err(io::Error::other("the folder changed while it was looked at"));
        }
        Ok(Self { parent, folder: resolved, name: name.to_owned() })
    }

    /// Returns the object here, without following links.
    pub(super) fn read_object(&self) -> io::Result<DirSlotObject> {
        use rustix::fs::{AtFlags, FileType};
        let stat = rustix::fs::statat(&self.parent, self.name.as_os_str(), AtFlags::SYMLINK_NOFOLLOW)?;
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => DirSlotKind::File,
            FileType::Directory => DirSlotKind::Folder,
            FileType::Symlink => DirSlotKind::Link,
            FileType::Fifo | FileType::Socket => DirSlotKind::Special,
            FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => DirSlotKind::Device,
        };
        Ok(DirSlotObject { kind, device: device(stat.st_dev).unwrap_or_default(), inode: stat.st_ino })
    }

    /// Moves the object to an unused path of Octo's own.
    pub(super) fn move_to(&self, target: &Path) -> io::Result<()> {
        move_fresh(&self.parent, &self.name, rustix::fs::CWD, target.as_os_str())
    }

    /// Moves one of Octo's own items here, to an unused name.
    pub(super) fn move_here(&self, source: &Path) -> io::Result<()> {
        move_fresh(rustix::fs::CWD, source.as_os_str(), &self.parent, &self.name)
    }

    /// Renames the object to an unused name in the same folder.
    pub(super) fn rename(&self, other: &Self) -> io::Result<()> {
        move_fresh(&self.parent, &self.name, &other.parent, &other.name)
    }
}

/// Returns the number of a device, whose width and sign differ between systems. `None` if it is negative.
#[cfg(unix)]
fn device(number: impl TryInto<u64>) -> Option<u64> {
    number.try_into().ok()
}

/// Renames without ever replacing an existing path.
#[cfg(unix)]
fn move_fresh(
    source_folder: impl std::os::fd::AsFd,
    old_name: &OsStr,
    target_folder: impl std::os::fd::AsFd,
    new_name: &OsStr,
) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        use rustix::{fs::RenameFlags, io::Errno};
        match rustix::fs::renameat_with(
            &source_folder,
            old_name,
            &target_folder,
            new_name,
            RenameFlags::NOREPLACE,
        ) {
            // The file system does not support the flag.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            result => return Ok(result?),
        }
    }
    match rustix::fs::statat(&target_folder, new_name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(rustix::io::Errno::NOENT) => {
            Ok(rustix::fs::renameat(&source_folder, old_name, &target_folder, new_name)?)
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
impl DirSlot {
    pub(super) fn in_folder(folder: &Path, name: &OsStr) -> io::Result<Self> {
        Ok(Self { folder: folder.canonicalize()?, name: name.to_owned() })
    }

    /// Returns the object here, without following links.
    pub(super) fn read_object(&self) -> io::Result<DirSlotObject> {
        let meta = fs::symlink_metadata(self.path())?;
        let kind = if meta.is_symlink() {
            DirSlotKind::Link
        } else if meta.is_dir() {
            DirSlotKind::Folder
        } else {
            DirSlotKind::File
        };
        Ok(DirSlotObject { kind, device: 0, inode: 0 })
    }

    /// Moves the object to an unused path of Octo's own.
    pub(super) fn move_to(&self, target: &Path) -> io::Result<()> {
        move_fresh(&self.path(), target)
    }

    /// Moves one of Octo's own items here, to an unused name.
    pub(super) fn move_here(&self, source: &Path) -> io::Result<()> {
        move_fresh(source, &self.path())
    }

    /// Renames the object to an unused name in the same folder.
    pub(super) fn rename(&self, other: &Self) -> io::Result<()> {
        move_fresh(&self.path(), &other.path())
    }
}

#[cfg(not(unix))]
fn move_fresh(source: &Path, target: &Path) -> io::Result<()> {
    if super::exists(target) {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(source, target)
}

impl DirSlotKind {
    /// Returns the guard's kind: folder or other.
    pub(super) fn guarded_kind(self) -> super::guard::GuardedKind {
        match self {
            Self::Folder => super::guard::GuardedKind::Folder,
            Self::File | Self::Link | Self::Device => super::guard::GuardedKind::Other,
            #[cfg(unix)]
            Self::Special => super::guard::GuardedKind::Other,
        }
    }
}
