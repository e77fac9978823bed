//! What an Octo of November 2026 stored, as today's reads it and writes it again: not a byte may differ.
//!
//! The log `tests/golden/v1-all.jsonl` has every kind of event with every variant, optional field and list within. The
//! home `tests/fixtures/home` has a row in every table. Both were written once by the ignored tests of `write`, and are
//! never written again: what they hold is in people's files.

mod copy;
mod dump;
mod write;

use octo_protocol::{Envelope, SessionId, SettingsSnapshot, StoredTopic, Topic};
use octo_store::Store;
use octo_testkit::{Wire, check_names, restore_database};
use rusqlite::Connection;
use serde_json::Value;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::LazyLock,
};
use tempfile::TempDir;

static LOG: LazyLock<String> = LazyLock::new(|| {
    octo_testkit::golden_text(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1-all.jsonl"))
});

/// The database of the golden home, as the commands that make it.
fn database() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/home/octo.sql")
}

/// A copy of the golden home's database, as it was written.
fn golden_home() -> (TempDir, String) {
    let home = crate::home();
    let text = octo_testkit::golden_text(&database());
    restore_database(&text, &home.path().join("octo.db"));
    (home, text)
}

#[test]
fn every_event_is_read_and_written_again_byte_for_byte() {
    for line in LOG.lines() {
        let read: Envelope = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(serde_json::to_string(&read).unwrap(), line);
    }
}

#[test]
fn the_log_has_every_kind_of_event_with_every_variant_within() {
    let values: Vec<Value> = LOG.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut missing = Wire::new().with::<Envelope>("event").missing(&values);
    // What no event has: a topic without events, and what is only written where it is set.
    let topics = [
        StoredTopic::Session { id: SessionId::new() },
        StoredTopic::Sessions,
        StoredTopic::Settings,
        StoredTopic::Trash,
    ];
    let topics = topics.map(|topic| serde_json::to_value(topic).unwrap());
    let without = Wire::new().with::<Topic>("topic").missing(&topics);
    let unwritten = |path: &String| path.ends_with(".undone false") || path == "CommandNetwork:open";
    missing.retain(|path| !without.contains(path) && !unwritten(path));
    assert_eq!(missing, Vec::<String>::new(), "add events with these to the log");
    let kinds: BTreeSet<&str> = values.iter().filter_map(|value| value["event"]["type"].as_str()).collect();
    assert!(kinds.len() >= 31, "{kinds:?}");
}

#[test]
fn every_table_of_the_golden_home_has_a_row() {
    let (home, _) = golden_home();
    let file = Connection::open(home.path().join("octo.db")).unwrap();
    let tables = dump::tables(&file);
    assert!(tables.len() > 40, "{tables:?}");
    for table in tables {
        let rows: i64 =
            file.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert!(rows > 0, "{table} is empty");
    }
}

#[test]
fn opening_the_golden_home_changes_no_row() {
    let (home, text) = golden_home();
    Store::open(home.path()).unwrap().close();
    let file = Connection::open(home.path().join("octo.db")).unwrap();
    for (row, current) in dump::rows(&text).zip(dump::rows_now(&text, &file)) {
        assert_eq!(current, row);
    }
    assert_eq!(dump::rows(&text).count(), dump::rows_now(&text, &file).count());
}

#[test]
fn the_golden_home_is_sound_and_its_words_are_found() {
    let (home, _) = golden_home();
    let store = Store::open(home.path()).unwrap();
    let health = store.read_blocking(|reader| reader.session_count()).unwrap();
    assert!(health > 3);
    let found = store.read_blocking(|reader| reader.search("heron", &Default::default(), 10)).unwrap();
    assert!(!found.is_empty());
    let (titled, _) = store.read_blocking(|reader| reader.sessions("golden", 0, 10)).unwrap();
    assert!(!titled.is_empty());
}

#[test]
fn the_events_of_the_golden_home_are_read_and_written_again_byte_for_byte() {
    let (home, _) = golden_home();
    let file = Connection::open(home.path().join("octo.db")).unwrap();
    let mut read = file.prepare("SELECT event_json FROM events ORDER BY key").unwrap();
    let stored: BTreeSet<String> =
        read.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    drop(read);
    drop(file);
    let store = Store::open(home.path()).unwrap();
    let (sessions, _) = store.read_blocking(|reader| reader.sessions("", 0, 100)).unwrap();
    let mut topics: Vec<StoredTopic> =
        sessions.iter().map(|info| StoredTopic::Session { id: info.id }).collect();
    topics.extend([StoredTopic::Sessions, StoredTopic::Settings, StoredTopic::Trash]);
    let mut kinds = BTreeSet::new();
    for topic in topics {
        for envelope in store.read_blocking(move |reader| reader.events_since(&topic, 0, 10_000)).unwrap() {
            let text = serde_json::to_string(&envelope.event).unwrap();
            assert!(stored.contains(&text), "stored otherwise: {text}");
            let event: Value = serde_json::from_str(&text).unwrap();
            kinds.insert(event["type"].as_str().unwrap().to_owned());
        }
    }
    assert!(kinds.len() >= 31, "{kinds:?}");
}

#[test]
fn the_settings_of_the_golden_home_are_read_and_written_again_byte_for_byte() {
    let (home, _) = golden_home();
    let file = Connection::open(home.path().join("octo.db")).unwrap();
    let stored: String = file.query_row("SELECT settings_json FROM settings", [], |row| row.get(0)).unwrap();
    let models: Vec<String> = file
        .prepare("SELECT entry_json FROM models ORDER BY key")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let store = Store::open(home.path()).unwrap();
    let state = store.read_blocking(|reader| reader.settings_state()).unwrap();
    assert_eq!(serde_json::to_string(&state.settings).unwrap(), stored);
    let read: Vec<String> = state.models.iter().map(|model| serde_json::to_string(model).unwrap()).collect();
    assert_eq!(read, models);
    // Every setting is there, so that none is taken for what it is by default.
    let snapshot = SettingsSnapshot {
        settings: state.settings,
        models: state.models,
        keychain: octo_protocol::KeychainState::Available,
    };
    let fields = serde_json::to_value(&snapshot).unwrap()["settings"].as_object().unwrap().len();
    let rewritten: Value = serde_json::from_str(&stored).unwrap();
    assert_eq!(rewritten.as_object().unwrap().len(), fields);
}

/// In every home there is; a later step of the schema may add to them.
#[test]
fn the_names_of_tables_columns_and_steps() {
    let home = crate::home();
    Store::open(home.path()).unwrap().close();
    let file = Connection::open(home.path().join("octo.db")).unwrap();
    let mut names = Vec::new();
    for table in dump::tables(&file) {
        let columns = dump::texts(
            &file,
            &format!(
                "SELECT name || ' ' || type || CASE WHEN pk > 0 THEN ' key' ELSE '' END
                 FROM pragma_table_info('{table}')"
            ),
        );
        names.extend(columns.into_iter().map(|column| format!("{table}.{column}")));
    }
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/frozen-names.txt");
    check_names(&list, "tables", &names);
    let mut steps: Vec<String> = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    steps.sort();
    check_names(&list, "steps of the schema", &steps);
}
