//! Inspection of a home before anything opens it: whether a process uses it, and the contents of a copy.

use crate::{
    Holder, HolderState, OpenError, Reader, StoreError,
    lease::{self, holder},
    open, schema,
};
use octo_protocol::Millis;
use rusqlite::{Connection, OpenFlags};
use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

/// The contents of a copied database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyContents {
    /// The version of its schema.
    pub schema: u32,
    /// The number of sessions, including those in the trash.
    pub sessions: u64,
    /// The time of the last activity; `None` if there was none.
    pub newest: Option<Millis>,
}

/// The result of claiming a home.
#[derive(Debug)]
pub enum HomeClaim {
    /// No process uses it, and none starts to while this value lives. Contains `None` if the file system has no
    /// locks, or the home does not exist.
    Alone(Option<File>),
    /// Another process uses it.
    Occupied,
}

/// Reads through the database of a copy without writing any file next to it: it may be on a read-only disk.
///
/// # Errors
///
/// [`OpenError::Newer`], [`OpenError::Damaged`], and [`OpenError::Unavailable`] if it cannot be read.
pub fn inspect(file: &Path) -> Result<CopyContents, OpenError> {
    let damaged = |detail: String| OpenError::Damaged { path: file.to_owned(), backup: None, detail };
    let unavailable =
        |error: io::Error| OpenError::Unavailable { path: file.to_owned(), detail: error.to_string() };
    let log = open::with_suffix(file, "-wal");
    if log.symlink_metadata().is_ok_and(|log| log.len() > 0) {
        return Err(damaged("its log octo.db-wal is beside it: it was copied while Octo ran".to_owned()));
    }
    open::check_header(file).map_err(unavailable)?.map_err(|detail| damaged(detail.to_owned()))?;
    let read = || -> rusqlite::Result<Result<CopyContents, OpenError>> {
        let connection = open_immutable(file)?;
        let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
        if application != schema::APPLICATION_ID {
            return Ok(Err(damaged("not Octo's database".to_owned())));
        }
        let (found, supported) = (open::schema_version(&connection)?, open::latest_version(schema::STEPS));
        if found > supported {
            return Ok(Err(OpenError::Newer {
                path: file.to_owned(),
                backup: None,
                found,
                known: supported,
            }));
        }
        if let Err(detail) = open::check_integrity(&connection)? {
            return Ok(Err(damaged(detail)));
        }
        let sessions: i64 = connection.query_row("SELECT count(*) FROM sessions", [], |row| row.get(0))?;
        let newest = connection.query_row("SELECT max(at) FROM events", [], |row| row.get(0))?;
        Ok(Ok(CopyContents { schema: found, sessions: sessions.unsigned_abs(), newest }))
    };
    read().unwrap_or_else(|error| Err(damaged(error.to_string())))
}

/// Claims a home for this process alone, as long as the lock lives. A living process's lease in its database
/// counts too: some file systems have no locks.
///
/// # Errors
///
/// System errors, if the lock file cannot be opened.
pub fn claim(home: &Path) -> io::Result<HomeClaim> {
    if !home.is_dir() {
        return Ok(HomeClaim::Alone(None));
    }
    let path = home.join("octo.lock");
    let file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)?;
    let lock = match file.try_lock() {
        Ok(()) => Some(file),
        Err(TryLockError::WouldBlock) => return Ok(HomeClaim::Occupied),
        Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => None,
        Err(TryLockError::Error(error)) => return Err(error),
    };
    // No process works in a database that cannot be read, and it may be the one to replace.
    let holders = open::read_only(&home.join("octo.db")).map(|connection| holders(&connection));
    let lives = holders.is_ok_and(|holders| {
        holders
            .iter()
            .any(|holder| holder.process != std::process::id() && lease::probe(holder) == HolderState::Alive)
    });
    Ok(if lives { HomeClaim::Occupied } else { HomeClaim::Alone(lock) })
}

impl Reader<'_> {
    /// Returns all holders of a lease on a session or on the schedule, dead or alive.
    ///
    /// # Errors
    ///
    /// None today: unreadable leases are skipped.
    pub fn holders(&self) -> Result<Vec<Holder>, StoreError> {
        Ok(holders(self.connection))
    }
}

/// Tables that do not exist yet name no holders.
fn holders(connection: &Connection) -> Vec<Holder> {
    let mut found = Vec::new();
    for table in ["leases", "schedule_lease"] {
        let Ok(mut rows) = connection.prepare(&format!("SELECT process, started, boot, token FROM {table}"))
        else {
            continue;
        };
        if let Ok(rows) = rows.query_map([], holder) {
            found.extend(rows.filter_map(Result::ok));
        }
    }
    found
}

/// Opens the file as immutable, which requires neither a log nor a writable folder.
fn open_immutable(file: &Path) -> rusqlite::Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(file_uri(file), flags)?;
    connection.pragma_update(None, "trusted_schema", "OFF")?;
    Ok(connection)
}

/// Formats a file path as SQLite's URI. Characters with a meaning in a URI are percent-encoded.
fn file_uri(file: &Path) -> PathBuf {
    let path = file.to_string_lossy();
    #[cfg(windows)]
    let path = format!("/{}", path.trim_start_matches(r"\\?\").replace('\\', "/"));
    let mut text = String::from("file:");
    for character in path.chars() {
        match character {
            '%' => text.push_str("%25"),
            '?' => text.push_str("%3f"),
            '#' => text.push_str("%23"),
            other => text.push(other),
        }
    }
    text.push_str("?immutable=1");
    PathBuf::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;
    use std::fs;

    fn copied(folder: &Path) -> PathBuf {
        let home = octo_testkit::test_folder();
        let store = Store::open(home.path()).unwrap();
        let file = folder.join("octo.db");
        let file_copy = file.clone();
        store.read_blocking(move |reader| reader.copy_to(&file_copy)).unwrap();
        store.close();
        file
    }

    #[test]
    fn inspecting_a_copy_leaves_no_files() {
        let folder = octo_testkit::test_folder();
        let odd_folder = folder.path().join("100% of it? #1");
        fs::create_dir(&odd_folder).unwrap();
        let file = copied(&odd_folder);
        let found = inspect(&file).unwrap();
        assert_eq!((found.schema, found.sessions), (open::latest_version(schema::STEPS), 0));
        assert_eq!(fs::read_dir(&odd_folder).unwrap().count(), 1);
    }

    #[test]
    fn unusable_copies_are_distinguished() {
        let folder = octo_testkit::test_folder();
        let file = copied(folder.path());
        let intact = fs::read(&file).unwrap();
        Connection::open(&file).unwrap().pragma_update(None, "user_version", 999).unwrap();
        assert!(matches!(inspect(&file), Err(OpenError::Newer { found: 999, .. })));
        for bytes in
            [&intact[..intact.len() / 2 / 4096 * 4096], b"SQLite format 3\0", b"a letter home, longer", b""]
        {
            fs::write(&file, bytes).unwrap();
            assert!(matches!(inspect(&file), Err(OpenError::Damaged { .. })), "{} bytes", bytes.len());
        }
        fs::write(&file, &intact).unwrap();
        fs::write(folder.path().join("octo.db-wal"), "frames").unwrap();
        assert!(matches!(inspect(&file), Err(OpenError::Damaged { .. })), "copied while Octo ran");
        assert!(matches!(inspect(&folder.path().join("gone")), Err(OpenError::Unavailable { .. })));
    }

    #[test]
    fn a_home_in_use_is_not_claimed() {
        let home = octo_testkit::test_folder();
        let store = Store::open(home.path()).unwrap();
        assert!(matches!(claim(home.path()).unwrap(), HomeClaim::Occupied));
        store.close();
        drop(store);
        let first_claim = claim(home.path()).unwrap();
        assert!(matches!(first_claim, HomeClaim::Alone(Some(_))));
        assert!(matches!(claim(home.path()).unwrap(), HomeClaim::Occupied), "it is held");
        drop(first_claim);
        assert!(matches!(claim(&home.path().join("gone")).unwrap(), HomeClaim::Alone(None)));
    }

    #[cfg(unix)]
    #[test]
    fn a_living_process_with_a_lease_keeps_a_home() {
        use std::process::{Command, Stdio};
        let home = octo_testkit::test_folder();
        let store = Store::open(home.path()).unwrap();
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        // The start time is unknown here, so the process id alone proves that it is alive.
        let lease = Holder { process: child.id(), started: 0, ..Holder::current() };
        let other_lease = lease.clone();
        store.write_blocking(move |tx| tx.take_schedule_lease(&other_lease, lease::probe)).unwrap();
        assert_eq!(store.read_blocking(|reader| reader.holders()).unwrap(), [lease]);
        store.close();
        drop(store);
        assert!(matches!(claim(home.path()).unwrap(), HomeClaim::Occupied));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(matches!(claim(home.path()).unwrap(), HomeClaim::Alone(Some(_))));
    }
}
