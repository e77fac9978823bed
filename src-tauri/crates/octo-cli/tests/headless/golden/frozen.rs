//! Names that are stored, sent or typed, and so stay as they are, whatever becomes of the source.

use octo_protocol::{
    ActivityReplies, AppReplies, BrowserReplies, ChatReplies, Delta, Envelope, HomeReplies, HostReply,
    LedgerReplies, MemoryReplies, ModelReplies, PolicyReplies, Request, ScheduleReplies, SessionReplies,
    SkillReplies, TimeReplies, TranscriptReplies, TrashReplies, Update,
};
use octo_testkit::{Wire, check_names};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn names() -> PathBuf {
    root().join("tests/fixtures/frozen-names.txt")
}

#[test]
fn the_fields_tags_and_words_of_all_that_is_stored_or_sent() {
    let wire = Wire::new()
        .with::<Envelope>("event")
        .with::<Update>("update")
        .with::<Delta>("delta")
        .with::<Request>("request")
        .with::<SessionReplies>("reply.sessions")
        .with::<ModelReplies>("reply.models")
        .with::<LedgerReplies>("reply.ledger")
        .with::<AppReplies>("reply.app")
        .with::<TimeReplies>("reply.time")
        .with::<TrashReplies>("reply.trash")
        .with::<PolicyReplies>("reply.policy")
        .with::<BrowserReplies>("reply.browser")
        .with::<SkillReplies>("reply.skills")
        .with::<MemoryReplies>("reply.memory")
        .with::<ScheduleReplies>("reply.schedule")
        .with::<ChatReplies>("reply.chats")
        .with::<ActivityReplies>("reply.activity")
        .with::<HomeReplies>("reply.home")
        .with::<TranscriptReplies>("reply.transcripts")
        .with::<HostReply>("reply.host");
    check_names(&root().join("tests/fixtures/frozen-wire.txt"), "wire", &wire.list());
}

#[test]
fn the_keys_of_errors() {
    for language in ["en", "zh"] {
        let text = fs::read_to_string(root().join("words").join(language).join("errors.json")).unwrap();
        let words: BTreeMap<String, String> = serde_json::from_str(&text).unwrap();
        let keys: Vec<String> = words.into_keys().collect();
        check_names(&names(), "error keys", &keys);
    }
}

/// Every name the page keeps something under in the web view: a text, or a constant of its file.
#[test]
fn the_names_of_what_the_page_keeps() {
    let mut kept = BTreeSet::new();
    let mut folders = vec![root().join("ui/src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                folders.push(path);
            } else if (name.ends_with(".ts") || name.ends_with(".svelte"))
                && !name.contains(".test.")
                && !name.starts_with("fake")
            {
                let text = fs::read_to_string(&path).unwrap();
                for storage in ["localStorage", "sessionStorage"] {
                    for call in text.split(&format!("{storage}.")).skip(1) {
                        let argument = call.split_once('(').unwrap().1;
                        let key = argument.split([',', ')']).next().unwrap().trim();
                        let word = if key.starts_with('"') {
                            key.to_owned()
                        } else {
                            let constant = format!("const {key} = ");
                            let value = text.split_once(&constant);
                            let (_, value) = value.unwrap_or_else(|| panic!("{name}: {key} is no constant"));
                            value.split(';').next().unwrap().to_owned()
                        };
                        kept.insert(format!("{storage} {}", word.trim_matches('"')));
                    }
                }
            }
        }
    }
    check_names(&names(), "kept by the page", &kept.into_iter().collect::<Vec<_>>());
}

/// What lies in a home and what it counts as there; all of it goes with the home.
#[test]
fn the_names_of_what_lies_in_a_home() {
    const PLACES: &[&str] = &[
        "MOVED.txt",
        "agents",
        "archives",
        "backups",
        "bin",
        "blobs",
        "browser",
        "bundled-skills",
        "demo",
        "hooks.toml",
        "logs",
        "memories",
        "octo.db",
        "octo.db-shm",
        "octo.db-suspect",
        "octo.db-wal",
        "octo.db.new",
        "octo.lock",
        "outputs",
        "policy.toml",
        "presets.json",
        "received",
        "scratch",
        "scripts",
        "shells",
        "skills",
        "tasks",
        "time",
        "trash",
        "tray",
        "unfinished",
        "webview",
        "window.json",
    ];
    let mut lines = Vec::new();
    let home = tempfile::tempdir().unwrap();
    for place in PLACES {
        let path = home.path().join(place);
        fs::write(&path, "x").unwrap();
        let parts = octo_workspace::measure_home(home.path()).unwrap();
        let [part] = parts.as_slice() else { panic!("{place}: {parts:?}") };
        lines.push(format!("{place} {}", serde_json::to_value(part.part).unwrap().as_str().unwrap()));
        fs::remove_file(path).unwrap();
    }
    check_names(&names(), "in a home", &lines);
}
