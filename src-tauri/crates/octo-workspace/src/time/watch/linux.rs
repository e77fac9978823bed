//! Watches folders with `inotify`.

use super::{RecheckDepth, ReportedChanges};
use crate::time::snapshot::{RelativePath, is_at_or_below, join};
use parking_lot::Mutex;
use rustix::{
    fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags},
    io::Errno,
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs, io,
    mem::MaybeUninit,
    os::{fd::OwnedFd, unix::fs::MetadataExt},
    path::{Path, PathBuf},
};

/// The maximum number of files with several names that are checked every time. With more, everything is
/// checked.
const MAX_LINKED_FILES: usize = 4_096;

/// File systems that only this system writes to, by their magic numbers (`statfs(2)`): ext2 to ext4, Btrfs,
/// XFS, tmpfs, F2FS, overlayfs, ZFS, bcachefs, ramfs.
const LOCAL: [u32; 9] = [
    0x0000_ef53,
    0x9123_683e,
    0x5846_5342,
    0x0102_1994,
    0xf2f5_2010,
    0x794c_7630,
    0x2fc1_2fc1,
    0xca45_1a4e,
    0x8584_58f6,
];

impl ReportedChanges {
    fn add(&mut self, folder: RelativePath, name: Box<[u8]>, depth: RecheckDepth) {
        let current_depth = self.folders.entry(folder).or_default().entry(name).or_insert(depth);
        *current_depth = depth.max(*current_depth);
    }
}

/// Watches a folder and the entered folders below it.
#[derive(Debug)]
pub(crate) struct FolderWatch {
    inotify: OwnedFd,
    folder: PathBuf,
    /// The device and the inode of the folder.
    device_and_inode: (u64, u64),
    max_folders: usize,
    table: Mutex<WatchTable>,
}

#[derive(Debug, Default)]
struct WatchTable {
    /// Whether something was not watched, or events were lost.
    broken: bool,
    by_number: HashMap<i32, RelativePath>,
    by_path: BTreeMap<RelativePath, i32>,
    /// Files with several names.
    linked: BTreeSet<(RelativePath, Box<[u8]>)>,
}

impl FolderWatch {
    /// Creates a watch of at most `limit` folders; `None` if it would be unreliable. Watches nothing before
    /// [`FolderWatch::watch_folder`].
    pub(crate) fn new(folder: &Path, limit: usize) -> Option<Self> {
        let device_and_inode = device_and_inode_of(folder).ok()?;
        let kind = u32::try_from(rustix::fs::statfs(folder).ok()?.f_type).ok()?;
        if limit == 0 || !LOCAL.contains(&kind) {
            return None;
        }
        // All programs of the account share the limit: half is left to others.
        let allowed = fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").ok()?;
        let limit = limit.min(allowed.trim().parse::<usize>().ok()? / 2);
        let inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        Some(Self {
            inotify,
            folder: folder.to_owned(),
            device_and_inode,
            max_folders: limit,
            table: Mutex::default(),
        })
    }

    /// Watches a folder. Call it before the folder is read: later changes are reported.
    pub(crate) fn watch_folder(&self, relative: &RelativePath, path: &Path) {
        {
            let mut table = self.table.lock();
            if table.broken || table.by_path.contains_key(relative) {
                return;
            }
            if table.by_path.len() >= self.max_folders {
                table.give_up();
                return;
            }
        }
        let flags = WatchFlags::MODIFY
            | WatchFlags::ATTRIB
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW
            | WatchFlags::EXCL_UNLINK;
        let added = inotify::add_watch(&self.inotify, path, flags);
        let mut table = self.table.lock();
        match added {
            Ok(number) => match table.by_number.insert(number, relative.clone()) {
                // The same folder by another path, or a moved folder: one number cannot represent two paths.
                Some(other) if other != *relative => table.give_up(),
                _ => {
                    table.by_path.insert(relative.clone(), number);
                }
            },
            // The folder is gone or unreadable, and the walk reports that; its parent reports a replacement.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => {}
            Err(error) => {
                tracing::debug!(%error, "a folder cannot be watched");
                table.give_up();
            }
        }
    }

    /// Reports a file with this number of names.
    pub(crate) fn note_linked_file(&self, folder: &RelativePath, name: &[u8], names: u64) {
        if names > 1 {
            let mut table = self.table.lock();
            table.linked.insert((folder.clone(), name.into()));
            if table.linked.len() > MAX_LINKED_FILES {
                table.give_up();
            }
        }
    }

    /// Whether this is the folder's own device.
    pub(crate) fn is_on(&self, device: u64) -> bool {
        self.device_and_inode.0 == device
    }

    /// Notes that something cannot be watched: everything must be checked.
    pub(crate) fn give_up(&self) {
        self.table.lock().give_up();
    }

    /// Returns the changes since the last call; `None` if they are unknown.
    pub(crate) fn take_changes(&self) -> Option<ReportedChanges> {
        let mut table = self.table.lock();
        if table.broken || device_and_inode_of(&self.folder).ok()? != self.device_and_inode {
            return None;
        }
        let mut changes = ReportedChanges::default();
        if table.read(&self.inotify, &mut changes).is_none() {
            table.give_up();
            return None;
        }
        for (folder, names) in &changes.folders {
            for (name, _) in names.iter().filter(|(_, depth)| **depth == RecheckDepth::Below) {
                table.stop_watching(&self.inotify, &join(folder, name));
            }
        }
        for (folder, name) in &table.linked {
            changes.add(folder.clone(), name.clone(), RecheckDepth::Name);
        }
        Some(changes)
    }
}

impl WatchTable {
    fn give_up(&mut self) {
        *self = Self { broken: true, ..Self::default() };
    }

    /// Reads all pending events; `None` if some were lost.
    fn read(&mut self, inotify: &OwnedFd, changes: &mut ReportedChanges) -> Option<()> {
        let mut buffer = vec![MaybeUninit::uninit(); 1 << 16];
        let mut events = inotify::Reader::new(inotify, &mut buffer);
        loop {
            let event = match events.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => return Some(()),
                Err(Errno::INTR) => continue,
                Err(_) => return None,
            };
            let flags = event.events();
            if flags.intersects(ReadFlags::QUEUE_OVERFLOW | ReadFlags::UNMOUNT) {
                return None;
            }
            // An unknown number: its folder is read again, or is gone.
            let Some(folder) = self.by_number.get(&event.wd()).cloned() else { continue };
            if flags.contains(ReadFlags::IGNORED) {
                self.by_number.remove(&event.wd());
                if self.by_path.get(&folder) == Some(&event.wd()) {
                    self.by_path.remove(&folder);
                }
            } else if let Some(name) = event.file_name() {
                let moves =
                    ReadFlags::CREATE | ReadFlags::DELETE | ReadFlags::MOVED_FROM | ReadFlags::MOVED_TO;
                let moved_folder = flags.contains(ReadFlags::ISDIR) && flags.intersects(moves);
                let depth = if moved_folder { RecheckDepth::Below } else { RecheckDepth::Name };
                changes.add(folder, name.to_bytes().into(), depth);
            } else if folder.is_empty() && flags.intersects(ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF) {
                return None;
            }
        }
    }

    /// Stops watching a folder and everything below it: it is gone, or will be entered again.
    fn stop_watching(&mut self, inotify: &OwnedFd, path: &RelativePath) {
        let subfolders: Vec<(RelativePath, i32)> = self
            .by_path
            .range(path.clone()..)
            .take_while(|(other, _)| other.starts_with(path))
            .filter(|(other, _)| is_at_or_below(other, path))
            .map(|(other, number)| (other.clone(), *number))
            .collect();
        for (other, number) in subfolders {
            self.by_path.remove(&other);
            self.by_number.remove(&number);
            // The watch of a deleted folder is already gone.
            let _gone = inotify::remove_watch(inotify, number);
        }
        self.linked.retain(|(folder, _)| !is_at_or_below(folder, path));
    }
}

fn device_and_inode_of(folder: &Path) -> io::Result<(u64, u64)> {
    let meta = fs::symlink_metadata(folder)?;
    Ok((meta.dev(), meta.ino()))
}
