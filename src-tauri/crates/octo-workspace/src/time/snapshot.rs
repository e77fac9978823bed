//! Snapshots of a folder: its entries, with all stored content.
//!
//! The first snapshot reads every file. Later ones check every file, or, if the folder is watched (see
//! [`super::watch`]), only the reported ones; they read files whose length, times, inode or permissions
//! changed, and files that changed so shortly before the snapshot that a later change within the same clock
//! tick would be invisible. Snapshots share unchanged folders, so comparing two of them is nearly free.
//!
//! A path that was never checked (left out by its kind, or over a limit) never counts as absent: unknown
//! content is not undone.

mod diff;
mod exclusions;
mod file;
mod list;
mod update;
mod walk;

pub(crate) use diff::{SnapshotDifference, diff};
pub(crate) use exclusions::reason_to_leave_out;
pub(crate) use file::SnapshotFile;
pub(crate) use walk::ChangedItems;

use super::{
    TimeLimits,
    bytes::{bytes_of, path_of},
    content::{ContentMode, image_of},
    folder::{DiskEntry, FolderCache, PathStamp, nanoseconds},
    git::GitRepository,
    watch::{FolderWatch, ReportedChanges},
};
use crate::{BlobError, Blobs, FlushTiming};
use octo_protocol::{BlobHash, FileImage, UnsavedReason};
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::SystemTime,
};

/// A path below the folder, in the system's own bytes; empty for the folder itself. Snapshots share it.
pub(crate) type RelativePath = Arc<[u8]>;

/// The content of a folder at one moment.
#[derive(Clone, Debug)]
pub(crate) struct FolderSnapshot {
    pub(crate) folder: PathBuf,
    /// The data folder of the repository that [`ItemContent::Git`] refers to.
    pub(crate) repository: Option<PathBuf>,
    /// The content of every folder that was entered. A missing folder is unknown.
    pub(crate) folders: HashMap<RelativePath, Arc<Vec<SnapshotItem>>>,
    /// Folders that could not be read.
    pub(crate) unknown: HashMap<RelativePath, UnsavedReason>,
}

/// One name in a folder. Items are sorted by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SnapshotItem {
    pub(crate) name: Box<[u8]>,
    pub(crate) stamp: PathStamp,
    pub(crate) content: ItemContent,
    /// Whether it changed so shortly before it was read that it must be read again.
    pub(crate) racy: bool,
}

/// The stored content of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ItemContent {
    /// A blob with its bytes.
    Blob([u8; 32]),
    /// The hash of its bytes, which are an object of the folder's repository. Copied to a blob as soon as they
    /// are recorded for a step.
    Git([u8; 32], [u8; 20]),
    Link(Box<[u8]>),
    Folder,
    /// Content that is not stored, or a folder that is not entered.
    Unsaved(UnsavedReason),
}

/// The context a snapshot needs in addition to the folder.
pub(crate) struct SnapshotContext<'a> {
    pub(crate) blobs: &'a Blobs,
    pub(crate) limits: TimeLimits,
    /// Octo's own home, which snapshots never include.
    pub(crate) home: &'a Path,
}

/// The number of files a thread takes at once to read.
const BATCH_FILES: usize = 64;

/// Returns the number of threads that check and read. More do not help a disk.
fn threads() -> usize {
    thread::available_parallelism().map_or(1, |count| count.get().min(8))
}

impl FolderSnapshot {
    /// Checks everything in the folder, again or for the first time. All new content is stored when this
    /// returns.
    pub(crate) fn full(
        folder: &Path,
        previous: Option<&Self>,
        context: &SnapshotContext<'_>,
        watch: Option<&FolderWatch>,
    ) -> Result<Self, BlobError> {
        let walked = walk::walk(folder, previous, context, watch)?;
        Self::of(folder, walked, previous, context)
    }

    /// Checks only the reported changes since this snapshot; returns `None` if that is not enough.
    pub(crate) fn update(
        &self,
        changes: &ReportedChanges,
        context: &SnapshotContext<'_>,
        watch: &FolderWatch,
    ) -> Result<Option<Self>, BlobError> {
        let Some(walked) = update::update_snapshot(self, changes, context, watch) else { return Ok(None) };
        Self::of(&self.folder, walked, Some(self), context).map(Some)
    }

    fn of(
        folder: &Path,
        walked: walk::WalkResult,
        previous: Option<&Self>,
        context: &SnapshotContext<'_>,
    ) -> Result<Self, BlobError> {
        let mut picture = Self {
            folder: folder.to_owned(),
            repository: previous.and_then(|previous| previous.repository.clone()),
            folders: walked.folders,
            unknown: walked.unknown,
        };
        if !walked.found.is_empty() {
            picture.read(walked.found, previous, context)?;
        }
        Ok(picture)
    }

    /// Reads new and changed files, small ones first, within the size limit.
    fn read(
        &mut self,
        found: Vec<ChangedItems>,
        previous: Option<&Self>,
        camera: &SnapshotContext<'_>,
    ) -> Result<(), BlobError> {
        let mut work: Vec<(usize, usize, u64)> = Vec::new();
        for (folder, found) in found.iter().enumerate() {
            let files = found.unread_items.iter();
            work.extend(
                files.map(|item| (folder, *item, found.items.get(*item).map_or(0, |item| item.stamp.len))),
            );
        }
        work.sort_unstable_by_key(|(folder, item, len)| (*len, *folder, *item));
        let mut room =
            camera.limits.max_snapshot_bytes.saturating_sub(self.kept_bytes() + kept_bytes(&found));
        let mut last_with_room = None;
        for file in &work {
            let (folder, item, len) = *file;
            if len > camera.limits.max_file_bytes {
                break; // Told by its length when it is looked at, as are those after it.
            }
            let Some(remaining) = room.checked_sub(len) else { break };
            room = remaining;
            last_with_room = Some((len, folder, item));
        }
        // Sorted, because files of one folder then share the open folder.
        work.sort_unstable();
        // Only a first snapshot has enough content to make the search in a repository worthwhile.
        let repository = if previous.is_none() { GitRepository::find(&self.folder) } else { None };
        if let Some(repository) = &repository {
            self.repository = Some(repository.data().to_owned());
        }
        let reader = ItemReader { folder: &self.folder, context: camera, repository: repository.as_ref() };
        let next_index = AtomicUsize::new(0);
        let read_items: Mutex<Vec<(usize, usize, SnapshotItem)>> = Mutex::new(Vec::with_capacity(work.len()));
        let failed: Mutex<Option<BlobError>> = Mutex::new(None);
        thread::scope(|scope| {
            for _ in 0..threads().min(work.len()) {
                scope.spawn(|| {
                    let mut batch = Vec::new();
                    let mut folders = FolderCache::default();
                    while failed.lock().is_none() {
                        let start = next_index.fetch_add(BATCH_FILES, Ordering::Relaxed);
                        let Some(part) = work.get(start..(start + BATCH_FILES).min(work.len())) else {
                            break;
                        };
                        if part.is_empty() {
                            break;
                        }
                        for (folder, number, len) in part.iter().copied() {
                            let Some(found) = found.get(folder) else { continue };
                            let Some(item) = found.items.get(number) else { continue };
                            let has_room = Some((len, folder, number)) <= last_with_room;
                            let room = if has_room { SpaceState::Left } else { SpaceState::None };
                            match reader.read_item(&mut folders, &found.path, item, room) {
                                Ok(Some(item)) => batch.push((folder, number, item)),
                                Ok(None) => batch.push((folder, usize::MAX, item.clone())),
                                Err(error) => {
                                    *failed.lock() = Some(error);
                                    break;
                                }
                            }
                        }
                    }
                    read_items.lock().append(&mut batch);
                });
            }
        });
        if let Some(error) = failed.lock().take() {
            return Err(error);
        }
        camera.blobs.flush()?;
        let mut items: Vec<(RelativePath, Vec<SnapshotItem>)> =
            found.into_iter().map(|found| (found.path, found.items)).collect();
        let mut vanished: Vec<(usize, Box<[u8]>)> = Vec::new();
        for (folder, number, item) in read_items.into_inner() {
            let Some((_, items)) = items.get_mut(folder) else { continue };
            match items.get_mut(number) {
                Some(slot) => *slot = item,
                None => vanished.push((folder, item.name)),
            }
        }
        for (folder, name) in vanished {
            if let Some((_, items)) = items.get_mut(folder) {
                items.retain(|item| item.name != name);
            }
        }
        self.folders.extend(items.into_iter().map(|(path, items)| (path, Arc::new(items))));
        Ok(())
    }

    /// Returns the total bytes of all stored content.
    fn kept_bytes(&self) -> u64 {
        self.folders.values().flat_map(|items| items.iter()).map(SnapshotItem::kept_bytes).sum()
    }

    /// Returns the entries left out, by path.
    pub(crate) fn omitted_paths(&self) -> Vec<(PathBuf, UnsavedReason)> {
        let mut out: Vec<(PathBuf, UnsavedReason)> =
            self.unknown.iter().map(|(path, reason)| (self.path(path), *reason)).collect();
        for (folder, items) in &self.folders {
            for item in items.iter() {
                if let ItemContent::Unsaved(reason) = item.content {
                    out.push((self.path(&join(folder, &item.name)), reason));
                }
            }
        }
        out.sort_by(|a, b| a.0.cmp(&b.0));
        out.dedup_by(|a, b| a.0 == b.0);
        out
    }

    /// Returns the blobs the snapshot refers to.
    pub(crate) fn blobs(&self) -> impl Iterator<Item = BlobHash> {
        self.folders.values().flat_map(|items| items.iter()).filter_map(SnapshotItem::blob)
    }

    pub(crate) fn path(&self, relative: &[u8]) -> PathBuf {
        walk::path_in(&self.folder, relative)
    }

    /// Returns the state of a path below the folder if it is unchanged since the snapshot.
    pub(crate) fn image_if_unchanged(&self, path: &Path, stamp: PathStamp) -> Option<FileImage> {
        let parent = path.parent()?.strip_prefix(&self.folder).ok()?;
        let name = bytes_of(Path::new(path.file_name()?));
        let items = self.folders.get(bytes_of(parent).as_slice())?;
        let found = items.binary_search_by(|item| (*item.name).cmp(&name)).ok()?;
        let item = items.get(found).filter(|item| !item.racy && item.stamp == stamp)?;
        match item.content {
            ItemContent::Blob(hash) => Some(image(item, name_of(hash))),
            _ => None,
        }
    }
}

fn kept_bytes(found: &[ChangedItems]) -> u64 {
    found.iter().flat_map(|found| &found.items).map(SnapshotItem::kept_bytes).sum()
}

impl SnapshotItem {
    /// Returns the blob with its content.
    pub(crate) fn blob(&self) -> Option<BlobHash> {
        match self.content {
            ItemContent::Blob(hash) => Some(name_of(hash)),
            _ => None,
        }
    }

    fn kept_bytes(&self) -> u64 {
        match self.content {
            ItemContent::Blob(_) | ItemContent::Git(..) => self.stamp.len,
            ItemContent::Link(_) | ItemContent::Folder | ItemContent::Unsaved(_) => 0,
        }
    }
}

pub(crate) fn name_of(hash: [u8; 32]) -> BlobHash {
    BlobHash(blake3::Hash::from(hash).to_hex().to_string())
}

/// Returns the hash in a blob's name.
pub(crate) fn hash_of(name: &BlobHash) -> Option<[u8; 32]> {
    blake3::Hash::from_hex(&name.0).ok().map(Into::into)
}

pub(crate) fn image(item: &SnapshotItem, blob: BlobHash) -> FileImage {
    FileImage::File { blob, len: item.stamp.len, mode: item.stamp.permissions() }
}

/// Returns the path of a name in a folder.
pub(crate) fn join(folder: &[u8], name: &[u8]) -> RelativePath {
    if folder.is_empty() {
        return name.into();
    }
    let separator = bytes_of(Path::new(std::path::MAIN_SEPARATOR_STR));
    [folder, separator.as_slice(), name].concat().into()
}

/// Whether a path is `ancestor` or below it.
pub(crate) fn is_at_or_below(path: &[u8], ancestor: &[u8]) -> bool {
    let separator = bytes_of(Path::new(std::path::MAIN_SEPARATOR_STR));
    let suffix = path.strip_prefix(ancestor);
    suffix.is_some_and(|suffix| suffix.is_empty() || ancestor.is_empty() || suffix.starts_with(&separator))
}

/// Whether a file with these times may have changed after it was read at `read_at`, within the same clock tick.
/// File systems use kernel ticks (10 ms at most), old ones seconds.
fn is_racy(stamp: &PathStamp, read_at: i64) -> bool {
    const CLOCK_TICK: i64 = 20_000_000;
    const COARSE_TICK: i64 = 2_000_000_000;
    let newest = stamp.modified.max(stamp.changed);
    let tick = if stamp.modified % 1_000_000_000 == 0 && stamp.changed % 1_000_000_000 == 0 {
        COARSE_TICK
    } else {
        CLOCK_TICK
    };
    newest > read_at.saturating_sub(tick)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SpaceState {
    Left,
    None,
}

struct ItemReader<'a> {
    folder: &'a Path,
    context: &'a SnapshotContext<'a>,
    repository: Option<&'a GitRepository>,
}

impl ItemReader<'_> {
    /// Returns the item with its content stored, or `None` if it is gone.
    fn read_item(
        &self,
        folders: &mut FolderCache,
        folder: &[u8],
        item: &SnapshotItem,
        room: SpaceState,
    ) -> Result<Option<SnapshotItem>, BlobError> {
        let path = walk::path_in(self.folder, folder).join(path_of(&item.name));
        let read_at = nanoseconds(SystemTime::now());
        let entry = match folders.read_entry(&path) {
            Ok(DiskEntry::Absent) => return Ok(None),
            Ok(entry) => entry,
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return Ok(Some(SnapshotItem {
                    content: ItemContent::Unsaved(UnsavedReason::Unreadable),
                    ..item.clone()
                }));
            }
            Err(error) => return Err(error.into()),
        };
        let Some(stamp) = entry.stamp() else { return Ok(None) };
        let with_content = |content| {
            Some(SnapshotItem { name: item.name.clone(), stamp, content, racy: is_racy(&stamp, read_at) })
        };
        let mut entry = match entry {
            DiskEntry::Link(target, _) => {
                return Ok(with_content(ItemContent::Link(bytes_of(&target).into())));
            }
            DiskEntry::File(_, stamp)
                if room == SpaceState::None && stamp.len <= self.context.limits.max_file_bytes =>
            {
                return Ok(with_content(ItemContent::Unsaved(UnsavedReason::Budget)));
            }
            // A folder replaced a file: the next snapshot enters it.
            DiskEntry::Folder(_) => return Ok(None),
            entry => entry,
        };
        if let (Some(repository), DiskEntry::File(file, stamp)) = (self.repository, &mut entry)
            && stamp.len <= self.context.limits.max_file_bytes
            && let Some((hash, object)) = repository.stored_object(&path, file, stamp.len)
        {
            return Ok(with_content(ItemContent::Git(hash, object)));
        }
        let mode = ContentMode::Content(self.context.blobs, FlushTiming::Deferred);
        match image_of(entry, self.context.limits.max_file_bytes, mode) {
            Ok(FileImage::File { blob, .. }) => {
                Ok(hash_of(&blob).and_then(|hash| with_content(ItemContent::Blob(hash))))
            }
            Ok(FileImage::Unsaved { why: reason, .. }) => Ok(with_content(ItemContent::Unsaved(reason))),
            Ok(_) => Ok(None),
            // It keeps changing: the next snapshot reads it again.
            Err(BlobError::Changed) => Ok(with_content(ItemContent::Unsaved(UnsavedReason::Unreadable))
                .map(|item| SnapshotItem { racy: true, ..item })),
            Err(error) => Err(error),
        }
    }
}

#[cfg(all(test, unix))]
mod tests;
