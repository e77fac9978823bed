//! Damaged databases, their replacements, and kills in between.

use super::*;
use crate::Store;
use octo_protocol::{Event, StoredTopic, TrashTotals};
use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
};
use tempfile::TempDir;

const STAMP: &str = "2026-11-23-141502";

/// Returns all direct files of a home's folder, except for the lock.
fn files(home: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(home).unwrap().map(|entry| entry.unwrap());
    entries
        .filter(|entry| entry.file_type().unwrap().is_file() && entry.file_name() != "octo.lock")
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect()
}

fn changed() -> Event {
    Event::TrashChanged { totals: TrashTotals::default() }
}

/// Adds this many events to a home's database.
fn store(home: &Path, events: usize) {
    let store = Store::open(home).unwrap();
    for _ in 0..events {
        store.write_blocking(|tx| tx.emit(StoredTopic::Trash, changed()).map(drop)).unwrap();
    }
    store.close();
}

fn stored(home: &Path) -> usize {
    let store = Store::open(home).unwrap();
    let events = store.read_blocking(|reader| reader.events_since(&StoredTopic::Trash, 0, 100)).unwrap();
    store.close();
    events.len()
}

/// Makes a home with a damaged database of seven events, its log and the damage marker, and backups of three
/// and of five events. Returns the files that must be kept.
fn damaged() -> (TempDir, Vec<(&'static str, Vec<u8>)>) {
    let home = octo_testkit::test_folder();
    let backups = home.path().join("backups");
    fs::create_dir(&backups).unwrap();
    for (events, name) in [(3, "octo-1-1700000000000.db"), (2, "octo-1-1800000000000.db")] {
        store(home.path(), events);
        fs::copy(home.path().join("octo.db"), backups.join(name)).unwrap();
    }
    store(home.path(), 2);
    let mut bytes = fs::read(home.path().join("octo.db")).unwrap();
    bytes[4096..2 * 4096].fill(0xee);
    let parts = [("", bytes), ("-wal", b"frames".to_vec()), ("-shm", b"index".to_vec())];
    for (end, bytes) in &parts {
        fs::write(home.path().join(format!("octo.db{end}")), bytes).unwrap();
    }
    fs::write(home.path().join("octo.db-suspect"), "").unwrap();
    let error = Store::open(home.path()).err().unwrap();
    assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
    (home, parts.to_vec())
}

fn newest(home: &Path) -> Replacement {
    Replacement::Backup(sound_backup(home).unwrap().path)
}

/// Asserts that the damaged files are kept byte for byte, and that no other file is left.
fn assert_kept(home: &Path, parts: &[(&str, Vec<u8>)]) {
    let found = files(home);
    for (end, bytes) in parts {
        // The next process to open the log rebuilds another process's index of it.
        if *end != "-shm" {
            assert!(found[&format!("octo.db-damaged-{STAMP}{end}")] == *bytes, "{end}");
        }
    }
    let other_names: Vec<&String> =
        found.keys().filter(|name| !name.starts_with("octo.db-damaged-")).collect();
    assert_eq!(other_names, ["octo.db"]);
}

#[test]
fn the_newest_backup_takes_the_place_and_the_damaged_database_is_kept() {
    let (home, parts) = damaged();
    let home = home.path();
    let backup = sound_backup(home).unwrap();
    assert_eq!((backup.at, backup.sessions), (1_800_000_000_000, 0));
    assert!(!has_moved_damaged_database(home));
    let damaged_copy = replace_damaged(home, &newest(home), STAMP).unwrap();
    assert_eq!(damaged_copy, home.join(format!("octo.db-damaged-{STAMP}")));
    assert!(has_moved_damaged_database(home));
    assert_kept(home, &parts);
    assert_eq!(stored(home), 5);
    assert!(backup.path.is_file(), "the backup itself stays");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(home.join("octo.db")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn an_empty_one_takes_the_place_where_there_is_no_backup() {
    let (home, parts) = damaged();
    fs::remove_dir_all(home.path().join("backups")).unwrap();
    assert_eq!(sound_backup(home.path()), None);
    replace_damaged(home.path(), &Replacement::Empty, STAMP).unwrap();
    assert_kept(home.path(), &parts);
    assert_eq!(stored(home.path()), 0);
}

#[test]
fn a_log_whose_database_is_gone_is_set_aside_too() {
    let home = octo_testkit::test_folder();
    fs::write(home.path().join("octo.db-wal"), "frames").unwrap();
    replace_damaged(home.path(), &Replacement::Empty, STAMP).unwrap();
    assert_eq!(fs::read(home.path().join(format!("octo.db-damaged-{STAMP}-wal"))).unwrap(), b"frames");
    assert_eq!(stored(home.path()), 0);
}

#[test]
fn a_kill_at_any_moment_leaves_one_database_or_the_other() {
    let mut ends = 0;
    for end in 0.. {
        let (home, parts) = damaged();
        let home = home.path();
        // Up to here a kill leaves the state that `a_start_removes_unfinished_replacements` tests.
        fs::copy(newest_place(home), home.join(format!("octo.db-ready-{STAMP}"))).unwrap();
        let mut changes = 0;
        let killed = catch_unwind(AssertUnwindSafe(|| {
            finish_replacement(home, &mut || {
                assert!(changes < end, "killed");
                changes += 1;
            })
        }));
        assert!(has_database(home), "after {end} changes");
        assert_eq!(stored(home), 5, "after {end} changes");
        assert_kept(home, &parts);
        if killed.is_ok() {
            ends = end;
            break;
        }
    }
    assert_eq!(ends, 4, "the log, its index, the database, and the other one");
}

fn newest_place(home: &Path) -> PathBuf {
    sound_backup(home).unwrap().path
}

#[test]
fn a_start_removes_unfinished_replacements() {
    let (home, parts) = damaged();
    let home = home.path();
    let backup = newest_place(home);
    fs::write(home.join("octo.db.new"), &fs::read(&backup).unwrap()[..5_000]).unwrap();
    fs::write(home.join("octo.db.new-journal"), "half").unwrap();
    fs::write(home.join("backups/octo-1-1900000000000.part"), "half").unwrap();
    fs::write(home.join("backups/notes.part"), "the person's").unwrap();
    assert!(matches!(Store::open(home), Err(OpenError::Damaged { .. })), "nothing was decided");
    let mut remaining: Vec<String> = files(home).into_keys().collect();
    remaining.sort();
    assert_eq!(remaining, ["octo.db", "octo.db-shm", "octo.db-suspect", "octo.db-wal"]);
    for (end, bytes) in parts.iter().filter(|(end, _)| *end != "-shm") {
        assert!(fs::read(home.join(format!("octo.db{end}"))).unwrap() == *bytes, "{end}");
    }
    assert_eq!(fs::read(home.join("backups/notes.part")).unwrap(), b"the person's");
    assert!(!home.join("backups/octo-1-1900000000000.part").exists());
    assert!(backup.is_file());
}

#[test]
fn a_damaged_backup_is_skipped_and_refused() {
    let (home, parts) = damaged();
    let home = home.path();
    let damaged_backup = newest_place(home);
    let mut bytes = fs::read(&damaged_backup).unwrap();
    bytes[4096..2 * 4096].fill(0xee);
    fs::write(&damaged_backup, bytes).unwrap();
    let intact = sound_backup(home).unwrap();
    assert_eq!(intact.at, 1_700_000_000_000);
    for path in [damaged_backup, home.join("backups/octo-1-1.db"), home.join("octo.db")] {
        let error = replace_damaged(home, &Replacement::Backup(path.clone()), STAMP).unwrap_err();
        assert!(matches!(&error, ReplaceError::NoBackup(named) if *named == path), "{error}");
    }
    let remaining: Vec<String> = files(home).into_keys().collect();
    assert_eq!(remaining, ["octo.db", "octo.db-shm", "octo.db-suspect", "octo.db-wal"]);
    replace_damaged(home, &Replacement::Backup(intact.path), STAMP).unwrap();
    assert_kept(home, &parts);
    assert_eq!(stored(home), 3);
}

#[test]
fn sound_and_used_databases_are_not_replaced() {
    let home = octo_testkit::test_folder();
    store(home.path(), 4);
    let error = replace_damaged(home.path(), &Replacement::Empty, STAMP).unwrap_err();
    assert!(matches!(error, ReplaceError::Sound), "{error}");
    assert_eq!(stored(home.path()), 4);

    // Damage met while Octo is running, in a home that is in use.
    let running = Store::open(home.path()).unwrap();
    let error = replace_damaged(home.path(), &Replacement::Empty, STAMP).unwrap_err();
    assert!(matches!(error, ReplaceError::InUse), "{error}");
    running.close();
    drop(running);
    assert_eq!(stored(home.path()), 4);
    assert!(!has_moved_damaged_database(home.path()));
}

#[test]
fn two_databases_moved_aside_with_one_stamp_are_both_kept() {
    let (home, _) = damaged();
    let home = home.path();
    let first_copy = replace_damaged(home, &newest(home), STAMP).unwrap();
    let bytes = fs::read(&first_copy).unwrap();
    fs::write(home.join("octo.db"), "a letter home, no database").unwrap();
    let second = replace_damaged(home, &newest(home), STAMP).unwrap();
    assert_ne!(first_copy, second);
    assert!(fs::read(first_copy).unwrap() == bytes);
    assert_eq!(fs::read(second).unwrap(), b"a letter home, no database");
    assert_eq!(stored(home), 5);
}
