//! Steps of the schema, and the backups before them.

use super::*;
use crate::{BackupOutcome, Store};
use octo_protocol::{Event, StoredTopic};
use rusqlite::params;

const TODAY: usize = schema::STEPS.len();

/// Today's steps, and hypothetical steps of a later Octo.
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

fn newest(home: &Path) -> Option<PathBuf> {
    backup::newest_first(home).next().map(|(path, _)| path)
}

fn home_of_today() -> tempfile::TempDir {
    let home = octo_testkit::test_folder();
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
        assert_eq!(schema_version(&connection).unwrap() as usize, newest);
        let events: i64 = connection.query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap();
        assert_eq!(events, 1);
    }
    let mut names: Vec<String> = fs::read_dir(home.path().join("backups"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let versions: Vec<usize> =
        names.iter().map(|name| name.split('-').nth(1).unwrap().parse().unwrap()).collect();
    assert_eq!(versions, [TODAY + 1, TODAY + 2, TODAY + 3]);

    let error = open(home.path()).err().unwrap();
    let OpenError::Newer { found, known, backup, .. } = error else { panic!("{error}") };
    assert_eq!((found as usize, known as usize, backup), (TODAY + 4, TODAY, None), "all are newer");
    let error = open_with(home.path(), &later[..TODAY + 2]).err().unwrap();
    let OpenError::Newer { backup: Some(backup), .. } = error else { panic!("{error}") };
    let name = backup.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with(&format!("octo-{}-", TODAY + 2)), "the newest it can use: {name}");
}

#[test]
fn a_backup_made_by_a_clock_that_is_behind_is_the_newest_all_the_same() {
    let home = home_of_today();
    let folder = home.path().join("backups");
    fs::create_dir(&folder).unwrap();
    for number in 1..=3 {
        fs::write(folder.join(format!("octo-1-900000000000{number}.db")), "").unwrap();
    }
    drop(open_with(home.path(), &later()[..=TODAY]).unwrap());
    let newest = newest(home.path()).unwrap();
    assert_eq!(newest.file_name().unwrap().to_str(), Some(&*format!("octo-{TODAY}-9000000000004.db")));
    assert_eq!(fs::read_dir(folder).unwrap().count(), 3);
}

#[tokio::test]
async fn a_backup_is_a_whole_database_of_the_schema_before() {
    let home = home_of_today();
    drop(open_with(home.path(), &later()[..=TODAY]).unwrap());
    let backup = newest(home.path()).unwrap();
    let restored = octo_testkit::test_folder();
    fs::copy(backup, restored.path().join("octo.db")).unwrap();
    let store = Store::open(restored.path()).unwrap();
    let events = store.read(|reader| reader.events_since(&StoredTopic::Sessions, 0, 9)).await.unwrap();
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
    assert_eq!(schema_version(&connection).unwrap() as usize, TODAY);
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'two'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(tables, 0);
    assert!(newest(home.path()).is_some());
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
fn a_file_open_elsewhere_is_not_migrated() {
    let home = home_of_today();
    let older = open(home.path()).unwrap();
    let error = open_with(home.path(), later()).err().unwrap();
    assert!(matches!(error, OpenError::Unavailable { .. }), "{error}");
    assert_eq!(schema_version(&older.1).unwrap() as usize, TODAY);
    drop(older);
    assert!(open_with(home.path(), later()).is_ok());
}

#[test]
fn a_file_without_room_for_a_backup_is_not_migrated() {
    let home = home_of_today();
    // A file in place of the folder: no backup can be made there, whichever user runs this.
    fs::write(home.path().join("backups"), "in the way").unwrap();
    let error = open_with(home.path(), later()).err().unwrap();
    assert!(matches!(error, OpenError::Unavailable { .. }), "{error}");
    assert_eq!(schema_version(&open(home.path()).unwrap().1).unwrap() as usize, TODAY);
}

#[tokio::test]
async fn data_of_the_first_version_survives_all_migrations() {
    let home = octo_testkit::test_folder();
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

/// A home as the first Octo left it: a session with a draft, a note and a ledger entry.
fn store_as_the_first_octo(home: &Path) {
    let (_home, older) = open_with(home, &schema::STEPS[..1]).unwrap();
    older.execute_batch(
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

const DAY: i64 = 24 * 60 * 60 * 1000;

#[test]
fn a_backup_is_made_once_a_day_and_the_last_two_are_kept_beside_those_from_before_updates() {
    let home = home_of_today();
    let backups = home.path().join("backups");
    fs::create_dir(&backups).unwrap();
    for name in ["octo-1-1500000000000.db", "octo-2-1600000000000.db"] {
        fs::write(backups.join(name), "").unwrap();
    }
    let store = Store::open(home.path()).unwrap();
    let now = crate::tx::now();
    assert_eq!(store.back_up(now).unwrap(), BackupOutcome::Made);
    assert_eq!(store.back_up(now + DAY / 2).unwrap(), BackupOutcome::NotDue);
    for day in 1..=3 {
        assert_eq!(store.back_up(now + day * (DAY + 1)).unwrap(), BackupOutcome::Made);
    }
    let mut names: Vec<String> = fs::read_dir(&backups)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names.len(), 4, "{names:?}");
    for older in ["octo-1-1500000000000.db", "octo-2-1600000000000.db"] {
        assert!(names.contains(&older.to_owned()), "an older Octo can go back to it: {names:?}");
    }
    // A clock that was a year ahead is right again: once a day, as before.
    assert_eq!(store.back_up(now + 365 * DAY).unwrap(), BackupOutcome::Made);
    assert_eq!(store.back_up(now + 5 * DAY).unwrap(), BackupOutcome::Made);
    assert_eq!(store.back_up(now + 5 * DAY + DAY / 2).unwrap(), BackupOutcome::NotDue);
    let dated = newest(home.path()).unwrap();
    assert!(dated.to_string_lossy().ends_with(&format!("-{}.db", now + 5 * DAY)), "{}", dated.display());
    // A clock that is a year behind does not prevent it.
    assert_eq!(store.back_up(now - 365 * DAY).unwrap(), BackupOutcome::Made);
    let made = newest(home.path()).unwrap();
    assert_eq!(crate::inspect(&made).unwrap().schema as usize, TODAY);
    store.close();
    assert!(matches!(store.back_up(now + 9 * DAY), Err(crate::StoreError::Closed)));
}

#[test]
fn a_damaged_database_replaces_no_backup_and_is_marked() {
    let home = home_of_today();
    let store = Store::open(home.path()).unwrap();
    let now = crate::tx::now();
    store.back_up(now).unwrap();
    store.close();
    drop(store);
    let intact = newest(home.path()).unwrap();
    // Too large for a start to read it through.
    let raw = Connection::open(home.path().join("octo.db")).unwrap();
    raw.execute_batch("CREATE TABLE filler (b BLOB); INSERT INTO filler VALUES (zeroblob(66 << 20));")
        .unwrap();
    raw.close().unwrap();
    let file = home.path().join("octo.db");
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 4096].fill(0xee);
    fs::write(&file, bytes).unwrap();
    let store = Store::open(home.path()).unwrap();
    let error = store.back_up(now + 2 * DAY).unwrap_err();
    assert!(matches!(error, crate::StoreError::Damaged(_)), "{error}");
    store.close();
    assert_eq!(newest(home.path()).unwrap(), intact);
    assert_eq!(fs::read_dir(home.path().join("backups")).unwrap().count(), 1);
    assert!(
        matches!(open(home.path()), Err(OpenError::Damaged { backup: Some(backup), .. }) if backup == intact)
    );
}
