//! A snapshot stored as files of the home, which saves the first one after a start from reading everything
//! again.
//!
//! One file contains a whole snapshot, a second one the changes since: a few kilobytes after a command must not
//! cost writing megabytes. The second file is only ever appended to, each part with its own checksum; a part
//! truncated by a crash is ignored, and the older snapshot, whose times show later changes, applies. It belongs
//! to the first file by an id and to the process that wrote that: another process on the same home writes a
//! whole snapshot under another id, and parts appended to the old one no longer count.
//!
//! An incomplete file, or one of another version, is ignored: a full snapshot is taken.

mod bytes;

use super::{FolderSnapshot, RelativePath, SnapshotItem};
use crate::time::bytes::{bytes_of, path_of};
use bytes::{Input, number, reason, reason_of, write_item, write_part};
use octo_protocol::TurnId;
use std::{
    collections::{BTreeSet, HashMap},
    ffi::OsStr,
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

const MAGIC: &[u8] = b"octo picture 2\n";
/// The length of an id in bytes: a UUID as text, without hyphens.
const ID: usize = 32;
const HASH: usize = 32;
/// The length of the checksum of an appended part, in bytes.
const CHECK: usize = 16;
/// The appended bytes allowed, in addition to half the size of the whole snapshot, before that is rewritten.
const MAX_EXTRA_BYTES: u64 = 256 << 10;

/// The files of one folder's snapshot, and the part already written to them.
#[derive(Debug)]
pub(crate) struct SnapshotFile {
    path: PathBuf,
    stored: Option<StoredSnapshot>,
}

#[derive(Debug)]
struct StoredSnapshot {
    id: String,
    snapshot: FolderSnapshot,
    /// The size of the whole snapshot in bytes.
    base_bytes: u64,
    append_file: Option<File>,
    /// The number of appended bytes.
    appended_bytes: u64,
}

impl SnapshotFile {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, stored: None }
    }

    /// Stores the snapshot: the changes since the last one, or all of it. The previous one is valid until then.
    ///
    /// # Errors
    ///
    /// Disk errors. The next snapshot is then stored whole.
    pub(crate) fn store(&mut self, picture: &FolderSnapshot) -> io::Result<()> {
        if let Some(mut stored) = self.stored.take()
            && stored.has_same_repository(picture)
            && read_id(&self.path).is_some_and(|id| id == stored.id)
        {
            let change = change(&stored.snapshot, picture);
            if change.is_empty() {
                self.stored = Some(stored);
                return Ok(());
            }
            if stored.appended_bytes + change.len() as u64 <= stored.base_bytes / 2 + MAX_EXTRA_BYTES {
                stored.append(&self.path, &change)?;
                stored.snapshot = picture.clone();
                self.stored = Some(stored);
                return Ok(());
            }
        }
        let id = TurnId::new().to_string();
        let size = write_whole(&self.path, &id, picture)?;
        remove_old_changes(&self.path, &id);
        self.stored = Some(StoredSnapshot {
            id,
            snapshot: picture.clone(),
            base_bytes: size,
            append_file: None,
            appended_bytes: 0,
        });
        Ok(())
    }
}

impl StoredSnapshot {
    fn has_same_repository(&self, picture: &FolderSnapshot) -> bool {
        self.snapshot.folder == picture.folder && self.snapshot.repository == picture.repository
    }

    fn append(&mut self, path: &Path, change: &[u8]) -> io::Result<()> {
        let file = match &mut self.append_file {
            Some(file) => file,
            unknown => {
                let file = File::options().append(true).create(true).open(changes_path(path, &self.id))?;
                unknown.insert(file)
            }
        };
        let mut part = Vec::with_capacity(change.len() + CHECK + 10);
        write_part(&mut part, change);
        part.extend_from_slice(&check(&self.id, change));
        file.write_all(&part)?;
        self.appended_bytes += part.len() as u64;
        Ok(())
    }
}

impl FolderSnapshot {
    /// Reads a snapshot back; `None` if no complete one exists.
    pub(crate) fn load(path: &Path) -> Option<Self> {
        Self::load_each(path, |_| {})
    }

    /// Like [`FolderSnapshot::load`], and calls `each` with every item in the files, including replaced ones, because
    /// a power cut may lose the parts appended last.
    pub(crate) fn load_each(path: &Path, mut each: impl FnMut(&SnapshotItem)) -> Option<Self> {
        let bytes = fs::read(path).ok()?;
        let (content, hash) = bytes.split_at_checked(bytes.len().checked_sub(HASH)?)?;
        if blake3::hash(content).as_bytes() != hash {
            return None;
        }
        let mut input = Input(content.strip_prefix(MAGIC)?);
        let id = String::from_utf8(input.take(ID)?.to_vec()).ok()?;
        let folder = path_of(input.bytes()?);
        let repository = Some(path_of(input.bytes()?)).filter(|path| !path.as_os_str().is_empty());
        let mut picture = Self { folder, repository, folders: HashMap::new(), unknown: HashMap::new() };
        picture.apply(&mut input, &mut each)?;
        let appended = fs::read(changes_path(path, &id)).unwrap_or_default();
        let mut input = Input(&appended);
        while let Some(change) = input.bytes()
            && let Some(found) = input.take(CHECK)
        {
            if found != check(&id, change) {
                break;
            }
            // It was written completely, so it can be read.
            picture.apply(&mut Input(change), &mut each)?;
        }
        Some(picture)
    }

    fn apply(&mut self, input: &mut Input<'_>, each: &mut impl FnMut(&SnapshotItem)) -> Option<()> {
        while let Some(tag) = input.byte() {
            let path: RelativePath = input.bytes()?.into();
            match FileEntryKind::of(tag)? {
                FileEntryKind::Gone => {
                    self.folders.remove(&path);
                }
                FileEntryKind::Folder => {
                    let mut items = Vec::new();
                    for _ in 0..input.number()? {
                        let item = input.item()?;
                        each(&item);
                        items.push(item);
                    }
                    self.folders.insert(path, Arc::new(items));
                }
                FileEntryKind::Names => {
                    let items = Arc::make_mut(self.folders.get_mut(&path)?);
                    for _ in 0..input.number()? {
                        let name = input.bytes()?;
                        items.retain(|item| *item.name != *name);
                    }
                    for _ in 0..input.number()? {
                        let item = input.item()?;
                        each(&item);
                        match items.binary_search_by(|existing| existing.name.cmp(&item.name)) {
                            Ok(index) => *items.get_mut(index)? = item,
                            Err(index) => items.insert(index, item),
                        }
                    }
                }
                FileEntryKind::Unknown => {
                    let reason = reason_of(input.byte()?)?;
                    self.unknown.insert(path, reason);
                }
                FileEntryKind::Known => {
                    self.unknown.remove(&path);
                }
            }
        }
        Some(())
    }
}

/// The kinds of entries about a folder in a file.
#[derive(Clone, Copy)]
enum FileEntryKind {
    /// The folder is no longer part of the snapshot.
    Gone = 0,
    /// The folder's whole content.
    Folder = 1,
    /// Removed names, and new or changed ones.
    Names = 2,
    /// The reason why the folder could not be read.
    Unknown = 3,
    /// The folder could be read.
    Known = 4,
}

impl FileEntryKind {
    const ALL: [Self; 5] = [Self::Gone, Self::Folder, Self::Names, Self::Unknown, Self::Known];

    fn of(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte)).copied()
    }

    fn begin(self, bytes: &mut Vec<u8>, path: &[u8]) {
        bytes.push(self as u8);
        write_part(bytes, path);
    }
}

fn folder_entry(bytes: &mut Vec<u8>, path: &[u8], items: &[SnapshotItem]) {
    FileEntryKind::Folder.begin(bytes, path);
    number(bytes, items.len() as u64);
    items.iter().for_each(|item| write_item(bytes, item));
}

/// Returns the bytes to append to turn one snapshot into the other; empty if they are equal.
fn change(old_snapshot: &FolderSnapshot, after: &FolderSnapshot) -> Vec<u8> {
    let mut bytes = Vec::new();
    for path in old_snapshot.folders.keys().filter(|path| !after.folders.contains_key(*path)) {
        FileEntryKind::Gone.begin(&mut bytes, path);
    }
    for (path, items) in &after.folders {
        match old_snapshot.folders.get(path) {
            Some(before) if Arc::ptr_eq(before, items) => {}
            Some(before) => names_entry(&mut bytes, path, before, items),
            None => folder_entry(&mut bytes, path, items),
        }
    }
    for path in old_snapshot.unknown.keys().filter(|path| !after.unknown.contains_key(*path)) {
        FileEntryKind::Known.begin(&mut bytes, path);
    }
    for (path, unsaved_reason) in after
        .unknown
        .iter()
        .filter(|(path, unsaved_reason)| old_snapshot.unknown.get(*path) != Some(unsaved_reason))
    {
        FileEntryKind::Unknown.begin(&mut bytes, path);
        bytes.push(reason(*unsaved_reason));
    }
    bytes
}

fn names_entry(bytes: &mut Vec<u8>, path: &[u8], before: &[SnapshotItem], items: &[SnapshotItem]) {
    let names: BTreeSet<&[u8]> = items.iter().map(|item| &*item.name).collect();
    let removed: Vec<&SnapshotItem> = before.iter().filter(|item| !names.contains(&*item.name)).collect();
    let by_name: HashMap<&[u8], &SnapshotItem> = before.iter().map(|item| (&*item.name, item)).collect();
    let put_there: Vec<&SnapshotItem> = items
        .iter()
        .filter(|item| by_name.get(&*item.name).is_none_or(|by_name| *by_name != *item))
        .collect();
    if removed.is_empty() && put_there.is_empty() {
        return;
    }
    FileEntryKind::Names.begin(bytes, path);
    number(bytes, removed.len() as u64);
    removed.iter().for_each(|item| write_part(bytes, &item.name));
    number(bytes, put_there.len() as u64);
    put_there.iter().for_each(|item| write_item(bytes, item));
}

fn check(id: &str, change: &[u8]) -> [u8; CHECK] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(id.as_bytes()).update(change);
    let mut check = [0; CHECK];
    hasher.finalize_xof().fill(&mut check);
    check
}

/// Writes a whole snapshot atomically and returns its length.
fn write_whole(path: &Path, id: &str, picture: &FolderSnapshot) -> io::Result<u64> {
    let folder = path.parent().unwrap_or(path);
    crate::private_folder(folder)?;
    let mut temporary = tempfile::Builder::new().prefix(".picture-").tempfile_in(folder)?;
    let (mut hasher, mut length) = (blake3::Hasher::new(), 0);
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(id.as_bytes());
    write_part(&mut bytes, &bytes_of(&picture.folder));
    write_part(&mut bytes, &picture.repository.as_deref().map(bytes_of).unwrap_or_default());
    for (path, unsaved_reason) in &picture.unknown {
        FileEntryKind::Unknown.begin(&mut bytes, path);
        bytes.push(reason(*unsaved_reason));
    }
    // In parts: all of it in memory would be as large as the snapshot itself.
    let mut write = |bytes: &mut Vec<u8>| {
        hasher.update(bytes);
        length += bytes.len() as u64;
        let result = temporary.write_all(bytes);
        bytes.clear();
        result
    };
    for (path, items) in &picture.folders {
        folder_entry(&mut bytes, path, items);
        if bytes.len() > 1 << 18 {
            write(&mut bytes)?;
        }
    }
    write(&mut bytes)?;
    let hash = hasher.finalize();
    temporary.write_all(hash.as_bytes())?;
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(length + HASH as u64)
}

fn read_id(path: &Path) -> Option<String> {
    let mut start = [0; MAGIC.len() + ID];
    File::open(path).ok()?.read_exact(&mut start).ok()?;
    String::from_utf8(start.strip_prefix(MAGIC)?.to_vec()).ok()
}

/// Returns the path of the appended changes of a snapshot.
fn changes_path(path: &Path, id: &str) -> PathBuf {
    let mut name = path.file_name().map(OsStr::to_owned).unwrap_or_default();
    name.push(format!("-{id}"));
    path.with_file_name(name)
}

/// Removes the appended changes of the folder's earlier snapshots.
fn remove_old_changes(path: &Path, but: &str) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return };
    let (prefix, own_path) = (format!("{}-", name.to_string_lossy()), changes_path(path, but));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with(&prefix)
            && path != own_path
            && let Err(error) = fs::remove_file(&path)
        {
            tracing::debug!(%error, "a part of an old picture stays behind");
        }
    }
}
