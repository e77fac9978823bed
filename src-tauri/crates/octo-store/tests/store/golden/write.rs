//! What wrote the golden log and the golden home. Both tests are ignored: they are run by hand, for a new version of
//! stored events or a database that an earlier Octo has not written, and never over a golden file that was released.

mod fill;

use super::dump;
use crate::{create, emit, sample};
use octo_protocol::*;
use octo_store::*;
use octo_testkit::Wire;
use rusqlite::Connection;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::{fs, path::Path};

/// Texts that must mean something where they stand, by the field's name.
const TEXTS: &[(&str, &str)] = &[
    ("profile", "coding"),
    ("default_profile", "general"),
    ("blob", "abababababababababababababababababababababababababababababababab"),
];

/// Every reason why a file's content was not kept.
const UNSAVED: &[&str] = &[
    "too_large",
    "budget",
    "unreadable",
    "special",
    "outside",
    "version_control",
    "dependencies",
    "build_output",
    "cache",
    "octo_home",
    "forgotten",
];

const START: Millis = 1_790_000_000_000;

fn made<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}"))
}

/// The topic an event is of.
fn topic(event: &Value, session: &str) -> Value {
    match event["type"].as_str().unwrap() {
        "session_listed" | "session_removed" => json!({ "type": "sessions" }),
        "settings_changed" => json!({ "type": "settings" }),
        "trash_changed" => json!({ "type": "trash" }),
        _ => json!({ "type": "session", "id": session }),
    }
}

#[test]
#[ignore = "writes the golden log of this version of events; it is never written over"]
fn the_golden_log() {
    let session = "01a2006a99bc75c38d7f63a9966e4b9d";
    let mut lines = String::new();
    for (index, event) in Wire::new().with::<Event>("event").examples(TEXTS).into_iter().enumerate() {
        let seq = index + 1;
        let envelope = json!({
            "topic": topic(&event, session), "seq": seq, "at": START + 1_000 * seq as i64, "v": 1, "event": event
        });
        let read: Envelope = made(envelope);
        lines += &serde_json::to_string(&read).unwrap();
        lines.push('\n');
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1-all.jsonl");
    fs::write(path, lines).unwrap();
}

#[tokio::test]
#[ignore = "writes the golden home's database; it is never written over"]
async fn the_golden_home() {
    let home = crate::home();
    let store = Store::open(home.path()).unwrap();
    let log: Vec<Envelope> = super::LOG.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let session = head("Golden: the heron \"at\" dawn 苍鹭");
    create(&store, &session).await;
    fill::conversation(&store, &session).await;
    fill::time_machine(&store, session.id).await;
    fill::others(&store, &session).await;
    fill::library(&store, session.id).await;
    fill::schedule(&store, session.id).await;
    fill::chats(&store, session.id).await;
    fill::settings(&store, &log).await;
    let all_events = head("Golden: all events");
    create(&store, &all_events).await;
    store.close();
    let file = Connection::open(home.path().join("octo.db")).unwrap();
    log_rows(&file, all_events.id, &log);
    let path = super::database();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, dump::dump(&file)).unwrap();
}

fn head(title: &str) -> SessionInfo {
    SessionInfo {
        effort: Some(Effort::High),
        folder: "/home/me/project".to_owned(),
        read_at: Some(START),
        created_at: START,
        updated_at: START + 5,
        ..sample::head(title)
    }
}

/// The log's events of a session, as rows of a session that has no other; and one of what is listed.
fn log_rows(file: &Connection, session: SessionId, log: &[Envelope]) {
    let key: i64 = file
        .query_row("SELECT key FROM sessions WHERE id = ?1", [session.to_string()], |row| row.get(0))
        .unwrap();
    for (table, topic) in [(key, "session"), (0, "sessions"), (-9, "trash"), (-1, "settings")] {
        let last_key: i64 = file
            .query_row(
                "SELECT coalesce(max(key), ?1) FROM events WHERE key BETWEEN ?1 AND ?1 + 0xffffffff",
                [table << 32],
                |row| row.get(0),
            )
            .unwrap();
        let of_topic = log
            .iter()
            .filter(|envelope| serde_json::to_value(envelope.topic).unwrap()["type"].as_str() == Some(topic));
        for (key, envelope) in (last_key + 1..).zip(of_topic) {
            let event = serde_json::to_string(&envelope.event).unwrap();
            file.execute(
                "INSERT INTO events (key, at, v, event_json) VALUES (?1, ?2, ?3, ?4)",
                (key, envelope.at, envelope.v, event),
            )
            .unwrap();
        }
    }
}

/// A part of the log's first event of a kind that has it.
fn log_value(kind: &str, pointer: &str) -> Value {
    super::LOG
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|envelope| envelope["event"]["type"] == kind)
        .find_map(|envelope| envelope["event"].pointer(pointer).filter(|found| !found.is_null()).cloned())
        .unwrap_or_else(|| panic!("no {pointer} in any {kind}"))
}

/// The first value in the log that a member of this name has.
fn log_member(name: &str) -> Value {
    fn find(value: &Value, name: &str) -> Option<Value> {
        match value {
            Value::Object(fields) => fields
                .get(name)
                .filter(|found| !found.is_null())
                .cloned()
                .or_else(|| fields.values().find_map(|inner| find(inner, name))),
            Value::Array(items) => items.iter().find_map(|inner| find(inner, name)),
            _ => None,
        }
    }
    let mut lines = super::LOG.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.find_map(|line| find(&line, name)).unwrap_or_else(|| panic!("no {name}"))
}
