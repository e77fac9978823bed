//! Replacement of a damaged database by a sound one.
//!
//! The replacement is first made completely in the same folder, and from the moment it has its name there
//! (`octo.db-ready-<stamp>`) the replacement is certain: the next process to open the home, this or a later
//! one, first moves the damaged database and its logs away (`octo.db-damaged-<stamp>`), then the new one into
//! place. Each step is one rename, and the existing files determine the next step. Therefore a kill or a power
//! cut at any point leaves the damaged database or its replacement, never neither; only the person deletes the
//! damaged files.

use crate::{
    HomeClaim, OpenError, backup, claim, flush_folder,
    inspect::inspect,
    open::{self, with_suffix},
};
use octo_protocol::{ApiError, Millis};
use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// The separator of the database's name and the stamp in the name of a pending replacement.
const PENDING_INFIX: &str = "-ready-";
/// The separator of the database's name and the stamp in the name of a damaged database moved away.
const DAMAGED_INFIX: &str = "-damaged-";
/// The name suffixes of a database and its logs. The logs are first: SQLite would replay a log left alone into
/// the next database in the folder.
const DATABASE_SUFFIXES: [&str; 4] = ["-wal", "-shm", "-journal", ""];

/// How long the home may still be in use: the caller may just have tried another start.
const CLAIM_TIMEOUT: Duration = Duration::from_secs(2);

/// A backup of the database that can replace it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoundBackup {
    /// Its path.
    pub path: PathBuf,
    /// When it was made.
    pub at: Millis,
    /// The number of sessions in it, including those in the trash.
    pub sessions: u64,
}

/// The replacement for a damaged database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// A backup, by its path; see [`sound_backup`].
    Backup(PathBuf),
    /// A new, empty database.
    Empty,
}

/// Why the replacement failed. The database is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum ReplaceError {
    /// Another process works in the home.
    #[error("another process works in the home")]
    InUse,
    /// The database is not damaged.
    #[error("the database is not damaged")]
    Sound,
    /// The backup does not exist, or is damaged itself.
    #[error("{0} is no backup that can be used")]
    NoBackup(PathBuf),
    /// The home cannot be used at all.
    #[error(transparent)]
    Unusable(OpenError),
    /// The disk is full.
    #[error("{0} has no room")]
    NoRoom(PathBuf),
    /// A system call failed.
    #[error("{path}: {error}")]
    Failed {
        /// The file being read or written.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

impl ReplaceError {
    fn from_io(path: &Path) -> impl Fn(io::Error) -> Self {
        move |error| match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoRoom(path.to_owned()),
            _ => Self::Failed { path: path.to_owned(), error },
        }
    }
}

impl From<ReplaceError> for ApiError {
    fn from(error: ReplaceError) -> Self {
        match error {
            ReplaceError::InUse => Self::new("home.change_in_use"),
            ReplaceError::Sound => Self::new("store.not_damaged"),
            ReplaceError::NoBackup(path) => Self::new("store.no_backup").arg("path", path.display()),
            ReplaceError::Unusable(error) => error.into(),
            ReplaceError::NoRoom(path) => Self::new("home.no_room").arg("path", path.display()).retryable(),
            ReplaceError::Failed { path, error } => {
                Self::new("home.change_failed").arg("path", path.display()).detail(error).retryable()
            }
        }
    }
}

/// Returns the newest backup that is sound and not from a newer Octo. Reads each through, which takes about a
/// second for 500 MB.
pub fn sound_backup(home: &Path) -> Option<SoundBackup> {
    backup::newest_first(home).find_map(|(path, time)| match inspect(&path) {
        Ok(found) => Some(SoundBackup { path, at: time.cast_signed(), sessions: found.sessions }),
        Err(error) => {
            tracing::warn!(%error, "a backup cannot be used");
            None
        }
    })
}

/// Returns whether a home contains a database, or a pending replacement.
pub fn has_database(home: &Path) -> bool {
    home.join("octo.db").is_file() || matches!(pending_replacement(home), Ok(Some(_)))
}

/// Returns whether a home still contains a damaged database that was moved away.
pub fn has_moved_damaged_database(home: &Path) -> bool {
    stamped_files(home, DAMAGED_INFIX).is_ok_and(|mut found| found.next().is_some())
}

/// Moves a damaged database away and puts another in its place. Returns the new path of the damaged one.
/// `stamp` names it; equal stamps are made unique.
///
/// # Errors
///
/// See [`ReplaceError`]; the home is unchanged.
pub fn replace_damaged(home: &Path, replacement: &Replacement, stamp: &str) -> Result<PathBuf, ReplaceError> {
    let _lock = claim_exclusively(home)?;
    match open::check_damage(home) {
        Ok(()) => return Err(ReplaceError::Sound),
        Err(OpenError::Damaged { .. }) => {}
        Err(error) => return Err(ReplaceError::Unusable(error)),
    }
    let new_file = home.join(open::NEW_DATABASE);
    open::remove_new(home).map_err(ReplaceError::from_io(&new_file))?;
    let ready = home.join(format!("octo.db{PENDING_INFIX}{}", unused_stamp(home, stamp)));
    let made = make(replacement, &new_file)
        .and_then(|()| fs::rename(&new_file, &ready).map_err(ReplaceError::from_io(&ready)))
        .inspect_err(|_| {
            // An incomplete one is worse than none; if this fails, the next start removes it.
            let _ = open::remove_new(home);
        });
    made?;
    sync(home);
    // From here on the replacement is certain: the next process to open the home completes a failed step.
    let damaged_copy = finish_replacement(home, &mut || {}).map_err(ReplaceError::from_io(home))?;
    damaged_copy.ok_or(ReplaceError::Failed { path: ready, error: io::ErrorKind::NotFound.into() })
}

/// Keeps other processes out of a home while the value lives.
fn claim_exclusively(home: &Path) -> Result<Option<File>, ReplaceError> {
    let started = Instant::now();
    loop {
        match claim(home).map_err(ReplaceError::from_io(home))? {
            HomeClaim::Alone(lock) => return Ok(lock),
            HomeClaim::Occupied if started.elapsed() >= CLAIM_TIMEOUT => return Err(ReplaceError::InUse),
            HomeClaim::Occupied => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// Makes the complete replacement and flushes it to disk.
fn make(replacement: &Replacement, target: &Path) -> Result<(), ReplaceError> {
    match replacement {
        Replacement::Empty => open::create_empty(target).map_err(ReplaceError::Unusable),
        Replacement::Backup(path) => {
            let unusable = |_| ReplaceError::NoBackup(path.clone());
            inspect(path).map_err(unusable)?;
            let failed = ReplaceError::from_io(target);
            open::create_private(target).map_err(&failed)?;
            let mut output = File::options().write(true).open(target).map_err(&failed)?;
            let mut source = File::open(path).map_err(ReplaceError::from_io(path))?;
            io::copy(&mut source, &mut output).and_then(|_| output.sync_all()).map_err(&failed)?;
            // Check that the written file is readable.
            inspect(target).map_err(unusable).map(drop)
        }
    }
}

/// Completes a pending replacement: moves the damaged database away and the other one into place. Returns the
/// path of the damaged one, or `None` if no replacement is pending. The caller must be alone with the home.
/// Calls `watch` after every change on disk.
pub(crate) fn finish_replacement(home: &Path, watch: &mut dyn FnMut()) -> io::Result<Option<PathBuf>> {
    let Some((ready, stamp)) = pending_replacement(home)? else { return Ok(None) };
    let database = home.join("octo.db");
    let damaged_copy = home.join(format!("octo.db{DAMAGED_INFIX}{stamp}"));
    for part in DATABASE_SUFFIXES {
        let (source, target) = (with_suffix(&database, part), with_suffix(&damaged_copy, part));
        if source.symlink_metadata().is_ok() {
            fs::rename(&source, &target)?;
            watch();
        }
    }
    open::remove(&open::damage_marker(&database))?;
    fs::rename(ready, &database)?;
    watch();
    sync(home);
    tracing::warn!(damaged_copy = %damaged_copy.display(), "a damaged database was set aside and another put in its place");
    Ok(Some(damaged_copy))
}

/// Returns the pending replacement of the database, with its stamp. Of several, the first by name, followed by
/// the others.
fn pending_replacement(home: &Path) -> io::Result<Option<(PathBuf, String)>> {
    Ok(stamped_files(home, PENDING_INFIX)?.min())
}

/// Returns the files in a home named after the database and a word, with their stamps.
fn stamped_files(home: &Path, infix: &'static str) -> io::Result<impl Iterator<Item = (PathBuf, String)>> {
    Ok(fs::read_dir(home)?.flatten().filter_map(move |entry| {
        let name = entry.file_name().into_string().ok()?;
        let stamp = name.strip_prefix("octo.db")?.strip_prefix(infix)?.to_owned();
        Some((entry.path(), stamp))
    }))
}

/// Returns a stamp that no moved database uses yet.
fn unused_stamp(home: &Path, stamp: &str) -> String {
    let is_free = |stamp: &String| {
        let damaged_copy = home.join(format!("octo.db{DAMAGED_INFIX}{stamp}"));
        DATABASE_SUFFIXES.iter().all(|part| with_suffix(&damaged_copy, part).symlink_metadata().is_err())
    };
    let numbered = (2..).map(|number: u32| format!("{stamp}.{number}"));
    std::iter::once(stamp.to_owned()).chain(numbered).find(is_free).unwrap_or_else(|| stamp.to_owned())
}

/// A rename is durable only once its folder is flushed. Some file systems do not support that.
fn sync(folder: &Path) {
    if let Err(error) = flush_folder(folder) {
        tracing::debug!(%error, "names in the home are not known to be written out");
    }
}

#[cfg(test)]
mod tests;
