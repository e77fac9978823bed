//! Pictures of a folder: what is in it, with the content of everything kept.
//!
//! The first picture reads every file. Later ones look at every file, or, where the folder is watched (see
//! [`super::watch`]), at those that were seen to change; and read those whose length, times, inode or
//! permissions changed, and those that changed so shortly before the picture that a later change within the
//! same tick of the clock could not be seen. Folders that did not change are shared between pictures, so
//! comparing two of them costs nearly nothing.
//!
//! A path that was never looked at (left out by its kind, or beyond a limit) never counts as absent: what is
//! not known is not undone.

mod again;
mod diff;
mod file;
mod leave_out;
mod list;
mod walk;

pub(crate) use diff::{Difference, diff};
pub(crate) use file::Shelf;
pub(crate) use leave_out::leave_out;
pub(crate) use walk::Found;

use super::{
    Limits,
    bytes::{bytes_of, path_of},
    folder::{Entry, Folders, Stamp, nanoseconds},
    git::Repository,
    keep::{Keep, image_of},
    watch::{Seen, Watch},
};
use crate::{BlobError, Blobs, Flush};
use octo_protocol::{BlobHash, FileImage, Unsaved};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::SystemTime,
};

/// A path below the folder, in the system's own bytes; empty for the folder itself.
/// Pictures share it.
pub(crate) type Relative = Arc<[u8]>;

/// What was in a folder at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    pub(crate) folder: PathBuf,
    /// The data of the repository that [`Kept::Git`] refers to.
    pub(crate) repository: Option<PathBuf>,
    /// What was in every folder that was looked into. A folder that is missing here is not known.
    pub(crate) folders: HashMap<Relative, Arc<Vec<Item>>>,
    /// Folders that could not be looked into.
    pub(crate) unknown: HashMap<Relative, Unsaved>,
}

/// One name of a folder. Sorted by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) name: Box<[u8]>,
    pub(crate) stamp: Stamp,
    pub(crate) kept: Kept,
    /// It changed so shortly before it was read that it has to be read again.
    pub(crate) racy: bool,
}

/// What is known of an item's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Its bytes are a blob.
    Blob([u8; 32]),
    /// Its bytes have this hash, and are an object of the repository the folder belongs to. Copied to a blob
    /// as soon as they are recorded for a task.
    Git([u8; 32], [u8; 20]),
    Link(Box<[u8]>),
    Folder,
    /// Not kept, or a folder that is not looked into.
    Not(Unsaved),
}

/// What a picture needs beside the folder.
pub(crate) struct Camera<'a> {
    pub(crate) blobs: &'a Blobs,
    pub(crate) limits: Limits,
    /// Octo's own home, which is never part of a picture.
    pub(crate) home: &'a Path,
}

/// Files a thread takes to read at once.
const AT_ONCE: usize = 64;

/// Threads that look and read. More do not help a disk.
fn threads() -> usize {
    thread::available_parallelism().map_or(1, |count| count.get().min(8))
}

impl Picture {
    /// Looks at everything in the folder, again or for the first time. Everything that is new is kept when this
    /// returns.
    pub(crate) fn take(
        folder: &Path,
        last: Option<&Self>,
        camera: &Camera<'_>,
        watch: Option<&Watch>,
    ) -> Result<Self, BlobError> {
        let walked = walk::walk(folder, last, camera, watch)?;
        Self::of(folder, walked, last, camera)
    }

    /// Looks at what was seen to change since this picture; none where that is not enough.
    pub(crate) fn again(
        &self,
        seen: &Seen,
        camera: &Camera<'_>,
        watch: &Watch,
    ) -> Result<Option<Self>, BlobError> {
        let Some(walked) = again::again(self, seen, camera, watch) else { return Ok(None) };
        Self::of(&self.folder, walked, Some(self), camera).map(Some)
    }

    fn of(
        folder: &Path,
        walked: walk::Walked,
        last: Option<&Self>,
        camera: &Camera<'_>,
    ) -> Result<Self, BlobError> {
        let mut picture = Self {
            folder: folder.to_owned(),
            repository: last.and_then(|last| last.repository.clone()),
            folders: walked.folders,
            unknown: walked.unknown,
        };
        if !walked.found.is_empty() {
            picture.read(walked.found, last, camera)?;
        }
        Ok(picture)
    }

    /// Reads what is new or changed, the small before the large, as far as there is room.
    fn read(&mut self, found: Vec<Found>, last: Option<&Self>, camera: &Camera<'_>) -> Result<(), BlobError> {
        let mut work: Vec<(usize, usize, u64)> = Vec::new();
        for (folder, found) in found.iter().enumerate() {
            let files = found.unread.iter();
            work.extend(
                files.map(|item| (folder, *item, found.items.get(*item).map_or(0, |item| item.stamp.len))),
            );
        }
        work.sort_unstable_by_key(|(folder, item, len)| (*len, *folder, *item));
        let mut room = camera.limits.picture.saturating_sub(self.kept_bytes() + kept_bytes(&found));
        let mut last_with_room = None;
        for file in &work {
            let (folder, item, len) = *file;
            if len > camera.limits.largest {
                break; // Told by its length when it is looked at, as are those after it.
            }
            let Some(rest) = room.checked_sub(len) else { break };
            room = rest;
            last_with_room = Some((len, folder, item));
        }
        // Neighbours are read after each other, since their folder is open then.
        work.sort_unstable();
        // Only a first picture has so much to keep that looking for it elsewhere pays.
        let repository = if last.is_none() { Repository::find(&self.folder) } else { None };
        if let Some(repository) = &repository {
            self.repository = Some(repository.data().to_owned());
        }
        let reader = Reader { folder: &self.folder, camera, repository: repository.as_ref() };
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<(usize, usize, Item)>> = Mutex::new(Vec::with_capacity(work.len()));
        let failed: Mutex<Option<BlobError>> = Mutex::new(None);
        thread::scope(|scope| {
            for _ in 0..threads().min(work.len()) {
                scope.spawn(|| {
                    let mut mine = Vec::new();
                    let mut folders = Folders::default();
                    while super::lock(&failed).is_none() {
                        let from = next.fetch_add(AT_ONCE, Ordering::Relaxed);
                        let Some(part) = work.get(from..(from + AT_ONCE).min(work.len())) else { break };
                        if part.is_empty() {
                            break;
                        }
                        for (folder, number, len) in part.iter().copied() {
                            let Some(found) = found.get(folder) else { continue };
                            let Some(item) = found.items.get(number) else { continue };
                            let has_room = Some((len, folder, number)) <= last_with_room;
                            let room = if has_room { Room::Left } else { Room::None };
                            match reader.read(&mut folders, &found.path, item, room) {
                                Ok(Some(item)) => mine.push((folder, number, item)),
                                Ok(None) => mine.push((folder, usize::MAX, item.clone())),
                                Err(error) => {
                                    *super::lock(&failed) = Some(error);
                                    break;
                                }
                            }
                        }
                    }
                    super::lock(&done).append(&mut mine);
                });
            }
        });
        if let Some(error) = super::lock(&failed).take() {
            return Err(error);
        }
        camera.blobs.flush()?;
        let mut items: Vec<(Relative, Vec<Item>)> =
            found.into_iter().map(|found| (found.path, found.items)).collect();
        let mut vanished: Vec<(usize, Box<[u8]>)> = Vec::new();
        for (folder, number, item) in done.into_inner().unwrap_or_default() {
            let Some((_, items)) = items.get_mut(folder) else { continue };
            match items.get_mut(number) {
                Some(place) => *place = item,
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

    /// Bytes of all kept content.
    fn kept_bytes(&self) -> u64 {
        self.folders.values().flat_map(|items| items.iter()).map(Item::kept_bytes).sum()
    }

    /// What is left out, by path.
    pub(crate) fn left_out(&self) -> Vec<(PathBuf, Unsaved)> {
        let mut out: Vec<(PathBuf, Unsaved)> =
            self.unknown.iter().map(|(path, why)| (self.path(path), *why)).collect();
        for (folder, items) in &self.folders {
            for item in items.iter() {
                if let Kept::Not(why) = item.kept {
                    out.push((self.path(&join(folder, &item.name)), why));
                }
            }
        }
        out.sort_by(|one, other| one.0.cmp(&other.0));
        out.dedup_by(|one, other| one.0 == other.0);
        out
    }

    /// The blobs the picture holds on to.
    pub(crate) fn blobs(&self) -> impl Iterator<Item = BlobHash> {
        self.folders.values().flat_map(|items| items.iter()).filter_map(Item::blob)
    }

    pub(crate) fn path(&self, relative: &[u8]) -> PathBuf {
        walk::path_in(&self.folder, relative)
    }

    /// What a path below the folder is like, when it was not changed since the picture.
    pub(crate) fn known(&self, path: &Path, stamp: Stamp) -> Option<FileImage> {
        let parent = path.parent()?.strip_prefix(&self.folder).ok()?;
        let name = bytes_of(Path::new(path.file_name()?));
        let items = self.folders.get(bytes_of(parent).as_slice())?;
        let found = items.binary_search_by(|item| (*item.name).cmp(&name)).ok()?;
        let item = items.get(found).filter(|item| !item.racy && item.stamp == stamp)?;
        match item.kept {
            Kept::Blob(hash) => Some(image(item, name_of(hash))),
            _ => None,
        }
    }
}

fn kept_bytes(found: &[Found]) -> u64 {
    found.iter().flat_map(|found| &found.items).map(Item::kept_bytes).sum()
}

impl Item {
    /// The blob that holds its content.
    pub(crate) fn blob(&self) -> Option<BlobHash> {
        match self.kept {
            Kept::Blob(hash) => Some(name_of(hash)),
            _ => None,
        }
    }

    fn kept_bytes(&self) -> u64 {
        match self.kept {
            Kept::Blob(_) | Kept::Git(..) => self.stamp.len,
            Kept::Link(_) | Kept::Folder | Kept::Not(_) => 0,
        }
    }
}

pub(crate) fn name_of(hash: [u8; 32]) -> BlobHash {
    BlobHash(blake3::Hash::from(hash).to_hex().to_string())
}

/// The hash of a blob's name.
pub(crate) fn hash_of(name: &BlobHash) -> Option<[u8; 32]> {
    blake3::Hash::from_hex(&name.0).ok().map(Into::into)
}

pub(crate) fn image(item: &Item, blob: BlobHash) -> FileImage {
    FileImage::File { blob, len: item.stamp.len, mode: item.stamp.permissions() }
}

/// The path of a name in a folder.
pub(crate) fn join(folder: &[u8], name: &[u8]) -> Relative {
    if folder.is_empty() {
        return name.into();
    }
    let separator = bytes_of(Path::new(std::path::MAIN_SEPARATOR_STR));
    [folder, separator.as_slice(), name].concat().into()
}

/// Whether a path below the folder is another one, or below that.
pub(crate) fn is_at_or_below(path: &[u8], above: &[u8]) -> bool {
    let separator = bytes_of(Path::new(std::path::MAIN_SEPARATOR_STR));
    let rest = path.strip_prefix(above);
    rest.is_some_and(|rest| rest.is_empty() || above.is_empty() || rest.starts_with(&separator))
}

/// Whether a file that carries these times may have changed at the same tick of the clock after it was read,
/// at `read_at`. File systems count in ticks of the kernel (10 ms at most), old ones in seconds.
fn is_racy(stamp: &Stamp, read_at: i64) -> bool {
    const TICK: i64 = 20_000_000;
    const COARSE: i64 = 2_000_000_000;
    let newest = stamp.modified.max(stamp.changed);
    let tick =
        if stamp.modified % 1_000_000_000 == 0 && stamp.changed % 1_000_000_000 == 0 { COARSE } else { TICK };
    newest > read_at.saturating_sub(tick)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Room {
    Left,
    None,
}

struct Reader<'a> {
    folder: &'a Path,
    camera: &'a Camera<'a>,
    repository: Option<&'a Repository>,
}

impl Reader<'_> {
    /// The item with its content kept; none when it is gone.
    fn read(
        &self,
        folders: &mut Folders,
        folder: &[u8],
        item: &Item,
        room: Room,
    ) -> Result<Option<Item>, BlobError> {
        let path = walk::path_in(self.folder, folder).join(path_of(&item.name));
        let read_at = nanoseconds(SystemTime::now());
        let entry = match folders.look(&path) {
            Ok(Entry::Absent) => return Ok(None),
            Ok(entry) => entry,
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return Ok(Some(Item { kept: Kept::Not(Unsaved::Unreadable), ..item.clone() }));
            }
            Err(error) => return Err(error.into()),
        };
        let Some(stamp) = entry.stamp() else { return Ok(None) };
        let with = |kept| Some(Item { name: item.name.clone(), stamp, kept, racy: is_racy(&stamp, read_at) });
        let mut entry = match entry {
            Entry::Link(target, _) => return Ok(with(Kept::Link(bytes_of(&target).into()))),
            Entry::File(_, stamp) if room == Room::None && stamp.len <= self.camera.limits.largest => {
                return Ok(with(Kept::Not(Unsaved::Budget)));
            }
            // A folder where a file was: the next picture looks into it.
            Entry::Folder(_) => return Ok(None),
            entry => entry,
        };
        if let (Some(repository), Entry::File(file, stamp)) = (self.repository, &mut entry)
            && stamp.len <= self.camera.limits.largest
            && let Some((hash, object)) = repository.holds(&path, file, stamp.len)
        {
            return Ok(with(Kept::Git(hash, object)));
        }
        let keep = Keep::Content(self.camera.blobs, Flush::Later);
        match image_of(entry, self.camera.limits.largest, keep) {
            Ok(FileImage::File { blob, .. }) => Ok(hash_of(&blob).and_then(|hash| with(Kept::Blob(hash)))),
            Ok(FileImage::Unsaved { why, .. }) => Ok(with(Kept::Not(why))),
            Ok(_) => Ok(None),
            // It does not stop changing: read again at the next picture.
            Err(BlobError::Changed) => {
                Ok(with(Kept::Not(Unsaved::Unreadable)).map(|item| Item { racy: true, ..item }))
            }
            Err(error) => Err(error),
        }
    }
}

#[cfg(all(test, unix))]
mod tests;
