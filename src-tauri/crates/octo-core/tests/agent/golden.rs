//! The home that an Octo of November 2026 left (`tests/fixtures/home`), as today's opens it: what clients are told of it,
//! and its files, written again byte for byte.

mod write;

use super::{rig::config, schedule::world::HandClock};
use octo_core::{Config, Octo, OpenTurnPolicy};
use octo_protocol::*;
use octo_testkit::{TempHome, check_golden, golden_text, restore_database};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, UNIX_EPOCH},
};

/// Shortly after the golden home was left.
const NOW: Millis = 1_790_003_600_000;

/// The files whose text the person or Octo wrote, by their places in the home.
const FILES: &[&str] =
    &["agents", "hooks.toml", "memories", "policy.toml", "presets.json", "skills", "tasks", "trash"];

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/home")
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn copy(from: &Path, target: &Path) {
    if from.is_dir() {
        fs::create_dir_all(target).unwrap();
        fs::read_dir(from)
            .unwrap()
            .flatten()
            .for_each(|entry| copy(&entry.path(), &target.join(entry.file_name())));
    } else {
        fs::copy(from, target).unwrap();
        // Lists go by the time of their files, and a checkout writes files in any order.
        let file = fs::File::options().write(true).open(target).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(1_790_000_000)).unwrap();
    }
}

/// A copy of the golden home, not opened.
fn golden_home() -> TempHome {
    let home = TempHome::new();
    restore_database(&golden_text(&fixture().join("octo.sql")), &home.octo().join("octo.db"));
    FILES.iter().filter(|name| fixture().join(name).exists()).for_each(|name| {
        copy(&fixture().join(name), &home.octo().join(name));
    });
    home
}

/// An Octo that goes on with nothing by itself, some time after the home was left.
async fn opened(home: &TempHome) -> Octo {
    let config = Config { open_turns: OpenTurnPolicy::WaitForUse, ..config(home) };
    Octo::start_by_clock(config, HandClock::at(NOW)).await.expect("the golden home opens")
}

async fn ask<C: TypedRequest>(octo: &Octo, home: &TempHome, call: C) -> String {
    let request: Request = call.into();
    let asked = serde_json::to_string(&request).unwrap();
    let reply = octo.request(request).await.unwrap_or_else(|error| panic!("{asked}: {error}"));
    let mut reply: Value = reply;
    strip(&mut reply);
    let text = format!("{asked}\n{}\n", serde_json::to_string_pretty(&reply).unwrap());
    text.replace(home.octo().to_str().unwrap(), "[octo]").replace(home.home().to_str().unwrap(), "[home]")
}

/// Takes out what is of this copy and of this machine: when its files were written, and its time zone.
fn strip(reply: &mut Value) {
    for memory in reply.get_mut("memories").and_then(Value::as_array_mut).into_iter().flatten() {
        memory["at"] = "[time]".into();
    }
    if let Some(zone) = reply.get_mut("zone") {
        *zone = "[zone]".into();
    }
}

/// The golden session.
async fn session(octo: &Octo) -> SessionId {
    let list = ListSessions { query: "heron".into(), filter: SessionFilter::default(), offset: 0, limit: 10 };
    octo.call(list).await.unwrap().sessions[0].id
}

#[tokio::test]
async fn clients_are_told_the_same_of_the_golden_home() {
    let home = golden_home();
    let octo = opened(&home).await;
    let session = session(&octo).await;
    let list = ListSessions { query: String::new(), filter: SessionFilter::default(), offset: 0, limit: 100 };
    let trash = ListTrash { query: String::new(), kind: None, project: None, offset: 0, limit: 100 };
    let all = [
        ask(&octo, &home, GetSettings {}).await,
        ask(&octo, &home, list).await,
        ask(&octo, &home, ListFolders {}).await,
        ask(&octo, &home, OpenSession { session }).await,
        ask(&octo, &home, GetDraft { session }).await,
        ask(&octo, &home, GetNewDraft {}).await,
        ask(&octo, &home, GetTaskTree { session }).await,
        ask(&octo, &home, ListTasks {}).await,
        ask(&octo, &home, ListRuns { task: None, after: None, limit: 100 }).await,
        ask(&octo, &home, trash).await,
        ask(&octo, &home, GetTrash {}).await,
        ask(&octo, &home, GetPolicy {}).await,
        ask(&octo, &home, ListGrants {}).await,
        ask(&octo, &home, ListProfiles {}).await,
        ask(&octo, &home, GetPersona {}).await,
        ask(&octo, &home, ListMemories { query: String::new() }).await,
        ask(&octo, &home, ListSuggestions {}).await,
        ask(&octo, &home, GetChats {}).await,
    ];
    check_golden(&golden("home-replies.txt"), &all.concat());
    octo.shutdown().await;
}

#[tokio::test]
async fn the_presets_of_the_golden_home_are_read() {
    let home = golden_home();
    let octo = opened(&home).await;
    let presets = octo.call(ListPresets {}).await.unwrap();
    let text = serde_json::to_string(&presets).unwrap();
    assert!(text.contains("\"Heron models\"") && text.contains("heron-large"), "{text}");
    octo.shutdown().await;
}

#[tokio::test]
async fn the_files_of_the_golden_home_are_written_again_byte_for_byte() {
    let home = golden_home();
    let octo = opened(&home).await;
    let before = texts(&home.octo());

    let tasks = octo.call(ListTasks {}).await.unwrap().tasks;
    assert!(tasks.len() >= 6);
    for card in tasks {
        let TaskContent::Plan { plan } = card.content else { panic!("{} is broken", card.file) };
        let path = home.octo().join("tasks").join(format!("{}.md", card.file));
        fs::remove_file(&path).unwrap();
        octo.call(SaveTask { task: None, plan, version: None }).await.unwrap();
        assert!(path.exists(), "{} is called otherwise", card.file);
    }
    for card in octo.call(ListMemories { query: String::new() }).await.unwrap().memories {
        let sheet = octo.call(GetMemory { file: card.file.clone() }).await.unwrap();
        fs::remove_file(home.octo().join("memories").join(&card.file)).unwrap();
        let save = SaveMemory {
            file: None,
            topic: card.topic,
            description: card.description,
            body: sheet.body,
            version: None,
        };
        assert_eq!(octo.call(save).await.unwrap().card.file, card.file);
    }
    for file in octo.call(GetPersona {}).await.unwrap().files {
        fs::remove_file(&file.path).unwrap();
        octo.call(SavePersona { kind: file.kind, text: file.text }).await.unwrap();
    }
    let after = texts(&home.octo());
    assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    for (path, text) in &before {
        assert_eq!(after.get(path), Some(text), "{path}");
    }
    octo.shutdown().await;
}

#[tokio::test]
async fn the_rules_of_the_golden_home_are_written_again_byte_for_byte() {
    let home = golden_home();
    let path = home.octo().join("policy.toml");
    fs::remove_file(&path).unwrap();
    let octo = opened(&home).await;
    write::policy(&octo).await;
    octo.shutdown().await;
    assert_eq!(fs::read_to_string(path).unwrap(), golden_text(&fixture().join("policy.toml")));
}

#[tokio::test]
async fn a_session_of_the_golden_home_is_exported_as_it_was_and_comes_back() {
    let home = golden_home();
    let octo = opened(&home).await;
    let session = session(&octo).await;
    let to = home.work().join("export.octo.json");
    let export = ExportSession { session, form: ExportForm::Json, to: to.display().to_string() };
    octo.call(export).await.unwrap();
    let version = format!("\"octo\": \"{}\"", env!("CARGO_PKG_VERSION"));
    let text = fs::read_to_string(&to).unwrap().replace(&version, "\"octo\": \"0.1.0\"");
    check_golden(&golden("export.octo.json"), &text);
    let source = golden("export.octo.json").display().to_string();
    let preview = octo.call(InspectSessionFile { from: source.clone() }).await.unwrap();
    let folder = home.work().display().to_string();
    let info = octo.call(ImportSession { from: source, folder }).await.unwrap();
    assert_eq!(info.title, preview.title);
    let result = octo.call(OpenSession { session: info.id }).await.unwrap();
    let words: Vec<String> = result.page.messages.iter().map(Message::text).collect();
    let before = octo.call(OpenSession { session }).await.unwrap();
    assert_eq!(words, before.page.messages.iter().map(Message::text).collect::<Vec<_>>());
    octo.shutdown().await;
}

/// The texts of the files a person may read, by their paths in the home.
fn texts(home: &Path) -> std::collections::BTreeMap<String, String> {
    let mut found = std::collections::BTreeMap::new();
    // The trash is Octo's own: it looks through it when it likes.
    let names = FILES.iter().filter(|name| **name != "trash");
    let mut folders: Vec<PathBuf> = names.map(|name| home.join(name)).collect();
    while let Some(path) = folders.pop() {
        if path.is_dir() {
            folders.extend(fs::read_dir(path).unwrap().flatten().map(|entry| entry.path()));
        } else if path.exists() {
            let name = path.strip_prefix(home).unwrap().display().to_string();
            found.insert(name, fs::read_to_string(path).unwrap());
        }
    }
    found
}
