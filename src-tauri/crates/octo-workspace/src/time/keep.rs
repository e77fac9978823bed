//! What a path is like now, with its content kept or only its hash taken.

use super::{
    bytes::bytes_of,
    folder::{Entry, Folders, Stamp},
};
use crate::{BlobError, Blobs, Flush};
use octo_protocol::{BlobHash, FileImage, Unsaved};
use std::{
    fs::File,
    io::{self, Seek},
    path::Path,
};

/// Times a file is read again because it changed while it was read.
const TRIES: usize = 3;

/// Whether the content is kept.
#[derive(Clone, Copy)]
pub(crate) enum Keep<'a> {
    /// It is, and flushed as said.
    Content(&'a Blobs, Flush),
    /// Only its hash is taken.
    Hash,
}

/// What an entry is like. A file larger than `largest` is [`Unsaved`], without being read.
pub(crate) fn image_of(entry: Entry, largest: u64, keep: Keep<'_>) -> Result<FileImage, BlobError> {
    let unsaved = |why, stamp: Stamp| FileImage::Unsaved { why, len: stamp.len, modified: stamp.modified };
    Ok(match entry {
        Entry::Absent => FileImage::Absent,
        Entry::Link(target, _) => FileImage::Link { target: bytes_of(&target) },
        Entry::Folder(stamp) => FileImage::Folder { mode: stamp.permissions() },
        Entry::Special(stamp) => unsaved(Unsaved::Special, stamp),
        Entry::Unreadable(stamp) => unsaved(Unsaved::Unreadable, stamp),
        Entry::File(_, stamp) if stamp.len > largest => unsaved(Unsaved::TooLarge, stamp),
        Entry::File(mut file, stamp) => {
            for _ in 0..TRIES {
                let before = Stamp::of(&file.metadata()?);
                let read = match keep {
                    Keep::Content(blobs, flush) => blobs.put_file(&mut file, largest, flush),
                    Keep::Hash => hash(&mut file, largest),
                };
                match read {
                    Ok((blob, len)) if Stamp::of(&file.metadata()?) == before => {
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

/// What the path is like now.
pub(crate) fn look(
    folders: &mut Folders,
    path: &Path,
    largest: u64,
    keep: Keep<'_>,
) -> Result<(FileImage, Option<Stamp>), BlobError> {
    let entry = folders.look(path)?;
    let stamp = entry.stamp();
    Ok((image_of(entry, largest, keep)?, stamp))
}

/// Whether two images are the same, as far as can be known: what was not kept is the same when its length and
/// time are.
pub(crate) fn same(one: &FileImage, other: &FileImage) -> bool {
    match (one, other) {
        (
            FileImage::Unsaved { len, modified, .. },
            FileImage::Unsaved { len: other_len, modified: other_modified, .. },
        ) => len == other_len && modified == other_modified && *modified != 0,
        _ => one == other,
    }
}
