//! Memories, SOUL.md, USER.md and profiles through the application's own door.

use super::{
    library::{bring_back, in_trash, put},
    rig::{Rig, words},
};
use octo_protocol::{
    DeleteMemory, GetMemory, GetPersona, ListMemories, ListProfiles, MEMORY_BODY_MAX_CHARS, MemorySheet,
    Mode, OnConflict, PersonaKind, Profile, RestoreOutcome, SaveMemory, SavePersona, StartSession, TrashKind,
    TurnEnd,
};
use octo_testkit::Script;

fn new(topic: &str, description: &str, body: &str) -> SaveMemory {
    SaveMemory {
        file: None,
        topic: topic.into(),
        description: description.into(),
        body: body.into(),
        version: None,
    }
}

fn change(sheet: &MemorySheet, body: &str) -> SaveMemory {
    SaveMemory {
        file: Some(sheet.card.file.clone()),
        version: Some(sheet.version.clone()),
        ..new(&sheet.card.topic, &sheet.card.description, body)
    }
}

async fn found(rig: &Rig, query: &str) -> Vec<String> {
    let memories = rig.octo.call(ListMemories { query: query.into() }).await.unwrap().memories;
    memories.into_iter().map(|card| card.file).collect()
}

/// A new session of a profile, and the system prompt its model was given.
async fn system_of(rig: &mut Rig, profile: &str) -> String {
    let start = StartSession {
        folder: rig.home.work().display().to_string(),
        profile: profile.parse().unwrap(),
        mode: Mode::Ask,
        model: None,
        effort: None,
        title: None,
        blocks: words("hello"),
    };
    rig.octo.call(start).await.unwrap();
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    rig.server.requests().last().unwrap().system()
}

#[tokio::test]
async fn a_memory_is_written_changed_found_deleted_and_brought_back() {
    let mut rig = Rig::new(Script::new().text("hello")).await;
    let herons = rig.octo.call(new("Herons of the lake", "Where they nest", "In the reeds.")).await.unwrap();
    let file = herons.card.file.clone();
    assert_eq!((herons.body.trim(), herons.card.session), ("In the reeds.", None));
    rig.octo.call(new("发票", "怎么报销", "每月二十五日前交。")).await.unwrap();
    let again = rig.octo.call(new("Herons of the lake", "Again", "Twice.")).await.unwrap_err();
    assert_eq!((again.key.as_str(), again.args["file"].as_str()), ("memory.taken", file.as_str()));

    let better = rig.octo.call(change(&herons, "On the island.")).await.unwrap();
    assert_ne!(better.version, herons.version);
    // An edit of the older version does not overwrite the newer one.
    let late = rig.octo.call(change(&herons, "In the trees.")).await.unwrap_err();
    assert_eq!(late.key, "memory.changed");
    let now = rig.octo.call(GetMemory { file: file.clone() }).await.unwrap();
    assert_eq!((now.body.trim(), &now.version), ("On the island.", &better.version));
    // A change by another program counts as well.
    put(rig.home.octo().join("memories").join(&file), "---\ntopic: Herons\n---\nGone south.\n");
    assert_eq!(rig.octo.call(change(&better, "Here.")).await.unwrap_err().key, "memory.changed");

    assert_eq!(found(&rig, "SOUTH gone").await, [file.as_str()]);
    assert_eq!(found(&rig, "报销").await.len(), 1);
    assert_eq!(found(&rig, "island").await.len(), 0);
    assert_eq!(found(&rig, "").await.len(), 2);
    for (call, key) in [
        (new("", "x", "x"), "memory.empty"),
        (new("Long", "x", &"字".repeat(MEMORY_BODY_MAX_CHARS + 1)), "memory.too_long"),
        (SaveMemory { file: Some("../x.md".into()), ..new("x", "x", "x") }, "memory.name"),
        (SaveMemory { file: Some("none.md".into()), ..new("x", "x", "x") }, "memory.missing"),
    ] {
        assert_eq!(rig.octo.call(call).await.unwrap_err().key, key);
    }

    // None of it is in a prompt.
    assert!(!system_of(&mut rig, "general").await.contains("eron"));

    rig.octo.call(DeleteMemory { file: file.clone() }).await.unwrap();
    assert_eq!(found(&rig, "south").await.len(), 0);
    assert_eq!(rig.octo.call(GetMemory { file: file.clone() }).await.unwrap_err().key, "memory.missing");
    assert_eq!(rig.octo.call(DeleteMemory { file: file.clone() }).await.unwrap_err().key, "memory.missing");
    let entry = in_trash(&rig.octo, TrashKind::Memory).await.pop().unwrap();
    assert_eq!(entry.name, file);
    assert!(matches!(bring_back(&rig.octo, &entry, OnConflict::Ask).await, RestoreOutcome::Done { .. }));
    let back = rig.octo.call(GetMemory { file }).await.unwrap();
    assert_eq!(back.body.trim(), "Gone south.");
    rig.assert_sound();
}

#[tokio::test]
async fn soul_and_user_are_written_and_new_sessions_begin_with_them() {
    let mut rig = Rig::new(Script::new().text("one").text("two").text("three")).await;
    let before = system_of(&mut rig, "general").await;
    let standard = rig.octo.call(GetPersona {}).await.unwrap().files[0].standard.clone();
    assert!(before.contains(&standard) && !before.contains("# Who you work for"), "{before}");

    let write = |kind, text: &str| SavePersona { kind, text: text.into() };
    rig.octo.call(write(PersonaKind::Soul, "Speak like a heron.")).await.unwrap();
    let files = rig.octo.call(write(PersonaKind::User, "Mei, in Taipei.")).await.unwrap().files;
    assert_eq!((files[0].text.as_str(), files[1].text.as_str()), ("Speak like a heron.", "Mei, in Taipei."));
    let with = system_of(&mut rig, "coding").await;
    assert!(with.contains("# Who you are\n\nSpeak like a heron."), "{with}");
    assert!(with.contains("# Who you work for\n\nMei, in Taipei.") && !with.contains(&standard), "{with}");

    let long = "x".repeat(50_001);
    let error = rig.octo.call(write(PersonaKind::User, &long)).await.unwrap_err();
    assert_eq!(error.key, "memory.persona_too_long");
    assert_eq!(rig.octo.call(GetPersona {}).await.unwrap().files, files);

    // Empty text restores Octo's own words, and the previous text can be restored too.
    let empty = rig.octo.call(write(PersonaKind::Soul, " \n")).await.unwrap().files;
    assert_eq!((empty[0].text.as_str(), &empty[0].standard), ("", &standard));
    assert!(system_of(&mut rig, "general").await.contains(&standard));
    let entry =
        in_trash(&rig.octo, TrashKind::File).await.into_iter().find(|entry| entry.name == "SOUL.md").unwrap();
    assert!(matches!(bring_back(&rig.octo, &entry, OnConflict::Ask).await, RestoreOutcome::Done { .. }));
    assert_eq!(rig.octo.call(GetPersona {}).await.unwrap().files[0].text, "Speak like a heron.");
    rig.assert_sound();
}

#[tokio::test]
async fn a_profile_of_the_persons_is_what_a_new_session_begins_with() {
    let mut rig = Rig::new(Script::new().text("one").text("two").text("three")).await;
    put(rig.home.octo().join("agents/poet/PROFILE.md"), "You write poems about herons.\n\nShort ones.\n");
    put(rig.home.octo().join("agents/empty/notes.txt"), "no profile");
    let profiles = rig.octo.call(ListProfiles {}).await.unwrap().profiles;
    let named: Vec<_> = profiles.iter().map(|one| (one.profile.name(), one.description.as_deref())).collect();
    assert_eq!(named, [("general", None), ("coding", None), ("poet", Some("You write poems about herons."))]);

    let system = system_of(&mut rig, "poet").await;
    assert!(system.starts_with("You write poems about herons.\n\nShort ones.\n\n# Tools\n"), "{system}");
    assert!(system.contains("\n- skill-add: "), "{system}");
    // It replaces the bundled one of the same name.
    put(rig.home.octo().join("agents/coding/PROFILE.md"), "You review.");
    assert!(system_of(&mut rig, "coding").await.starts_with("You review.\n\n# Tools\n"));

    let start = StartSession {
        folder: rig.home.work().display().to_string(),
        profile: "empty".parse::<Profile>().unwrap(),
        mode: Mode::Ask,
        model: None,
        effort: None,
        title: None,
        blocks: words("hello"),
    };
    let error = rig.octo.call(start).await.unwrap_err();
    assert_eq!((error.key.as_str(), error.args["profile"].as_str()), ("session.profile_unknown", "empty"));
    assert!("../general".parse::<Profile>().is_err());
    assert_eq!(rig.server.requests().len(), 2);
    rig.assert_sound();
}
