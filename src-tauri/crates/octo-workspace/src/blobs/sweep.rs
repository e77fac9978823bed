//! Removing blobs that nothing refers to.
//!
//! A blob may be put, or found to be there already, at the very moment it is swept, and the reference to it
//! stored later. So none is removed that was put or asked for within [`GRACE`], and none is unlinked in its
//! place: it is moved aside first and its time looked at again. Whoever puts the same content meanwhile has
//! either renewed the time, which brings it back, or finds the place empty and writes it anew. A process
//! killed in between leaves blobs aside; [`Blobs::put_back`] brings them back.

use super::{BlobError, Blobs, GRACE, HALF};
use octo_protocol::BlobHash;
use std::{
    collections::HashSet,
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// Where blobs are on their way out, under their whole names.
const ASIDE: &str = "leaving";

/// All blobs there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// How many.
    pub blobs: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What a sweep removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// How many.
    pub blobs: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Blobs {
    /// Calls `each` with every blob, its length and its age since it was last put. What a killed process left
    /// half-written is taken away on the way.
    ///
    /// # Errors
    /// Those of the system.
    pub fn for_each(&self, mut each: impl FnMut(BlobHash, u64, Duration)) -> Result<Kept, BlobError> {
        let now = SystemTime::now();
        let mut kept = Kept::default();
        for first in entries(&self.root)? {
            // Everything else in the folder, the blobs set aside among it, has a longer name.
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
                        if rest.starts_with(HALF) && age(&meta, now) >= GRACE {
                            let _ = fs::remove_file(&path);
                        }
                        continue;
                    }
                    kept.blobs += 1;
                    kept.bytes += meta.len();
                    each(hash, meta.len(), age(&meta, now));
                }
            }
        }
        Ok(kept)
    }

    /// Removes these blobs, but for those that were put meanwhile.
    ///
    /// # Errors
    /// Those of the system; what was not removed stays.
    pub fn sweep(&self, unused: &HashSet<BlobHash>) -> Result<Swept, BlobError> {
        let mut swept = Swept::default();
        if unused.is_empty() {
            return Ok(swept);
        }
        let aside = self.root.join(ASIDE);
        fs::create_dir_all(&aside)?;
        for hash in unused {
            let path = self.path(hash)?;
            let away = aside.join(&hash.0);
            match fs::rename(&path, &away) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error.into()),
            }
            let meta = match fs::symlink_metadata(&away) {
                Ok(meta) => meta,
                // Another process starts and brought it back: the next sweep looks at it again.
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

    /// Brings back what a sweep that was cut short had set aside.
    ///
    /// # Errors
    /// Those of the system.
    pub fn put_back(&self) -> Result<(), BlobError> {
        for away in entries(&self.root.join(ASIDE))? {
            let Some(name) = away.file_name() else { continue };
            let Ok(path) = self.path(&BlobHash(name.to_string_lossy().into_owned())) else { continue };
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            match fs::rename(&away, &path) {
                // A sweep that is under way in another process was faster: either way it is where it belongs.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                moved => moved?,
            }
        }
        Ok(())
    }
}

fn age(meta: &Metadata, now: SystemTime) -> Duration {
    // A time in the future is of a clock that was set back: such a blob counts as new.
    meta.modified().ok().and_then(|time| now.duration_since(time).ok()).unwrap_or_default()
}

fn folder_named(path: &Path) -> io::Result<Vec<PathBuf>> {
    if path.file_name().is_some_and(|name| name.len() == 2) { entries(path) } else { Ok(Vec::new()) }
}

/// What is in a folder; nothing where there is none.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path())).collect(),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}
