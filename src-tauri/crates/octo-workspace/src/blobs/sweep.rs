//! Collects blobs that nothing refers to.
//!
//! A blob may be put, or found to exist already, at the very moment it is swept, with its reference stored
//! later. The sweep therefore keeps every blob put or requested within [`GRACE`], and never unlinks one
//! directly: it first moves the blob into a separate folder and checks its time again. A concurrent put of the
//! same content has either renewed the time, which brings the blob back, or finds no file and writes the blob
//! again. A process killed in between leaves blobs in that folder; [`Blobs::restore_set_apart`] restores them.

use super::{BlobError, Blobs, GRACE, TEMPORARY_PREFIX};
use octo_protocol::BlobHash;
use std::{
    collections::HashSet,
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// The folder of blobs that are about to be removed, under their full hashes.
const REMOVAL_FOLDER: &str = "leaving";

/// The number and size of all stored blobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlobTotals {
    /// The number of blobs.
    pub blobs: u64,
    /// Their total size in bytes.
    pub bytes: u64,
}

/// The number and size of the blobs a sweep removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlobSweepReport {
    /// The number of blobs.
    pub blobs: u64,
    /// Their total size in bytes.
    pub bytes: u64,
}

impl Blobs {
    /// Calls `each` with every blob, its length, and the time since it was last put. Also removes half-written
    /// files that a killed process left.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn for_each(&self, mut each: impl FnMut(BlobHash, u64, Duration)) -> Result<BlobTotals, BlobError> {
        let time = SystemTime::now();
        let mut remaining = BlobTotals::default();
        for first in entries(&self.root)? {
            // Everything else in the folder, including blobs set apart by a sweep, has a longer name.
            for second in folder_named(&first)? {
                for path in folder_named(&second)? {
                    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
                    let (Some(first), Some(second), Some(rest)) = (name(&first), name(&second), name(&path))
                    else {
                        continue;
                    };
                    let hash = BlobHash(format!("{first}{second}{rest}"));
                    let Ok(meta) = fs::symlink_metadata(&path) else { continue };
                    if self.path(&hash).is_err() {
                        if rest.starts_with(TEMPORARY_PREFIX) && age(&meta, time) >= GRACE {
                            let _ = fs::remove_file(&path);
                        }
                        continue;
                    }
                    remaining.blobs += 1;
                    remaining.bytes += meta.len();
                    each(hash, meta.len(), age(&meta, time));
                }
            }
        }
        Ok(remaining)
    }

    /// Removes these blobs, except those that were put meanwhile.
    ///
    /// # Errors
    ///
    /// I/O errors; the remaining blobs are kept.
    pub fn sweep(&self, unused: &HashSet<BlobHash>) -> Result<BlobSweepReport, BlobError> {
        let mut swept = BlobSweepReport::default();
        if unused.is_empty() {
            return Ok(swept);
        }
        let removal_folder = self.root.join(REMOVAL_FOLDER);
        fs::create_dir_all(&removal_folder)?;
        for hash in unused {
            let path = self.path(hash)?;
            let away = removal_folder.join(&hash.0);
            match fs::rename(&path, &away) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error.into()),
            }
            let meta = match fs::symlink_metadata(&away) {
                Ok(meta) => meta,
                // Another starting process brought it back: the next sweep checks it again.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error.into()),
            };
            if age(&meta, SystemTime::now()) < GRACE {
                fs::rename(&away, &path)?;
            } else {
                fs::remove_file(&away)?;
                swept.blobs += 1;
                swept.bytes += meta.len();
            }
        }
        Ok(swept)
    }

    /// Restores the blobs that an interrupted sweep had set apart.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn restore_set_apart(&self) -> Result<(), BlobError> {
        for away in entries(&self.root.join(REMOVAL_FOLDER))? {
            let Some(name) = away.file_name() else { continue };
            let Ok(path) = self.path(&BlobHash(name.to_string_lossy().into_owned())) else { continue };
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            match fs::rename(&away, &path) {
                // A concurrent sweep in another process was faster: either way the blob is where it belongs.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                restored => restored?,
            }
        }
        Ok(())
    }
}

fn age(meta: &Metadata, now: SystemTime) -> Duration {
    // A time in the future dates from before the clock was set back: such a blob counts as new.
    meta.modified().ok().and_then(|time| now.duration_since(time).ok()).unwrap_or_default()
}

fn folder_named(path: &Path) -> io::Result<Vec<PathBuf>> {
    if path.file_name().is_some_and(|name| name.len() == 2) { entries(path) } else { Ok(Vec::new()) }
}

/// Returns the entries of a folder; empty if it does not exist.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path())).collect(),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}
