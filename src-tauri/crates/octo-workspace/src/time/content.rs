//! Reads the present state of a path, storing its content or only its hash.

use super::{
    bytes::bytes_of,
    folder::{DiskEntry, FolderCache, PathStamp},
};
use crate::{BlobError, Blobs, FlushTiming};
use octo_protocol::{BlobHash, FileImage, UnsavedReason};
use std::{
    fs::File,
    io::{self, Seek},
    path::Path,
};

/// The number of times a file is read again because it changed during the read.
const MAX_READS: usize = 3;

/// Whether the content is stored.
#[derive(Clone, Copy)]
pub(crate) enum ContentMode<'a> {
    /// Store the content, with this flush mode.
    Content(&'a Blobs, FlushTiming),
    /// Take only the hash.
    Hash,
}

/// Returns the state of an entry. A file larger than `largest` becomes [`UnsavedReason`], unread.
pub(crate) fn image_of(
    entry: DiskEntry,
    largest: u64,
    mode: ContentMode<'_>,
) -> Result<FileImage, BlobError> {
    let unsaved = |reason, stamp: PathStamp| FileImage::Unsaved {
        why: reason,
        len: stamp.len,
        modified: stamp.modified,
    };
    Ok(match entry {
        DiskEntry::Absent => FileImage::Absent,
        DiskEntry::Link(target, _) => FileImage::Link { target: bytes_of(&target) },
        DiskEntry::Folder(stamp) => FileImage::Folder { mode: stamp.permissions() },
        DiskEntry::Special(stamp) => unsaved(UnsavedReason::Special, stamp),
        DiskEntry::Unreadable(stamp) => unsaved(UnsavedReason::Unreadable, stamp),
        DiskEntry::File(_, stamp) if stamp.len > largest => unsaved(UnsavedReason::TooLarge, stamp),
        DiskEntry::File(mut file, stamp) => {
            for _ in 0..MAX_READS {
                let before = PathStamp::of(&file.metadata()?);
                let read = match mode {
                    ContentMode::Content(blobs, flush) => blobs.put_file(&mut file, largest, flush),
                    ContentMode::Hash => hash(&mut file, largest),
                };
                match read {
                    Ok((blob, len)) if PathStamp::of(&file.metadata()?) == before => {
                        return Ok(FileImage::File { blob, len, mode: stamp.permissions() });
                    }
                    Ok(_) | Err(BlobError::Changed) => {}
                    Err(error) => return Err(error),
                }
            }
            return Err(BlobError::Changed);
        }
    })
}

fn hash(file: &mut File, largest: u64) -> Result<(BlobHash, u64), BlobError> {
    file.rewind()?;
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(io::Read::take(file, largest.saturating_add(1)))?;
    if hasher.count() > largest {
        return Err(BlobError::Changed);
    }
    Ok((BlobHash(hasher.finalize().to_hex().to_string()), hasher.count()))
}

/// Returns the present state of the path.
pub(crate) fn image_at(
    folders: &mut FolderCache,
    path: &Path,
    largest: u64,
    mode: ContentMode<'_>,
) -> Result<(FileImage, Option<PathStamp>), BlobError> {
    let entry = folders.read_entry(path)?;
    let stamp = entry.stamp();
    Ok((image_of(entry, largest, mode)?, stamp))
}

/// Whether two states are the same. Content that was not stored counts as the same if its length and time are
/// equal.
pub(crate) fn is_same_image(a: &FileImage, b: &FileImage) -> bool {
    match (a, b) {
        (
            FileImage::Unsaved { len, modified, .. },
            FileImage::Unsaved { len: other_len, modified: other_modified, .. },
        ) => len == other_len && modified == other_modified && *modified != 0,
        _ => a == b,
    }
}
