//! Opening the file: creating it, checking it, bringing it to this Octo's schema.
//!
//! The rules: a file that exists is never reset and never overwritten; whoever changes its schema is
//! alone with it and has made a backup first; a new file appears whole or not at all.

use crate::{
    OpenError, backup,
    error::{Class, class},
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

/// How long a statement waits for another process's write. Ours take milliseconds; a checkpoint of a
/// large log may take seconds on a slow disk.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Up to this size a file is read through at every start (about 0.1 s); above it only when it was not
/// closed properly, is about to be migrated, or is suspected. Damage elsewhere shows as
/// [`crate::StoreError::Damaged`] when it is met, and the file is suspected from then on.
const CHECK_ALWAYS: u64 = 64 << 20;

/// How much the write-ahead log may keep on disk after a checkpoint, in bytes.
const LOG_LIMIT: i64 = 16 << 20;

/// The home as far as the database is concerned. Holding one keeps others from changing the schema.
pub(crate) struct Home {
    folder: PathBuf,
    /// Locked shared while the file is open; none where the file system knows no locks.
    lock: Option<File>,
}

/// Whether other processes have the file open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Company {
    Alone,
    Others,
}

impl Home {
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.join("octo.db")
    }

    /// Damage was met: whoever opens the file next reads it through.
    pub(crate) fn suspect(&self) {
        let mark = suspicion(&self.file());
        if mark.exists() {
            return;
        }
        match private(&mark) {
            Ok(()) => tracing::error!("the database is damaged; the next start reads it through"),
            Err(error) => {
                tracing::warn!(%error, "the damage of the database is not marked for the next start")
            }
        }
    }

    /// Whether no other process has the file open, as of now. Where the file system knows no locks nobody can tell, and
    /// it is taken to be so.
    pub(crate) fn is_alone(&self) -> bool {
        let Some(lock) = &self.lock else { return true };
        let alone = lock.unlock().is_ok() && lock.try_lock().is_ok();
        // Shared again, whatever was found; another process may have come in between.
        let shared = lock.unlock().is_ok() && lock.lock_shared().is_ok();
        alone && shared
    }

    pub(crate) fn unavailable(&self, error: impl Display) -> OpenError {
        OpenError::Unavailable { path: self.folder.clone(), detail: error.to_string() }
    }
}

pub(crate) fn open(home: &Path) -> Result<(Home, Connection), OpenError> {
    open_with(home, schema::STEPS)
}

pub(crate) fn open_with(home: &Path, steps: &'static [M<'static>]) -> Result<(Home, Connection), OpenError> {
    fs::create_dir_all(home).map_err(|error| unavailable(home, error))?;
    let (lock, company) = lock(home)?;
    if company == Company::Alone {
        tidy(home).map_err(|error| unavailable(home, error))?;
    }
    let connection = find(home, steps, company)?;
    let lock = match lock {
        Some(lock) => Some(share(home, lock)?),
        None => None,
    };
    // A newer Octo may have slipped in while the lock changed hands.
    let file = home.join("octo.db");
    let (found, known) = (version(&connection).map_err(|error| failed(home, &file, &error))?, known(steps));
    if found != known {
        return Err(newer(home, &file, found, known));
    }
    Ok((Home { folder: home.to_owned(), lock }, connection))
}

/// Looks whether the database is damaged, as [`open`] would; for whoever holds the home alone. One that is not is
/// brought to this Octo's schema, as by any start.
pub(crate) fn find_damage(home: &Path) -> Result<(), OpenError> {
    find(home, schema::STEPS, Company::Alone).map(drop)
}

/// The database, made where there is none, examined and of this Octo's schema.
fn find(home: &Path, steps: &'static [M<'static>], company: Company) -> Result<Connection, OpenError> {
    let file = home.join("octo.db");
    let exists = file.try_exists().map_err(|error| unavailable(&file, error))?;
    if !exists {
        create(home, &file, steps)?;
    }
    examine(home, &file, steps, company)
}

/// Finishes what a process that was killed left unfinished in the home, and takes away what it had only begun. For
/// whoever is alone with it.
fn tidy(home: &Path) -> std::io::Result<()> {
    replace::finish(home, &mut || {})?;
    remove_new(home)?;
    backup::drop_unfinished(home);
    Ok(())
}

/// Locks `octo.lock`: exclusively when nobody else has the home open, else shared, after whoever is
/// just opening it has finished.
fn lock(home: &Path) -> Result<(Option<File>, Company), OpenError> {
    let path = home.join("octo.lock");
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&path)
        .map_err(|error| unavailable(&path, error))?;
    match file.try_lock() {
        Ok(()) => Ok((Some(file), Company::Alone)),
        Err(TryLockError::WouldBlock) => match file.lock_shared() {
            Ok(()) => Ok((Some(file), Company::Others)),
            Err(error) => Err(unavailable(&path, error)),
        },
        // A file system without locks: SQLite's own still keep every transaction whole.
        Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {
            Ok((None, Company::Alone))
        }
        Err(TryLockError::Error(error)) => Err(unavailable(&path, error)),
    }
}

/// Turns an exclusive lock into a shared one. Another may slip in between.
fn share(home: &Path, lock: File) -> Result<File, OpenError> {
    let path = home.join("octo.lock");
    lock.unlock().map_err(|error| unavailable(&path, error))?;
    lock.lock_shared().map_err(|error| unavailable(&path, error))?;
    Ok(lock)
}

/// Makes a new database beside its place and moves it there whole, so that a crash on the way leaves
/// either nothing or a good file, and an empty file is always a damaged one.
fn create(home: &Path, file: &Path, steps: &'static [M<'static>]) -> Result<(), OpenError> {
    let log = with_suffix(file, "-wal");
    if fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
        // A log without its database would be poured into the new one.
        return Err(damaged(home, file, "octo.db is gone, but its log octo.db-wal is there"));
    }
    let new = home.join(NEW);
    remove_new(home).map_err(|error| unavailable(&new, error))?;
    make(&new, steps).and_then(|()| fs::rename(&new, file).map_err(|error| unavailable(file, error)))
}

/// What a database is called until it is whole.
pub(crate) const NEW: &str = "octo.db.new";

/// Takes away a database that was not finished.
pub(crate) fn remove_new(home: &Path) -> std::io::Result<()> {
    let new = home.join(NEW);
    ["", "-journal", "-wal", "-shm"].iter().try_for_each(|end| remove(&with_suffix(&new, end)))
}

/// Makes a database of this Octo's schema with nothing in it, and writes it out.
pub(crate) fn make_new(new: &Path) -> Result<(), OpenError> {
    make(new, schema::STEPS)
}

fn make(new: &Path, steps: &'static [M<'static>]) -> Result<(), OpenError> {
    let made = (|| -> Result<(), String> {
        private(new).map_err(|error| error.to_string())?;
        let mut connection = Connection::open(new).map_err(|error| error.to_string())?;
        schema::migrations(steps).to_latest(&mut connection).map_err(|error| error.to_string())?;
        connection.close().map_err(|(_, error)| error.to_string())?;
        flush_file(new).map_err(|error| error.to_string())
    })();
    made.map_err(|error| unavailable(new, error))
}

fn examine(
    home: &Path,
    file: &Path,
    steps: &'static [M<'static>],
    company: Company,
) -> Result<Connection, OpenError> {
    let size = fs::metadata(file).map_err(|error| unavailable(file, error))?.len();
    check_header(file)
        .map_err(|error| unavailable(file, error))?
        .map_err(|detail| damaged(home, file, detail))?;
    close_to_others(file);
    // A log that holds something was left by an Octo that did not close (or by one that still runs).
    let unclean = fs::metadata(with_suffix(file, "-wal")).is_ok_and(|log| log.len() > 0);

    let fail = |error: rusqlite::Error| failed(home, file, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(file, flags).map_err(fail)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(fail)?;
    // Until the file is known to be good, closing it must not pour the log into it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(fail)?;

    let application: i32 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(fail)?;
    if application != schema::APPLICATION_ID {
        return Err(damaged(home, file, "not Octo's database"));
    }
    let known = known(steps);
    let found = version(&connection).map_err(fail)?;
    if found > known {
        return Err(newer(home, file, found, known));
    }
    let migrate = found < known;
    let mark = suspicion(file);
    if mark.exists() {
        check_whole(&connection).map_err(fail)?.map_err(|detail| damaged(home, file, detail))?;
        if let Err(error) = remove(&mark) {
            tracing::warn!(%error, "the database is suspected without need");
        }
    } else if company == Company::Alone && (migrate || unclean || size <= CHECK_ALWAYS) {
        check(&connection).map_err(fail)?.map_err(|detail| damaged(home, file, detail))?;
    }
    if migrate {
        if company == Company::Others {
            return Err(unavailable(file, "an older Octo has it open"));
        }
        backup::make(home, &connection, found).map_err(|error| unavailable(home, error))?;
        // Foreign keys are off by default in a fresh connection, as a step that rebuilds a table needs.
        schema::migrations(steps).to_latest(&mut connection).map_err(|error| match error {
            rusqlite_migration::Error::RusqliteError { err, .. } => failed(home, file, &err),
            error => unavailable(file, error),
        })?;
    }
    prepare(&connection).map_err(fail)?;
    Ok(connection)
}

/// Makes an empty file for a database that only the person may read. SQLite gives its logs the same mode.
pub(crate) fn private(file: &Path) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file).map(drop)
}

/// Closes a database to others that an earlier Octo left open to them. The folder it is in keeps them out as well, but
/// the person may have made that, or opened it.
fn close_to_others(file: &Path) {
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

/// Whether a file begins as a database does. The inner error says why not.
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

/// The newest schema version these steps lead to.
pub(crate) fn known(steps: &[M<'_>]) -> u32 {
    u32::try_from(steps.len()).unwrap_or(u32::MAX)
}

/// The schema version of the file.
pub(crate) fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Reads the file through. The inner error says what is wrong with it.
pub(crate) fn check(connection: &Connection) -> rusqlite::Result<Result<(), String>> {
    let verdict: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    Ok(if verdict == "ok" { Ok(()) } else { Err(verdict) })
}

/// [`check`], and whether the indexes say what the tables do: several times slower.
fn check_whole(connection: &Connection) -> rusqlite::Result<Result<(), String>> {
    let verdict: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    Ok(if verdict == "ok" { Ok(()) } else { Err(verdict) })
}

/// What stands beside a file in which damage was met. Its name goes with the file's, for who moves that away.
pub(crate) fn suspicion(file: &Path) -> PathBuf {
    with_suffix(file, "-suspect")
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode != "wal" {
        // Slower and with readers waiting for the writer, but right: some network file systems know no WAL.
        tracing::warn!(mode, "the database runs without a write-ahead log");
    }
    // NORMAL syncs at checkpoints, not at commits. A commit survives the death of the process (kill -9
    // included) either way, since the kernel has it. A power cut may take back the last commits, whole
    // ones and in order, and never damages the file. FULL would add a disk sync, 1 to 10 ms, to every
    // stored block and call, which is more than the harness's whole budget per turn; and what it would
    // save is of little worth, since the files and commands the agent worked on lose the same moments.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", "ON")?;
    // No view or trigger of a tampered file may call functions with side effects.
    connection.pragma_update(None, "trusted_schema", "OFF")?;
    connection.pragma_update_and_check(None, "journal_size_limit", LOG_LIMIT, |_| Ok(()))?;
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

fn failed(home: &Path, file: &Path, error: &rusqlite::Error) -> OpenError {
    match class(error) {
        Class::Damaged => damaged(home, file, error),
        Class::Full | Class::Busy | Class::Other => unavailable(file, error),
    }
}

fn damaged(home: &Path, file: &Path, detail: impl Display) -> OpenError {
    // One that cannot be used itself is no help.
    let backup = replace::sound_backup(home).map(|backup| backup.place);
    OpenError::Damaged { path: file.to_owned(), backup, detail: detail.to_string() }
}

fn newer(home: &Path, path: &Path, found: u32, known: u32) -> OpenError {
    OpenError::Newer { path: path.to_owned(), backup: backup::newest_of(home, known), found, known }
}

fn unavailable(path: &Path, error: impl Display) -> OpenError {
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
