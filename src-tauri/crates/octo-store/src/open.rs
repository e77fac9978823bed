//! Opening the file: creating it, checking it, bringing it to this Octo's schema.
//!
//! The rules: a file that exists is never reset and never overwritten; whoever changes its schema is
//! alone with it and has made a backup first; a new file appears whole or not at all.

use crate::{
    OpenError, backup,
    error::{Class, class},
    schema,
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
/// closed properly or is about to be migrated. Damage elsewhere shows as [`crate::StoreError::Damaged`]
/// when it is met.
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
    pub(crate) fn file(&self) -> PathBuf {
        self.folder.join("octo.db")
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
    let file = home.join("octo.db");
    let exists = file.try_exists().map_err(|error| unavailable(&file, error))?;
    if !exists {
        create(home, &file, steps)?;
    }
    let connection = examine(home, &file, steps, company)?;
    let lock = match lock {
        Some(lock) => Some(share(home, lock)?),
        None => None,
    };
    // A newer Octo may have slipped in while the lock changed hands.
    let (found, known) = (version(&connection).map_err(|error| failed(home, &file, &error))?, known(steps));
    if found != known {
        return Err(OpenError::Newer { path: file, found, known });
    }
    Ok((Home { folder: home.to_owned(), lock }, connection))
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
    let new = home.join("octo.db.new");
    for leftover in
        [new.clone(), with_suffix(&new, "-journal"), with_suffix(&new, "-wal"), with_suffix(&new, "-shm")]
    {
        remove(&leftover).map_err(|error| unavailable(&leftover, error))?;
    }
    let made = (|| -> Result<(), String> {
        private(&new).map_err(|error| error.to_string())?;
        let mut connection = Connection::open(&new).map_err(|error| error.to_string())?;
        schema::migrations(steps).to_latest(&mut connection).map_err(|error| error.to_string())?;
        connection.close().map_err(|(_, error)| error.to_string())?;
        File::open(&new).and_then(|made| made.sync_all()).map_err(|error| error.to_string())?;
        fs::rename(&new, file).map_err(|error| error.to_string())
    })();
    made.map_err(|error| unavailable(file, error))
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
        return Err(OpenError::Newer { path: file.to_owned(), found, known });
    }
    let migrate = found < known;
    if company == Company::Alone && (migrate || unclean || size <= CHECK_ALWAYS) {
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
    OpenError::Damaged { path: file.to_owned(), backup: backup::newest(home), detail: detail.to_string() }
}

fn unavailable(path: &Path, error: impl Display) -> OpenError {
    OpenError::Unavailable { path: path.to_owned(), detail: error.to_string() }
}

pub(crate) fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn remove(file: &Path) -> std::io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;
    use octo_protocol::{Event, Topic};
    use rusqlite::params;

    const TODAY: usize = schema::STEPS.len();

    /// Today's steps, and those a later Octo would add.
    fn with_later(added: &[&'static str]) -> &'static [M<'static>] {
        let later = added.iter().map(|sql| M::up(sql));
        Box::leak(schema::STEPS.iter().cloned().chain(later).collect())
    }

    fn later() -> &'static [M<'static>] {
        with_later(&[
            "CREATE TABLE two (n INTEGER) STRICT; INSERT INTO two VALUES (2);",
            "CREATE TABLE three (n INTEGER) STRICT;",
            "CREATE TABLE four (n INTEGER) STRICT;",
            "CREATE TABLE five (n INTEGER) STRICT;",
        ])
    }

    fn home_of_today() -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        let (_home, connection) = open(home.path()).unwrap();
        let event = serde_json::to_string(&Event::RetryStarted).unwrap();
        connection
            .execute("INSERT INTO events (key, at, v, event_json) VALUES (1, 1, 1, ?1)", params![event])
            .unwrap();
        home
    }

    #[test]
    fn all_steps_run_and_leave_no_reference_open() {
        schema::migrations(schema::STEPS).validate().unwrap();
    }

    #[tokio::test]
    async fn a_file_is_backed_up_before_its_schema_changes_and_three_backups_are_kept() {
        let home = home_of_today();
        let later = later();
        for newest in TODAY + 1..=later.len() {
            let (_home, connection) = open_with(home.path(), &later[..newest]).unwrap();
            assert_eq!(version(&connection).unwrap() as usize, newest);
            let events: i64 =
                connection.query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap();
            assert_eq!(events, 1);
        }
        let mut kept: Vec<String> = fs::read_dir(home.path().join("backups"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        kept.sort();
        let versions: Vec<usize> =
            kept.iter().map(|name| name.split('-').nth(1).unwrap().parse().unwrap()).collect();
        assert_eq!(versions, [TODAY + 1, TODAY + 2, TODAY + 3]);

        let error = open(home.path()).err().unwrap();
        let OpenError::Newer { found, known, .. } = error else { panic!("{error}") };
        assert_eq!((found as usize, known as usize), (TODAY + 4, TODAY));
    }

    #[tokio::test]
    async fn a_backup_is_a_whole_database_of_the_schema_before() {
        let home = home_of_today();
        drop(open_with(home.path(), &later()[..=TODAY]).unwrap());
        let backup = backup::newest(home.path()).unwrap();
        let restored = tempfile::tempdir().unwrap();
        fs::copy(backup, restored.path().join("octo.db")).unwrap();
        let store = Store::open(restored.path()).unwrap();
        let events = store.read(|reader| reader.events_since(&Topic::Sessions, 0, 9)).await.unwrap();
        assert_eq!(events.len(), 1);
        store.close();
    }

    #[test]
    fn a_step_that_fails_changes_nothing() {
        let home = home_of_today();
        let broken = with_later(&["CREATE TABLE two (n INTEGER) STRICT; DROP TABLE nowhere;"]);
        let error = open_with(home.path(), broken).err().unwrap();
        assert!(matches!(error, OpenError::Unavailable { .. }), "{error}");
        let (_home, connection) = open(home.path()).unwrap();
        assert_eq!(version(&connection).unwrap() as usize, TODAY);
        let tables: i64 = connection
            .query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'two'", [], |row| row.get(0))
            .unwrap();
        assert_eq!(tables, 0);
        assert!(backup::newest(home.path()).is_some());
    }

    #[test]
    fn a_damaged_file_is_neither_backed_up_nor_migrated() {
        let home = home_of_today();
        let file = home.path().join("octo.db");
        let mut bytes = fs::read(&file).unwrap();
        let length = bytes.len();
        bytes.truncate(length / 2 / 4096 * 4096);
        fs::write(&file, &bytes).unwrap();
        let error = open_with(home.path(), later()).err().unwrap();
        assert!(matches!(error, OpenError::Damaged { backup: None, .. }), "{error}");
        assert!(fs::read(&file).unwrap() == bytes);
    }

    #[test]
    fn nobody_migrates_a_file_another_has_open() {
        let home = home_of_today();
        let older = open(home.path()).unwrap();
        let error = open_with(home.path(), later()).err().unwrap();
        assert!(matches!(error, OpenError::Unavailable { .. }), "{error}");
        assert_eq!(version(&older.1).unwrap() as usize, TODAY);
        drop(older);
        assert!(open_with(home.path(), later()).is_ok());
    }

    #[test]
    fn a_file_without_room_for_a_backup_is_not_migrated() {
        let home = home_of_today();
        // A file where the folder should be: no backup can be made, whoever runs this.
        fs::write(home.path().join("backups"), "in the way").unwrap();
        let error = open_with(home.path(), later()).err().unwrap();
        assert!(matches!(error, OpenError::Unavailable { .. }), "{error}");
        assert_eq!(version(&open(home.path()).unwrap().1).unwrap() as usize, TODAY);
    }

    #[tokio::test]
    async fn what_the_first_octo_stored_is_there_after_all_steps() {
        let home = tempfile::tempdir().unwrap();
        store_as_the_first_octo(home.path());
        let store = Store::open(home.path()).unwrap();
        let session = "019a0000000070008000000000000001".parse().unwrap();
        let snapshot = store.read(move |reader| reader.snapshot(session, 10)).await.unwrap().unwrap();
        assert_eq!(snapshot.draft.text, "half a \"thought\"");
        assert_eq!(snapshot.notes[0].note.key, "command.help");
        assert_eq!((snapshot.spending.calls, snapshot.spending.unpriced), (1, 1));
        let turn = "019a0000000070008000000000000003".parse().unwrap();
        let calls = store.read(move |reader| reader.calls_billed(turn)).await.unwrap();
        assert_eq!((calls[0].name.as_str(), calls[0].cost), ("model-1", None));
        assert_eq!(calls[0].usage.unwrap().total_input(), 6);
        store.close();
    }

    /// A home as the first Octo left it: a session with a draft, a note and a line of usage.
    fn store_as_the_first_octo(home: &Path) {
        let (_home, old) = open_with(home, &schema::STEPS[..1]).unwrap();
        old.execute_batch(
            r#"INSERT INTO prompts VALUES ('p', 'prompt'); INSERT INTO toolsets VALUES ('t', 1, '[]');
            INSERT INTO sessions (key, id, title, folder, profile, mode, source, pinned, status, created_at,
              updated_at, usage_input, usage_cache_read, usage_cache_write, usage_output, prompt, toolset)
            VALUES (1, '019a0000000070008000000000000001', 'old', '/w', 'general', 'ask', 'window', 0, 'idle', 1,
              2, 3, 0, 0, 4, 'p', 't');
            INSERT INTO drafts VALUES (1, 'half a "thought"');
            INSERT INTO events VALUES ((1 << 32) | 1, 5, 1,
              '{"type":"command_answered","note":{"key":"command.help","args":{},"detail":null,"retryable":false,"code":null}}');
            INSERT INTO models VALUES (1, '019a0000000070008000000000000002', '{"model":"model-1"}');
            INSERT INTO usage (session, turn, message, model, at, input, cache_read, cache_write, output)
            VALUES (1, '019a0000000070008000000000000003', '019a0000000070008000000000000004',
              '019a0000000070008000000000000002', 6, 3, 1, 2, 4);"#,
        )
        .unwrap();
    }
}
