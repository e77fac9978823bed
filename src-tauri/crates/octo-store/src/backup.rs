//! Copies of the whole database, made before a schema change, every day, and on the person's request.

use crate::{
    OpenError, Reader, Store, StoreError, flush_file,
    inspect::inspect,
    open::{create_private, remove},
};
use octo_protocol::Millis;
use rusqlite::{Connection, backup::Backup};
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

/// The number of schema versions whose backups are kept: the newest ones.
const KEPT_VERSIONS: usize = 3;
/// The number of backups kept per version.
const KEPT_PER_VERSION: usize = 2;

/// The age of the newest backup, in milliseconds, at which another one is due: damage to the database loses at
/// most a day's work.
const BACKUP_INTERVAL: u64 = 24 * 60 * 60 * 1000;

/// The largest database that is copied every day, which takes about a second. A larger one is copied less often
/// in proportion to its size, which keeps the amount written to disk constant, but at least once a month.
const DAILY_BACKUP_MAX_BYTES: u64 = 256 << 20;
/// The maximum number of days between two backups.
const MAX_INTERVAL_DAYS: u64 = 30;

#[derive(Debug, thiserror::Error)]
pub(crate) enum BackupError {
    #[error("no backup could be made: {0}")]
    Io(#[from] io::Error),
    #[error("no backup could be made: {0}")]
    Sqlite(#[from] rusqlite::Error),
}

impl From<BackupError> for StoreError {
    fn from(error: BackupError) -> Self {
        match error {
            BackupError::Sqlite(error) => Self::from(error),
            BackupError::Io(error) if error.kind() == io::ErrorKind::StorageFull => Self::Full,
            BackupError::Io(error) => Self::Failed(error.to_string()),
        }
    }
}

/// The result of requesting the day's backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupOutcome {
    /// A backup was made.
    Made,
    /// The newest one is recent enough: within a day, or within some days for a large database.
    NotDue,
}

impl Store {
    /// Makes the day's backup if it does not exist yet; for a large database, one for several days. Octo reads
    /// the copy through before it counts: this finds damage that went unnoticed until then, and no bad backup
    /// then replaces a good one. Blocks for a time proportional to the size of the database; reads and writes
    /// continue.
    ///
    /// # Errors
    ///
    /// [`StoreError::Damaged`] also for a damaged copy; the next start then reads the database through. Disk
    /// errors; no part of the copy remains then.
    pub fn back_up(&self, now: Millis) -> Result<BackupOutcome, StoreError> {
        let home = self.home();
        redate_future_backups(home, now.unsigned_abs());
        let failed = |error: io::Error| StoreError::from(BackupError::Io(error));
        let max_age = max_backup_age(fs::metadata(home.join("octo.db")).map_err(failed)?.len());
        if all_backups(home).pop().is_some_and(|newest| newest.at.abs_diff(now.unsigned_abs()) < max_age) {
            return Ok(BackupOutcome::NotDue);
        }
        fs::create_dir_all(folder(home)).map_err(failed)?;
        let version = self.read_blocking(|reader| Ok(crate::open::schema_version(reader.connection)?))?;
        let (path, part) = new_backup_paths(home, version, now);
        remove(&part).map_err(failed)?;
        self.read_blocking(|reader| reader.copy_to(&part))?;
        let outcome = match inspect(&part) {
            Ok(_) => fs::rename(&part, &path).map_err(failed),
            Err(OpenError::Damaged { detail, .. }) => {
                self.mark_suspect();
                Err(StoreError::Damaged(detail))
            }
            Err(error) => Err(StoreError::Failed(error.to_string())),
        };
        if outcome.is_err() {
            // As in [`make`].
            let _ = fs::remove_file(&part);
        }
        outcome?;
        remove_old_backups(home);
        Ok(BackupOutcome::Made)
    }
}

/// Returns the maximum age of the newest backup for a database of this size, in milliseconds.
fn max_backup_age(size: u64) -> u64 {
    BACKUP_INTERVAL * size.div_ceil(DAILY_BACKUP_MAX_BYTES).clamp(1, MAX_INTERVAL_DAYS)
}

/// Copies the database, as schema version `version`, to `<home>/backups/octo-<version>-<time>.db`, and removes
/// backups past the retention. The copy gets its name only when it is complete.
pub(crate) fn make(home: &Path, source: &Connection, version: u32) -> Result<PathBuf, BackupError> {
    fs::create_dir_all(folder(home))?;
    let (path, part) = new_backup_paths(home, version, crate::tx::now());
    let copied = copy(source, &part).and_then(|()| Ok(fs::rename(&part, &path)?));
    if let Err(error) = copied {
        // Half a backup is worse than none; a failure to remove it changes nothing.
        let _ = fs::remove_file(&part);
        return Err(error);
    }
    remove_old_backups(home);
    Ok(path)
}

/// Dates backups from the future to yesterday, in their order: a wrong clock made them. Otherwise the next
/// backups would need even newer times, and each check would find none from today.
fn redate_future_backups(home: &Path, now: u64) {
    let future = all_backups(home)
        .into_iter()
        .rev()
        .take_while(|backup| backup.at > now.saturating_add(BACKUP_INTERVAL));
    for (before, backup) in (1..).zip(future) {
        let path = backup_path(home, backup.version, now.saturating_sub(BACKUP_INTERVAL + before));
        if !path.exists()
            && let Err(error) = fs::rename(&backup.path, &path)
        {
            tracing::warn!(%error, "a backup keeps its wrong date");
        }
    }
}

/// Returns the path of the next backup, and its path while it is incomplete.
fn new_backup_paths(home: &Path, version: u32, now: Millis) -> (PathBuf, PathBuf) {
    // With a clock that was set back it would be the oldest, and deleted at once.
    let after_all = all_backups(home).pop().map_or(0, |newest| newest.at.saturating_add(1));
    let time = after_all.max(now.unsigned_abs());
    let path = backup_path(home, version, time);
    let part = path.with_extension("part");
    (path, part)
}

/// Milliseconds of 13 digits sort by name until the year 2286.
fn backup_path(home: &Path, version: u32, time: u64) -> PathBuf {
    folder(home).join(format!("octo-{version}-{time:013}.db"))
}

/// Removes all but the newest few backups of the newest few versions, which lets an older Octo return to its
/// own.
fn remove_old_backups(home: &Path) {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for backup in all_backups(home).into_iter().rev() {
        let stays = counts
            .get(&backup.version)
            .map_or(counts.len() < KEPT_VERSIONS, |count| *count < KEPT_PER_VERSION);
        if stays {
            *counts.entry(backup.version).or_default() += 1;
        }
        if !stays && let Err(error) = fs::remove_file(&backup.path) {
            tracing::warn!(%error, "an old backup could not be removed");
        }
    }
}

fn copy(source: &Connection, part: &Path) -> Result<(), BackupError> {
    create_private(part)?;
    let mut target = Connection::open(part)?;
    // All pages in one step: no other process writes while the schema is about to change.
    Backup::new(source, &mut target)?.run_to_completion(i32::MAX, Duration::ZERO, None)?;
    target.close().map_err(|(_, error)| error)?;
    Ok(flush_file(part)?)
}

impl Reader<'_> {
    /// Copies the whole database as of this moment to a new file.
    ///
    /// # Errors
    ///
    /// Disk errors, as [`StoreError::Failed`] or [`StoreError::Full`]; no part of the copy remains then.
    pub fn copy_to(&self, path: &Path) -> Result<(), StoreError> {
        if path.symlink_metadata().is_ok() {
            return Err(StoreError::Failed(format!("{} is there already", path.display())));
        }
        copy(self.connection, path).map_err(|error| {
            // As in [`make`].
            let _ = fs::remove_file(path);
            StoreError::from(error)
        })
    }
}

/// Returns the newest backup of this schema version or an earlier one, if any.
pub(crate) fn newest_usable(home: &Path, version: u32) -> Option<PathBuf> {
    all_backups(home).into_iter().rfind(|backup| backup.version <= version).map(|newest| newest.path)
}

/// Returns the backups, newest first, with their times.
pub(crate) fn newest_first(home: &Path) -> impl Iterator<Item = (PathBuf, u64)> {
    all_backups(home).into_iter().rev().map(|found| (found.path, found.at))
}

/// Removes unfinished backups.
pub(crate) fn remove_unfinished(home: &Path) {
    for entry in fs::read_dir(folder(home)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // Including SQLite's own files for it.
        if name.starts_with("octo-")
            && (name.ends_with(".part") || name.contains(".part-"))
            && let Err(error) = fs::remove_file(entry.path())
        {
            tracing::warn!(%error, "an unfinished backup stays");
        }
    }
}

fn folder(home: &Path) -> PathBuf {
    home.join("backups")
}

/// An existing backup, parsed from its name.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct BackupFile {
    at: u64,
    version: u32,
    path: PathBuf,
}

/// Returns all backups, oldest first.
fn all_backups(home: &Path) -> Vec<BackupFile> {
    let Ok(entries) = fs::read_dir(folder(home)) else { return Vec::new() };
    let mut found: Vec<BackupFile> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let (version, time) = name.strip_prefix("octo-")?.strip_suffix(".db")?.split_once('-')?;
            Some(BackupFile { at: time.parse().ok()?, version: version.parse().ok()?, path: entry.path() })
        })
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_database_is_backed_up_less_often() {
        let days = |size: u64| max_backup_age(size) / BACKUP_INTERVAL;
        let sizes = [
            0,
            DAILY_BACKUP_MAX_BYTES,
            DAILY_BACKUP_MAX_BYTES + 1,
            4 * DAILY_BACKUP_MAX_BYTES,
            400 * DAILY_BACKUP_MAX_BYTES,
            u64::MAX,
        ];
        assert_eq!(sizes.map(days), [1, 1, 2, 4, MAX_INTERVAL_DAYS, MAX_INTERVAL_DAYS]);
    }
}
