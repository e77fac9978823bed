//! Lists one folder, with the metadata that shows whether it changed.
//!
//! A folder that vanished since it was found counts as empty: counting it as unknown would hide its
//! replacement.

use crate::time::folder::PathStamp;
use octo_protocol::UnsavedReason;

/// The names of a folder, sorted. One buffer holds them: most folders are unchanged, and theirs are compared
/// and dropped.
#[derive(Default)]
pub(super) struct NameList {
    names: Vec<u8>,
    entries: Vec<NameEntry>,
}

/// One name.
#[derive(Clone, Copy)]
pub(super) struct NameEntry {
    start: usize,
    end: usize,
    pub(super) stamp: PathStamp,
    pub(super) is_folder: bool,
    /// The number of hard links of the file; 1 if the system does not say.
    pub(super) links: u64,
    /// The device it is on; 0 if the system does not say.
    pub(super) device: u64,
}

impl NameList {
    pub(super) fn entries(&self) -> &[NameEntry] {
        &self.entries
    }

    pub(super) fn name(&self, entry: &NameEntry) -> &[u8] {
        self.names.get(entry.start..entry.end).unwrap_or_default()
    }

    pub(super) fn has(&self, name: &[u8]) -> bool {
        self.entries.binary_search_by(|entry| self.name(entry).cmp(name)).is_ok()
    }

    fn add(&mut self, name: &[u8], facts: ObjectFacts) {
        let start = self.names.len();
        self.names.extend_from_slice(name);
        let ObjectFacts { stamp, is_folder, links, device } = facts;
        self.entries.push(NameEntry { start, end: self.names.len(), stamp, is_folder, links, device });
    }

    fn sorted(mut self) -> Self {
        let mut entries = std::mem::take(&mut self.entries);
        entries.sort_unstable_by(|a, b| self.name(a).cmp(self.name(b)));
        self.entries = entries;
        self
    }
}

/// The object under a name.
pub(super) struct ObjectFacts {
    pub(super) stamp: PathStamp,
    pub(super) is_folder: bool,
    pub(super) links: u64,
    pub(super) device: u64,
}

#[cfg(target_os = "linux")]
mod system {
    use super::{NameList, ObjectFacts, PathStamp, UnsavedReason};
    use rustix::{
        fd::{AsFd, OwnedFd},
        ffi::CStr,
        fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, Statx, StatxFlags, StatxTimestamp},
        io::Errno,
        path::Arg,
    };
    use std::path::Path;

    /// An open folder whose names are looked up one by one.
    pub(in super::super) struct OpenFolder(OwnedFd);

    impl OpenFolder {
        pub(in super::super) fn open(path: &Path) -> Option<Self> {
            Self::try_open(path).ok()
        }

        fn try_open(path: &Path) -> Result<Self, Errno> {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            rustix::fs::openat(CWD, path, flags, Mode::empty()).map(Self)
        }

        /// Returns the object under a name; `Ok(None)` if it does not exist.
        pub(in super::super) fn object_facts(&self, name: &[u8]) -> Result<Option<ObjectFacts>, ()> {
            match facts_of(&self.0, name) {
                Ok(facts) => Ok(Some(facts)),
                Err(Errno::NOENT) => Ok(None),
                Err(_) => Err(()),
            }
        }
    }

    pub(in super::super) fn list(path: &Path) -> Result<NameList, UnsavedReason> {
        let OpenFolder(folder) = match OpenFolder::try_open(path) {
            Ok(opened) => opened,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(NameList::default()),
            Err(_) => return Err(UnsavedReason::Unreadable),
        };
        let mut listing = NameList::default();
        let mut buffer = Vec::with_capacity(1 << 15);
        let mut names = RawDir::new(&folder, buffer.spare_capacity_mut());
        while let Some(entry) = names.next() {
            let entry = match entry {
                Ok(entry) => entry,
                // Still open, but deleted.
                Err(Errno::NOENT) => return Ok(NameList::default()),
                Err(_) => return Err(UnsavedReason::Unreadable),
            };
            let name: &CStr = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            match facts_of(&folder, name) {
                Ok(facts) => listing.add(name.to_bytes(), facts),
                // Gone since the listing.
                Err(Errno::NOENT) => {}
                Err(_) => return Err(UnsavedReason::Unreadable),
            }
        }
        Ok(listing.sorted())
    }

    fn facts_of(folder: impl AsFd, name: impl Arg) -> Result<ObjectFacts, Errno> {
        let mask = StatxFlags::TYPE
            | StatxFlags::MODE
            | StatxFlags::SIZE
            | StatxFlags::MTIME
            | StatxFlags::CTIME
            | StatxFlags::INO
            | StatxFlags::NLINK;
        let stat: Statx = rustix::fs::statx(folder, name, AtFlags::SYMLINK_NOFOLLOW, mask)?;
        let time = |time: StatxTimestamp| {
            time.tv_sec.saturating_mul(1_000_000_000).saturating_add(i64::from(time.tv_nsec))
        };
        Ok(ObjectFacts {
            stamp: PathStamp {
                len: stat.stx_size,
                modified: time(stat.stx_mtime),
                changed: time(stat.stx_ctime),
                inode: stat.stx_ino,
                mode: u32::from(stat.stx_mode),
            },
            is_folder: FileType::from_raw_mode(u32::from(stat.stx_mode)) == FileType::Directory,
            links: u64::from(stat.stx_nlink),
            device: rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor),
        })
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{NameList, ObjectFacts, PathStamp, UnsavedReason};
    use crate::time::bytes::{bytes_of, path_of};
    use std::{
        fs, io,
        path::{Path, PathBuf},
    };

    /// A folder whose names are looked up one by one.
    pub(in super::super) struct OpenFolder(PathBuf);

    impl OpenFolder {
        pub(in super::super) fn open(path: &Path) -> Option<Self> {
            fs::symlink_metadata(path).ok()?.is_dir().then(|| Self(path.to_owned()))
        }

        /// Returns the object under a name; `Ok(None)` if it does not exist.
        pub(in super::super) fn object_facts(&self, name: &[u8]) -> Result<Option<ObjectFacts>, ()> {
            match fs::symlink_metadata(self.0.join(path_of(name))) {
                Ok(meta) => Ok(Some(facts_of(&meta))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(_) => Err(()),
            }
        }
    }

    pub(in super::super) fn list(path: &Path) -> Result<NameList, UnsavedReason> {
        let mut listing = NameList::default();
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(listing);
            }
            Err(_) => return Err(UnsavedReason::Unreadable),
        };
        for entry in entries {
            let entry = entry.map_err(|_| UnsavedReason::Unreadable)?;
            match entry.metadata() {
                Ok(meta) => listing.add(&bytes_of(Path::new(&entry.file_name())), facts_of(&meta)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(_) => return Err(UnsavedReason::Unreadable),
            }
        }
        Ok(listing.sorted())
    }

    fn facts_of(meta: &fs::Metadata) -> ObjectFacts {
        ObjectFacts { stamp: PathStamp::of(meta), is_folder: meta.is_dir(), links: 1, device: 0 }
    }
}

pub(super) use system::{OpenFolder, list};
