//! Copies of the whole database, made before its schema changes and where the person asks for one.

use crate::{Reader, StoreError, open::private};
use rusqlite::{Connection, backup::Backup};
use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

/// How many backups are kept.
const KEPT: usize = 3;

#[derive(Debug, thiserror::Error)]
pub(crate) enum BackupError {
    #[error("no backup could be made: {0}")]
    Io(#[from] io::Error),
    #[error("no backup could be made: {0}")]
    Sqlite(#[from] rusqlite::Error),
}

/// Copies the database, as schema version `version`, to `<home>/backups/octo-<version>-<time>.db`, and
/// removes all but the newest three. The copy has its name only once it is whole.
pub(crate) fn make(home: &Path, from: &Connection, version: u32) -> Result<PathBuf, BackupError> {
    let folder = folder(home);
    fs::create_dir_all(&folder)?;
    // By a clock that was set back it would be the oldest, and go at once.
    let after_all = all(home).pop().map_or(0, |newest| newest.at.saturating_add(1));
    let at = after_all.max(crate::tx::now().unsigned_abs());
    // Milliseconds of 13 digits sort by name until the year 2286.
    let place = folder.join(format!("octo-{version}-{at:013}.db"));
    let part = place.with_extension("part");
    let copied = copy(from, &part).and_then(|()| Ok(fs::rename(&part, &place)?));
    if let Err(error) = copied {
        // Half a backup is worse than none; that it could not be removed changes nothing.
        let _ = fs::remove_file(&part);
        return Err(error);
    }
    for old in all(home).into_iter().rev().skip(KEPT) {
        if let Err(error) = fs::remove_file(&old.place) {
            tracing::warn!(%error, "an old backup could not be removed");
        }
    }
    Ok(place)
}

fn copy(from: &Connection, part: &Path) -> Result<(), BackupError> {
    private(part)?;
    let mut to = Connection::open(part)?;
    // All pages in one step: nobody else writes while the schema is about to change.
    Backup::new(from, &mut to)?.run_to_completion(i32::MAX, Duration::ZERO, None)?;
    to.close().map_err(|(_, error)| error)?;
    Ok(File::open(part)?.sync_all()?)
}

impl Reader<'_> {
    /// Copies the whole database as of this moment to a new file.
    ///
    /// # Errors
    /// Those of the disk, as [`StoreError::Failed`] or [`StoreError::Full`]; nothing is left of the copy then.
    pub fn copy_to(&self, place: &Path) -> Result<(), StoreError> {
        if place.symlink_metadata().is_ok() {
            return Err(StoreError::Failed(format!("{} is there already", place.display())));
        }
        copy(self.connection, place).map_err(|error| {
            // As in [`make`].
            let _ = fs::remove_file(place);
            match error {
                BackupError::Sqlite(error) => StoreError::from(error),
                BackupError::Io(error) if error.kind() == io::ErrorKind::StorageFull => StoreError::Full,
                BackupError::Io(error) => StoreError::Failed(error.to_string()),
            }
        })
    }
}

/// The newest backup, where there is one.
pub(crate) fn newest(home: &Path) -> Option<PathBuf> {
    all(home).pop().map(|newest| newest.place)
}

/// The newest backup of this schema version or one before it, where there is one.
pub(crate) fn newest_of(home: &Path, version: u32) -> Option<PathBuf> {
    all(home).into_iter().rfind(|backup| backup.version <= version).map(|newest| newest.place)
}

fn folder(home: &Path) -> PathBuf {
    home.join("backups")
}

/// A backup that is there, by its name.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    at: u64,
    version: u32,
    place: PathBuf,
}

/// All backups, oldest first.
fn all(home: &Path) -> Vec<Found> {
    let Ok(entries) = fs::read_dir(folder(home)) else { return Vec::new() };
    let mut found: Vec<Found> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let (version, at) = name.strip_prefix("octo-")?.strip_suffix(".db")?.split_once('-')?;
            Some(Found { at: at.parse().ok()?, version: version.parse().ok()?, place: entry.path() })
        })
        .collect();
    found.sort();
    found
}
