//! Opening: a new home, a home that cannot be used, a newer file, a damaged file.

use crate::{create, emit, home, sample};
use octo_protocol::*;
use octo_store::{OpenError, Store};
use std::{
    fs,
    path::{Path, PathBuf},
};

fn refused(home: &Path) -> OpenError {
    match Store::open(home) {
        Ok(_) => panic!("it opened"),
        Err(error) => error,
    }
}

/// A home with a closed database of a few hundred pages.
async fn filled() -> (tempfile::TempDir, PathBuf) {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    for n in 0..20 {
        let info = sample::head(&format!("session {n}"));
        create(&store, &info).await;
        let events = (0..40)
            .map(|m| {
                let text = format!(
                    "message {m} of {n}, with some words to fill a page: {}",
                    "lorem ipsum ".repeat(20)
                );
                Event::MessageAdded { message: sample::person(TurnId::new(), vec![sample::text(&text)]) }
            })
            .collect();
        emit(&store, info.id, events).await.unwrap();
    }
    store.close();
    let file = home.path().join("octo.db");
    assert!(fs::metadata(&file).unwrap().len() > 500_000);
    (home, file)
}

#[tokio::test]
async fn a_missing_home_is_created() {
    let home = home();
    let nested = home.path().join("a/b");
    let store = Store::open(&nested).unwrap();
    assert_eq!(store.read(|reader| reader.list_snapshot(1)).await.unwrap().total, 0);
    store.close();
    let mut files: Vec<String> = fs::read_dir(&nested)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, ["octo.db", "octo.lock"]);
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_person_may_read_the_database_its_log_and_its_copies() {
    use std::os::unix::fs::PermissionsExt as _;
    let (home, file) = filled().await;
    let mode = |file: &Path| fs::metadata(file).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&file), 0o600);
    // As an earlier Octo made it.
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let store = Store::open(home.path()).unwrap();
    create(&store, &sample::head("one more")).await;
    let log = home.path().join("octo.db-wal");
    let copy = home.path().join("copy.db");
    let path = copy.clone();
    store.read(move |reader| reader.copy_to(&path)).await.unwrap();
    for file in [&file, &log, &copy] {
        assert_eq!(mode(file), 0o600, "{}", file.display());
    }
    store.close();
}

#[test]
fn a_home_that_cannot_be_used_is_named() {
    let home = home();
    let file = home.path().join("file");
    fs::write(&file, "mine").unwrap();
    for place in [file.clone(), file.join("below")] {
        let error = refused(&place);
        assert!(matches!(&error, OpenError::Unavailable { path, .. } if *path == place), "{error}");
        let api = ApiError::from(error);
        assert_eq!((api.key.as_str(), api.retryable), ("store.unavailable", true));
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[tokio::test]
async fn a_file_from_a_newer_octo_is_left_alone() {
    let (home, file) = filled().await;
    let raw = rusqlite::Connection::open(&file).unwrap();
    raw.pragma_update(None, "user_version", 4_000).unwrap();
    raw.close().unwrap();
    let before = fs::read(&file).unwrap();
    let error = refused(home.path());
    assert!(matches!(error, OpenError::Newer { found: 4_000, known, .. } if known < 4_000), "{error}");
    assert_eq!(ApiError::from(error).key, "store.newer");
    assert_eq!(fs::read(&file).unwrap(), before);
    let backups = home.path().join("backups");
    assert!(!backups.exists());

    // The newest backup that is not from a newer Octo either.
    fs::create_dir(&backups).unwrap();
    for name in ["octo-1-1700000000000.db", "octo-2-1800000000000.db", "octo-3999-1900000000000.db"] {
        fs::write(backups.join(name), "").unwrap();
    }
    let api = ApiError::from(refused(home.path()));
    let usable = backups.join("octo-2-1800000000000.db");
    assert_eq!(
        (api.key.as_str(), api.args["backup"].as_str(), api.args["path"].as_str()),
        ("store.newer_backup", usable.to_str().unwrap(), file.to_str().unwrap())
    );
    assert_eq!(fs::read(&file).unwrap(), before);
}

/// Makes a file larger than the size checked in full at each start.
fn fill_up(file: &Path) {
    let raw = rusqlite::Connection::open(file).unwrap();
    raw.execute_batch("CREATE TABLE filler (bytes BLOB); INSERT INTO filler VALUES (zeroblob(66 << 20));")
        .unwrap();
    raw.close().unwrap();
}

#[tokio::test]
async fn damage_found_in_a_large_file_is_reported_at_the_next_start() {
    let (home, file) = filled().await;
    let small_file = fs::read(&file).unwrap();
    // The position of the last events, wherever the tables are.
    let needle = b"message_added";
    let event = small_file.windows(needle.len()).rposition(|bytes| bytes == needle).unwrap();
    let middle = event / 4096 * 4096;
    fill_up(&file);
    let intact = fs::read(&file).unwrap();
    let mut damaged = intact.clone();
    damaged[middle..middle + 4096].fill(0xee);
    fs::write(&file, &damaged).unwrap();
    let backups = home.path().join("backups");
    fs::create_dir(&backups).unwrap();
    let newest = backups.join("octo-1-1800000000000.db");
    fs::write(&newest, &small_file).unwrap();

    // A file this large is not checked in full while nothing suggests damage.
    let read_all = |reader: &octo_store::Reader<'_>| {
        for info in reader.list_snapshot(100)?.sessions {
            reader.events_since(&StoredTopic::Session { id: info.id }, 0, 1_000)?;
            reader.snapshot(info.id, 1_000)?;
        }
        Ok(())
    };
    let marker = home.path().join("octo.db-suspect");
    let store = Store::open(home.path()).unwrap();
    assert!(!marker.exists());
    let error = store.read(read_all).await.unwrap_err();
    assert_eq!(ApiError::from(error).key, "store.unreadable");
    store.close();
    for _ in 0..2 {
        let api = ApiError::from(refused(home.path()));
        assert_eq!(
            (api.key.as_str(), api.args["backup"].as_str()),
            ("store.damaged", newest.to_str().unwrap())
        );
        assert!(fs::read(&file).unwrap() == damaged, "the file was changed");
    }

    fs::write(&file, &intact).unwrap();
    let store = Store::open(home.path()).unwrap();
    assert!(!marker.exists(), "nothing was found");
    store.read(read_all).await.unwrap();
    store.close();
}

#[tokio::test]
async fn a_damaged_file_is_reported_and_left_unchanged() {
    let (home, file) = filled().await;
    let intact = fs::read(&file).unwrap();
    let garbage = |position: usize, length: usize| {
        let mut bytes = intact.clone();
        bytes[position..position + length]
            .iter_mut()
            .zip((0..251u8).cycle())
            .for_each(|(byte, value)| *byte = value ^ 0xa5);
        bytes
    };
    let page = 4096;
    let cases = [
        ("empty", Vec::new()),
        ("one byte", intact[..1].to_vec()),
        ("half a header", intact[..60].to_vec()),
        ("one page", intact[..page].to_vec()),
        ("half", intact[..intact.len() / 2 / page * page].to_vec()),
        ("cut inside a page", intact[..intact.len() / 2 + 7].to_vec()),
        ("last page missing", intact[..intact.len() - page].to_vec()),
        ("garbage header", garbage(0, 16)),
        ("garbage schema", garbage(100, page - 100)),
        ("garbage page 3", garbage(2 * page, page)),
        ("garbage in the middle", garbage(intact.len() / 2 / page * page, 4 * page)),
        ("garbage at the end", garbage(intact.len() - page, page)),
        ("text", b"This is no database, only a text of some length.".repeat(400)),
        ("zeroes", vec![0; intact.len()]),
    ];
    for (name, bytes) in cases {
        fs::write(&file, &bytes).unwrap();
        let error = refused(home.path());
        assert!(
            matches!(&error, OpenError::Damaged { path, backup: None, .. } if *path == file),
            "{name}: {error:?}"
        );
        assert_eq!(ApiError::from(error).key, "store.damaged_no_backup", "{name}");
        assert!(fs::read(&file).unwrap() == bytes, "{name}: the file was changed");
    }

    let backups = home.path().join("backups");
    fs::create_dir(&backups).unwrap();
    for (name, bytes) in [
        ("octo-1-1700000000000.db", &intact[..]),
        ("octo-1-1800000000000.db", &intact[..]),
        ("octo-1-1850000000000.db", &intact[..intact.len() / 2]),
        ("octo-4000-1860000000000.db", &intact[..0]),
        ("notes.txt", &intact[..0]),
    ] {
        fs::write(backups.join(name), bytes).unwrap();
    }
    let error = refused(home.path());
    let newest = backups.join("octo-1-1800000000000.db");
    assert!(
        matches!(&error, OpenError::Damaged { backup: Some(backup), .. } if *backup == newest),
        "{error:?}"
    );
    let api = ApiError::from(error);
    assert_eq!((api.key.as_str(), api.args["backup"].as_str()), ("store.damaged", newest.to_str().unwrap()));

    fs::write(&file, &intact).unwrap();
    let store = Store::open(home.path()).unwrap();
    assert_eq!(store.read(|reader| reader.list_snapshot(1)).await.unwrap().total, 20);
    store.close();
}

#[tokio::test]
async fn the_log_of_a_damaged_file_is_left_unchanged() {
    let (home, file) = filled().await;
    let store = Store::open(home.path()).unwrap();
    create(&store, &sample::head("only in the log")).await;
    let crashed = crate::home();
    let copies = ["octo.db", "octo.db-wal"].map(|name| crashed.path().join(name));
    fs::copy(&file, &copies[0]).unwrap();
    fs::copy(home.path().join("octo.db-wal"), &copies[1]).unwrap();
    store.close();
    let intact = copies.each_ref().map(|copy| fs::read(copy).unwrap());
    assert!(!intact[1].is_empty());

    let mut damaged = intact[0].clone();
    let middle = damaged.len() / 2 / 4096 * 4096;
    damaged[middle..middle + 8192].fill(0xee);
    fs::write(&copies[0], &damaged).unwrap();
    assert!(matches!(refused(crashed.path()), OpenError::Damaged { .. }));
    assert!(fs::read(&copies[0]).unwrap() == damaged && fs::read(&copies[1]).unwrap() == intact[1]);

    fs::write(&copies[0], &intact[0]).unwrap();
    let store = Store::open(crashed.path()).unwrap();
    assert_eq!(store.read(|reader| reader.list_snapshot(1)).await.unwrap().total, 21);
    store.close();
}

#[test]
fn a_database_of_another_program_is_not_ours() {
    let home = home();
    let file = home.path().join("octo.db");
    let raw = rusqlite::Connection::open(&file).unwrap();
    raw.execute_batch("CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('mine');").unwrap();
    raw.close().unwrap();
    let before = fs::read(&file).unwrap();
    assert!(matches!(refused(home.path()), OpenError::Damaged { .. }));
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn a_log_without_its_database_is_damage_and_an_unfinished_creation_is_not() {
    let home = home();
    fs::write(home.path().join("octo.db-wal"), "frames").unwrap();
    assert!(matches!(refused(home.path()), OpenError::Damaged { .. }));
    assert!(!home.path().join("octo.db").exists());
    fs::remove_file(home.path().join("octo.db-wal")).unwrap();

    fs::write(home.path().join("octo.db.new"), "half").unwrap();
    Store::open(home.path()).unwrap().close();
    assert!(!home.path().join("octo.db.new").exists());
}
