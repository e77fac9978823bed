//! Opening the file: creating it, checking it, migrating it to this Octo's schema.
//!
//! The rules: an existing file is never reset and never overwritten; the process that changes its schema is
//! alone with it and has made a backup first; a new file appears complete or not at all.

use crate::{
    OpenError, backup,
    error::{SqliteFailure, class},
    flush_file, replace, schema,
};
use rusqlite::{Connection, OpenFlags, config::DbConfig};
use rusqlite_migration::M;
use std::{
    fmt::Display,
    fs::{self, File, OpenOptions, TryLockError},
    io::{ErrorKind, Read},
    path::{Path, PathBuf},
    time::Duration,
};

/// The maximum time a statement waits for another process's write. Ours take milliseconds; a checkpoint of a
/// large log may take seconds on a slow disk.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Up to this size every start reads the file through (about 0.1 s); above it only if it was not closed
/// properly, is about to be migrated, or is suspected of damage. Reads elsewhere report damage as
/// [`crate::StoreError::Damaged`] when they meet it, and the file is suspected from then on.
const ALWAYS_CHECKED_BYTES: u64 = 64 << 20;

/// The maximum size of the write-ahead log on disk after a checkpoint, in bytes.
const MAX_LOG_BYTES: i64 = 16 << 20;

/// The home, for the database's purposes. A live value keeps other processes from changing the schema.
pub(crate) struct HomeLock {
    folder: PathBuf,
    /// A shared lock while the file is open; `None` if the file system has no locks.
    lock: Option<File>,
}

/// Whether other processes have the file open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exclusivity {
    Alone,
    Others,
}

impl HomeLock {
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.join("octo.db")
    }

    /// Marks the file as suspected of damage: the next process to open it reads it through.
    pub(crate) fn mark_suspect(&self) {
        let marker = damage_marker(&self.file());
        if marker.exists() {
            return;
        }
        match create_private(&marker) {
            Ok(()) => tracing::error!("the database is damaged; the next start reads it through"),
            Err(error) => {
                tracing::warn!(%error, "the damage of the database is not marked for the next start")
            }
        }
    }

    /// Returns whether no other process has the file open, as of now. On a file system without locks this
    /// cannot be known, and the answer is yes.
    pub(crate) fn is_alone(&self) -> bool {
        let Some(lock) = &self.lock else { return true };
        let is_only = lock.unlock().is_ok() && lock.try_lock().is_ok();
        // Take the shared lock again in any case; another process may have intervened.
        let is_shared = lock.unlock().is_ok() && lock.lock_shared().is_ok();
        is_only && is_shared
    }

    pub(crate) fn unavailable(&self, error: impl Display) -> OpenError {
        OpenError::Unavailable { path: self.folder.clone(), detail: error.to_string() }
    }
}

pub(crate) fn open(home: &Path) -> Result<(HomeLock, Connection), OpenError> {
    open_with(home, schema::STEPS)
}

pub(crate) fn open_with(
    home: &Path,
    steps: &'static [M<'static>],
) -> Result<(HomeLock, Connection), OpenError> {
    fs::create_dir_all(home).map_err(|error| unavailable_error(home, error))?;
    let (lock, exclusivity) = lock_home(home)?;
    if exclusivity == Exclusivity::Alone {
        finish_interrupted_work(home).map_err(|error| unavailable_error(home, error))?;
    }
    let connection = open_or_create(home, steps, exclusivity)?;
    let lock = match lock {
        Some(lock) => Some(downgrade_lock(home, lock)?),
        None => None,
    };
    // A newer Octo may have intervened while the lock changed hands.
    let file = home.join("octo.db");
    let (found, supported) = (
        schema_version(&connection).map_err(|error| open_error(home, &file, &error))?,
        latest_version(steps),
    );
    if found != supported {
        return Err(newer_error(home, &file, found, supported));
    }
    Ok((HomeLock { folder: home.to_owned(), lock }, connection))
}

/// Checks whether the database is damaged, as [`open`] would; the caller must be alone with the home. A sound
/// database is migrated to this Octo's schema, as by any start.
pub(crate) fn check_damage(home: &Path) -> Result<(), OpenError> {
    open_or_create(home, schema::STEPS, Exclusivity::Alone).map(drop)
}

/// Opens the database, created if missing, checked and migrated to this Octo's schema.
fn open_or_create(
    home: &Path,
    steps: &'static [M<'static>],
    exclusivity: Exclusivity,
) -> Result<Connection, OpenError> {
    let file = home.join("octo.db");
    let exists = file.try_exists().map_err(|error| unavailable_error(&file, error))?;
    if !exists {
        create(home, &file, steps)?;
    }
    examine(home, &file, steps, exclusivity)
}

/// Completes or removes the unfinished work of a killed process in the home. The caller must be alone with it.
fn finish_interrupted_work(home: &Path) -> std::io::Result<()> {
    replace::finish_replacement(home, &mut || {})?;
    remove_new(home)?;
    backup::remove_unfinished(home);
    Ok(())
}

/// Locks `octo.lock`: exclusively if no other process has the home open, else shared, after a process that is
/// currently opening it has finished.
fn lock_home(home: &Path) -> Result<(Option<File>, Exclusivity), OpenError> {
    let path = home.join("octo.lock");
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&path)
        .map_err(|error| unavailable_error(&path, error))?;
    match file.try_lock() {
        Ok(()) => Ok((Some(file), Exclusivity::Alone)),
        Err(TryLockError::WouldBlock) => match file.lock_shared() {
            Ok(()) => Ok((Some(file), Exclusivity::Others)),
            Err(error) => Err(unavailable_error(&path, error)),
        },
        // A file system without locks: SQLite's own still keep every transaction atomic.
        Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {
            Ok((None, Exclusivity::Alone))
        }
        Err(TryLockError::Error(error)) => Err(unavailable_error(&path, error)),
    }
}

/// Turns an exclusive lock into a shared one. Another process may intervene.
fn downgrade_lock(home: &Path, lock: File) -> Result<File, OpenError> {
    let path = home.join("octo.lock");
    lock.unlock().map_err(|error| unavailable_error(&path, error))?;
    lock.lock_shared().map_err(|error| unavailable_error(&path, error))?;
    Ok(lock)
}

/// Makes a new database under a temporary name and moves it into place when complete: a crash leaves either
/// nothing or a good file, and an empty file is always a damaged one.
fn create(home: &Path, file: &Path, steps: &'static [M<'static>]) -> Result<(), OpenError> {
    let log = with_suffix(file, "-wal");
    if fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
        // SQLite would replay a log without its database into the new one.
        return Err(damaged_error(home, file, "octo.db is gone, but its log octo.db-wal is there"));
    }
    let new_file = home.join(NEW_DATABASE);
    remove_new(home).map_err(|error| unavailable_error(&new_file, error))?;
    make(&new_file, steps)
        .and_then(|()| fs::rename(&new_file, file).map_err(|error| unavailable_error(file, error)))
}

/// The name of an incomplete database.
pub(crate) const NEW_DATABASE: &str = "octo.db.new";

/// Removes an incomplete database.
pub(crate) fn remove_new(home: &Path) -> std::io::Result<()> {
    let new_file = home.join(NEW_DATABASE);
    ["", "-journal", "-wal", "-shm"].iter().try_for_each(|end| remove(&with_suffix(&new_file, end)))
}

/// Makes an empty database of this Octo's schema, and flushes it to disk.
pub(crate) fn create_empty(path: &Path) -> Result<(), OpenError> {
    make(path, schema::STEPS)
}

fn make(path: &Path, steps: &'static [M<'static>]) -> Result<(), OpenError> {
    let made = (|| -> Result<(), String> {
        create_private(path).map_err(|error| error.to_string())?;
        let mut connection = Connection::open(path).map_err(|error| error.to_string())?;
        schema::migrations(steps).to_latest(&mut connection).map_err(|error| error.to_string())?;
        connection.close().map_err(|(_, error)| error.to_string())?;
        flush_file(path).map_err(|error| error.to_string())
    })();
    made.map_err(|error| unavailable_error(path, error))
}

fn examine(
    home: &Path,
    file: &Path,
    steps: &'static [M<'static>],
    exclusivity: Exclusivity,
) -> Result<Connection, OpenError> {
    let size = fs::metadata(file).map_err(|error| unavailable_error(file, error))?.len();
    check_header(file)
        .map_err(|error| unavailable_error(file, error))?
        .map_err(|detail| damaged_error(home, file, detail))?;
    restrict_to_owner(file);
    // A log with content was left by an Octo that did not close the file (or is still running).
    let unclean = fs::metadata(with_suffix(file, "-wal")).is_ok_and(|log| log.len() > 0);

    let fail = |error: rusqlite::Error| open_error(home, file, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(file, flags).map_err(fail)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(fail)?;
    // Until the file is known to be good, closing it must not checkpoint the log into it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(fail)?;

    let application: i32 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(fail)?;
    if application != schema::APPLICATION_ID {
        return Err(damaged_error(home, file, "not Octo's database"));
    }
    let supported = latest_version(steps);
    let found = schema_version(&connection).map_err(fail)?;
    if found > supported {
        return Err(newer_error(home, file, found, supported));
    }
    let migrate = found < supported;
    let marker = damage_marker(file);
    if marker.exists() {
        check_integrity_and_indexes(&connection)
            .map_err(fail)?
            .map_err(|detail| damaged_error(home, file, detail))?;
        if let Err(error) = remove(&marker) {
            tracing::warn!(%error, "the database is suspected without need");
        }
    } else if exclusivity == Exclusivity::Alone && (migrate || unclean || size <= ALWAYS_CHECKED_BYTES) {
        check_integrity(&connection).map_err(fail)?.map_err(|detail| damaged_error(home, file, detail))?;
    }
    if migrate {
        if exclusivity == Exclusivity::Others {
            return Err(unavailable_error(file, "an older Octo has it open"));
        }
        backup::make(home, &connection, found).map_err(|error| unavailable_error(home, error))?;
        // Foreign keys are off by default in a fresh connection, as a step that rebuilds a table needs.
        schema::migrations(steps).to_latest(&mut connection).map_err(|error| match error {
            rusqlite_migration::Error::RusqliteError { err, .. } => open_error(home, file, &err),
            error => unavailable_error(file, error),
        })?;
    }
    prepare(&connection).map_err(fail)?;
    Ok(connection)
}

/// Creates an empty file for a database that only the person may read. SQLite gives its logs the same mode.
pub(crate) fn create_private(file: &Path) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file).map(drop)
}

/// Restricts a database that an earlier Octo left readable by others. Its folder protects it as well, but the
/// person may have created that, or opened it.
fn restrict_to_owner(file: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        for file in [file.to_owned(), with_suffix(file, "-wal"), with_suffix(file, "-shm")] {
            let Ok(mode) = fs::metadata(&file).map(|meta| meta.permissions().mode()) else { continue };
            if mode & 0o077 != 0
                && let Err(error) = fs::set_permissions(&file, fs::Permissions::from_mode(mode & 0o700))
            {
                tracing::warn!(path = %file.display(), %error, "others may read the database");
            }
        }
    }
    #[cfg(not(unix))]
    let _ = file;
}

/// Checks whether a file starts like a database. The inner error says why it does not.
pub(crate) fn check_header(file: &Path) -> std::io::Result<Result<(), &'static str>> {
    let mut header = [0; 16];
    let read = File::open(file).and_then(|mut file| file.read_exact(&mut header));
    match read {
        Ok(()) if &header == b"SQLite format 3\0" => Ok(Ok(())),
        Ok(()) => Ok(Err("not an SQLite file")),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(Err("too short to be a database")),
        Err(error) => Err(error),
    }
}

/// Returns the newest schema version of these steps.
pub(crate) fn latest_version(steps: &[M<'_>]) -> u32 {
    u32::try_from(steps.len()).unwrap_or(u32::MAX)
}

/// Returns the schema version of the file.
pub(crate) fn schema_version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Reads the file through. The inner error describes the damage.
pub(crate) fn check_integrity(connection: &Connection) -> rusqlite::Result<Result<(), String>> {
    let verdict: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    Ok(if verdict == "ok" { Ok(()) } else { Err(verdict) })
}

/// Runs [`check_integrity`], and compares the indexes with the tables: several times slower.
fn check_integrity_and_indexes(connection: &Connection) -> rusqlite::Result<Result<(), String>> {
    let verdict: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    Ok(if verdict == "ok" { Ok(()) } else { Err(verdict) })
}

/// Returns the path of the marker file for suspected damage. Its name extends the database's, for code that
/// moves both.
pub(crate) fn damage_marker(file: &Path) -> PathBuf {
    with_suffix(file, "-suspect")
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode != "wal" {
        // Slower, and readers wait for the writer, but correct: some network file systems do not support WAL.
        tracing::warn!(mode, "the database runs without a write-ahead log");
    }
    // NORMAL syncs at checkpoints, not at commits. A commit survives the death of the process (kill -9
    // included) either way, because the kernel has it. A power cut may lose the last commits, in whole and in
    // order, and never damages the file. FULL would add a disk sync, 1 to 10 ms, to every stored block and
    // call, which is more than the harness's whole budget per turn; it would save little, because the files and
    // commands the agent worked on lose the same moments.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", "ON")?;
    // Views and triggers of a tampered file must not call functions with side effects.
    connection.pragma_update(None, "trusted_schema", "OFF")?;
    connection.pragma_update_and_check(None, "journal_size_limit", MAX_LOG_BYTES, |_| Ok(()))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    Ok(())
}

pub(crate) fn read_only(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "query_only", "ON")?;
    connection.pragma_update(None, "trusted_schema", "OFF")?;
    Ok(connection)
}

fn open_error(home: &Path, file: &Path, error: &rusqlite::Error) -> OpenError {
    match class(error) {
        SqliteFailure::Damaged => damaged_error(home, file, error),
        SqliteFailure::Full | SqliteFailure::Busy | SqliteFailure::Other => unavailable_error(file, error),
    }
}

fn damaged_error(home: &Path, file: &Path, detail: impl Display) -> OpenError {
    // An unusable backup does not help.
    let backup = replace::sound_backup(home).map(|backup| backup.path);
    OpenError::Damaged { path: file.to_owned(), backup, detail: detail.to_string() }
}

fn newer_error(home: &Path, path: &Path, found: u32, supported: u32) -> OpenError {
    OpenError::Newer {
        path: path.to_owned(),
        backup: backup::newest_usable(home, supported),
        found,
        known: supported,
    }
}

fn unavailable_error(path: &Path, error: impl Display) -> OpenError {
    OpenError::Unavailable { path: path.to_owned(), detail: error.to_string() }
}

pub(crate) fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

pub(crate) fn remove(file: &Path) -> std::io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
