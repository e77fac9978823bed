//! Skills through the application's public API: viewed, accepted, written, deleted, exported and installed.

mod hostile;

use super::{
    rig::{PATIENCE, Rig, results, statuses, words},
    sub_agent_rig::skill as calling,
};
use octo_core::Octo;
use octo_protocol::{
    AcceptSkill, CallStatus, DeleteSkill, Event, ExportSkill, GetSkill, GetSkillVersion, InspectSkills,
    InstallSkills, Language, ListCommands, ListSessions, ListSkills, ListTrash, LiveTopic, Mode, OnConflict,
    Profile, RestoreOutcome, RestoreTrash, SaveSkill, SendOutcome, SkillCard, SkillFileKind, SkillOrigin,
    SkillRef, SkillSheet, SkillTrust, Snapshot, StartSession, SuggestionId, Switch, SwitchSkill, TrashEntry,
    TrashKind, TurnEnd, Update, words::explain,
};
use octo_testkit::Script;
use std::{
    fs,
    io::{Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};
use zip::{ZipWriter, write::SimpleFileOptions};

pub fn text(name: &str, description: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n\n{body}\n")
}

pub fn put(path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
    let path = path.as_ref();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
    path.to_owned()
}

/// Creates one of the person's skills.
pub fn own(rig: &Rig, name: &str, content: &str) -> SkillRef {
    put(rig.home.octo().join("skills").join(name).join("SKILL.md"), content);
    SkillRef { name: name.into(), origin: SkillOrigin::User, project: None }
}

/// Creates one of the folder's skills.
fn of_the_folder(rig: &Rig, name: &str, content: &str) -> SkillRef {
    put(rig.home.work().join(".octo/skills").join(name).join("SKILL.md"), content);
    let project = Some(rig.home.work().display().to_string());
    SkillRef { name: name.into(), origin: SkillOrigin::Project, project }
}

async fn cards(rig: &Rig) -> Vec<SkillCard> {
    let folder = Some(rig.home.work().display().to_string());
    rig.octo.call(ListSkills { folder }).await.unwrap().skills
}

async fn card(rig: &Rig, skill: &SkillRef) -> SkillCard {
    cards(rig).await.into_iter().find(|card| card.skill == *skill).expect("the skill is listed")
}

async fn sheet(rig: &Rig, skill: &SkillRef) -> SkillSheet {
    rig.octo.call(GetSkill { skill: skill.clone() }).await.unwrap()
}

/// The person looks at a skill and accepts what they see.
async fn accept(rig: &Rig, skill: &SkillRef) {
    let seen = sheet(rig, skill).await.seen.unwrap();
    rig.octo.call(AcceptSkill { skill: skill.clone(), seen }).await.unwrap();
}

async fn commands(rig: &Rig) -> Vec<String> {
    let folder = Some(rig.home.work().display().to_string());
    let commands = rig.octo.call(ListCommands { folder }).await.unwrap().commands;
    commands.into_iter().map(|command| command.name).collect()
}

pub async fn in_trash(octo: &Octo, kind: TrashKind) -> Vec<TrashEntry> {
    let call = ListTrash { query: String::new(), kind: Some(kind), project: None, offset: 0, limit: 9 };
    octo.call(call).await.unwrap().entries
}

pub async fn bring_back(octo: &Octo, entry: &TrashEntry, on_conflict: OnConflict) -> RestoreOutcome {
    let call = RestoreTrash { ids: vec![entry.id], to: None, on_conflict };
    octo.call(call).await.unwrap().outcomes.pop().unwrap()
}

/// The next note of a session.
async fn note(rig: &mut Rig) -> octo_protocol::ApiError {
    rig.event("note", |event| match event {
        Event::CommandAnswered { note } => Some(note.clone()),
        _ => None,
    })
    .await
}

pub fn begin(rig: &Rig, typed: &str) -> StartSession {
    StartSession {
        folder: rig.home.work().display().to_string(),
        profile: Profile::GENERAL,
        mode: Mode::Autonomous,
        model: None,
        effort: None,
        title: None,
        blocks: words(typed),
    }
}

/// Returns the text of an error key, checked in both languages: not the key itself, and without a gap.
fn said(error: &octo_protocol::ApiError) -> String {
    for language in [Language::Zh, Language::En] {
        let words = explain(language, error);
        assert!(!words.contains("error.skill") && !words.contains('{'), "{}: {words}", error.key);
    }
    explain(Language::En, error)
}

#[tokio::test]
async fn a_skill_of_the_folder_is_used_only_as_the_person_saw_and_accepted_it() {
    let (tool, arguments) = calling("deploy", "put it out");
    let script = Script::new()
        .text("hello")
        .call(tool, arguments.clone())
        .text("I may not")
        .text("it is out")
        .call(tool, arguments)
        .text("not any more");
    let mut rig = Rig::new(script).await;
    let deploy = of_the_folder(&rig, "deploy", &text("deploy", "Puts it out", "Run the heron script."));
    let run = put(rig.home.work().join(".octo/skills/deploy/scripts/run.sh"), "echo one\n");
    assert_eq!(card(&rig, &deploy).await.trust, SkillTrust::Unseen);

    // The model does not learn of it, and neither the person's slash command nor the model's call uses it.
    let error = rig.octo.call(begin(&rig, "/deploy now")).await.unwrap_err();
    assert_eq!(error.key, "skill.untrusted");
    let list = rig
        .octo
        .call(ListSessions { query: String::new(), filter: Default::default(), offset: 0, limit: 9 })
        .await
        .unwrap();
    assert_eq!(list.total, 0, "no session began");
    let session = rig.start(Mode::Autonomous, "hi").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert!(!rig.server.requests()[0].system().contains("deploy"));
    assert_eq!(rig.send(session, "/deploy now").await, SendOutcome::Command);
    assert_eq!(note(&mut rig).await.key, "skill.untrusted");
    assert_eq!(rig.server.requests().len(), 1);
    rig.send(session, "then do it yourself").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let [refused] = results(&rig.snapshot(session).await).try_into().unwrap();
    assert!(refused.contains("the person has not accepted it") && !refused.contains("heron"), "{refused}");

    // A change after the person's review is not what they accept.
    let result = sheet(&rig, &deploy).await;
    assert_eq!(
        (result.files[0].path.as_str(), result.files[0].kind),
        ("scripts/run.sh", SkillFileKind::Script)
    );
    fs::write(&run, "echo two\n").unwrap();
    for seen in [result.seen.clone().unwrap(), String::new()] {
        let late = rig.octo.call(AcceptSkill { skill: deploy.clone(), seen }).await.unwrap_err();
        assert_eq!(late.key, "skills.changed");
        assert!(said(&late).contains("after you looked"), "{late:?}");
    }
    assert_eq!(card(&rig, &deploy).await.trust, SkillTrust::Unseen);
    accept(&rig, &deploy).await;
    assert_eq!(card(&rig, &deploy).await.trust, SkillTrust::Trusted);
    assert_eq!(rig.send(session, "/deploy now").await, SendOutcome::Started);
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert!(results(&rig.snapshot(session).await)[1].contains("Run the heron script."));

    // Changed again, it waits for review again.
    fs::write(&run, "echo three\n").unwrap();
    assert_eq!(card(&rig, &deploy).await.trust, SkillTrust::Changed);
    assert_eq!(rig.send(session, "/deploy now").await, SendOutcome::Command);
    assert_eq!(note(&mut rig).await.key, "skill.untrusted");
    rig.send(session, "once more").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert!(results(&rig.snapshot(session).await)[2].contains("has not accepted it"));
    accept(&rig, &deploy).await;
    assert_eq!(card(&rig, &deploy).await.trust, SkillTrust::Trusted);
    rig.assert_sound();
}

#[tokio::test]
async fn what_is_switched_off_is_no_command_and_is_refused() {
    let script = Script::new().text("hello").call("invoke_skill", calling("tidy", "x").1).text("I may not");
    let mut rig = Rig::new(script).await;
    let tidy = own(&rig, "tidy", &text("tidy", "Tidies up", "Tidy."));
    assert!(commands(&rig).await.contains(&"tidy".to_owned()));
    let session = rig.start(Mode::Autonomous, "hi").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let before = rig.server.requests()[0].system();
    assert!(before.contains("- tidy: Tidies up"));

    let switch = |on, automatic| SwitchSkill { skill: tidy.clone(), on, automatic };
    rig.octo.call(switch(None, Some(Switch::Off))).await.unwrap();
    let shown = card(&rig, &tidy).await;
    assert_eq!((shown.on, shown.automatic), (Switch::On, Switch::Off));
    rig.octo.call(switch(Some(Switch::Off), None)).await.unwrap();
    assert_eq!(card(&rig, &tidy).await.on, Switch::Off);
    assert!(!commands(&rig).await.contains(&"tidy".to_owned()));
    assert_eq!(rig.send(session, "/tidy").await, SendOutcome::Command);
    assert_eq!(note(&mut rig).await.key, "skill.off");
    rig.send(session, "tidy up").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_ne!(statuses(&rig.snapshot(session).await), [CallStatus::Done]);
    // Sent requests stay unchanged.
    assert!(rig.server.requests().iter().all(|request| request.system() == before));
    let gone = SkillRef { name: "nothing".into(), ..tidy.clone() };
    let error = rig.octo.call(SwitchSkill { skill: gone, on: None, automatic: None }).await.unwrap_err();
    assert_eq!(error.key, "skills.gone");
    rig.assert_sound();
}

#[tokio::test]
async fn saving_keeps_what_was_there_and_an_old_version_is_put_back() {
    let rig = Rig::new(Script::new()).await;
    let one = text("notes", "Writes notes", "One.");
    let two = text("notes", "Writes better notes", "Two.");
    let notes = own(&rig, "notes", &one);
    let save =
        |source: &str, text: &str| SaveSkill { skill: notes.clone(), from: source.into(), text: text.into() };
    let saved = rig.octo.call(save(&one, &two)).await.unwrap();
    assert_eq!((saved.text.as_str(), saved.card.description.as_str()), (two.as_str(), "Writes better notes"));
    assert_eq!((saved.card.versions, saved.versions[0].number), (1, 1));

    // Another program wrote it after the person started to edit.
    let theirs = text("notes", "Theirs", "Three.");
    put(rig.home.octo().join("skills/notes/SKILL.md"), &theirs);
    let late = rig.octo.call(save(&two, "mine")).await.unwrap_err();
    assert_eq!(late.key, "skills.edited");
    assert!(said(&late).contains("your text is kept"));
    assert_eq!(sheet(&rig, &notes).await.text, theirs);

    let old = rig.octo.call(GetSkillVersion { skill: notes.clone(), number: 1 }).await.unwrap().text;
    assert_eq!(old, one);
    let back = rig.octo.call(save(&theirs, &old)).await.unwrap();
    assert_eq!((back.text, back.card.versions), (one.clone(), 2));
    let kept = rig.octo.call(GetSkillVersion { skill: notes.clone(), number: 2 }).await.unwrap().text;
    assert_eq!(kept, theirs, "what it replaced can be had back too");
    // Saving the same text creates no version.
    assert_eq!(rig.octo.call(save(&one, &one)).await.unwrap().card.versions, 2);
    let none = rig.octo.call(GetSkillVersion { skill: notes.clone(), number: 9 }).await.unwrap_err();
    assert_eq!(none.key, "skills.version_gone");
    let long = "x".repeat(2 << 20);
    assert_eq!(rig.octo.call(save(&one, &long)).await.unwrap_err().key, "skills.text_too_long");

    // Bundled skills are not overwritten.
    let bundled = SkillRef { name: "skill-add".into(), origin: SkillOrigin::Bundled, project: None };
    let from = sheet(&rig, &bundled).await.text;
    let write = SaveSkill { skill: bundled.clone(), from, text: one };
    assert_eq!(rig.octo.call(write).await.unwrap_err().key, "skills.not_yours");
    assert_eq!(rig.octo.call(DeleteSkill { skill: bundled }).await.unwrap_err().key, "skills.not_yours");

    // A person's edit of an accepted skill of the folder counts as seen; an edit of a waiting skill does not
    // accept the rest of it.
    let tool = of_the_folder(&rig, "tool", &two);
    let tool = SkillRef { name: "notes".into(), ..tool };
    let write =
        |source: &str, text: &str| SaveSkill { skill: tool.clone(), from: source.into(), text: text.into() };
    assert_eq!(rig.octo.call(write(&two, &theirs)).await.unwrap().card.trust, SkillTrust::Unseen);
    accept(&rig, &tool).await;
    assert_eq!(rig.octo.call(write(&theirs, &two)).await.unwrap().card.trust, SkillTrust::Trusted);
}

#[tokio::test]
async fn a_deleted_skill_is_in_the_trash_as_one_and_comes_back() {
    let rig = Rig::new(Script::new()).await;
    let content = text("tidy", "Tidies up", "Tidy.");
    for skill in [own(&rig, "tidy", &content), of_the_folder(&rig, "tidy", &content)] {
        let folder = PathBuf::from(card(&rig, &skill).await.folder);
        put(folder.join("data.bin"), [0, 159, 146, 150]);
        rig.octo.call(DeleteSkill { skill: skill.clone() }).await.unwrap();
        assert!(!folder.exists() && cards(&rig).await.iter().all(|card| card.skill != skill));
        let entry = in_trash(&rig.octo, TrashKind::Skill).await.pop().unwrap();
        assert_eq!((entry.name.as_str(), entry.files), ("tidy", 2), "{skill:?}");
        assert!(matches!(bring_back(&rig.octo, &entry, OnConflict::Ask).await, RestoreOutcome::Done { .. }));
        assert_eq!(sheet(&rig, &skill).await.text, content);
        assert_eq!(fs::read(folder.join("data.bin")).unwrap(), [0, 159, 146, 150]);
        assert!(in_trash(&rig.octo, TrashKind::Skill).await.is_empty());
    }
}

#[tokio::test]
async fn an_exported_skill_installs_again_elsewhere() {
    let rig = Rig::new(Script::new()).await;
    let content = "---\nname: notes\ndescription: Writes notes\nargument-hint: tag\nmood: calm\nlicense: MIT\n---\n\nLook at $1.\n";
    let notes = own(&rig, "notes", content);
    put(rig.home.octo().join("skills/notes/scripts/run.sh"), "#!/bin/sh\necho heron\n");
    let to = rig.home.work().join("notes.zip").display().to_string();
    let export = ExportSkill { skill: notes.clone(), to: to.clone() };
    let exported = rig.octo.call(export.clone()).await.unwrap();
    assert_eq!(exported.left_out, ["mood"]);
    assert_eq!(rig.octo.call(export).await.unwrap_err().key, "skills.export_taken");
    let relative = ExportSkill { skill: notes.clone(), to: "notes.zip".into() };
    assert_eq!(rig.octo.call(relative).await.unwrap_err().key, "skills.export_taken");

    let other = Rig::new(Script::new()).await;
    let offer = other.octo.call(InspectSkills { from: to.clone() }).await.unwrap();
    let [offered] = &offer.skills[..] else { panic!("one skill: {offer:?}") };
    let files: Vec<_> = offered.files.iter().map(|file| (file.path.as_str(), file.kind)).collect();
    assert_eq!(files, [("SKILL.md", SkillFileKind::Data), ("scripts/run.sh", SkillFileKind::Script)]);
    assert_eq!((offered.name.as_str(), &offered.present, &offered.error), ("notes", &None, &None));
    assert!(!other.home.octo().join("skills/notes").exists(), "nothing is installed yet");
    let install = InstallSkills { offer: offer.id, names: vec!["notes".into()], replace: Vec::new() };
    assert_eq!(other.octo.call(install).await.unwrap().names, ["notes"]);
    let installed = sheet(&other, &notes).await;
    assert_eq!(
        (installed.card.description.as_str(), installed.card.argument.as_str()),
        ("Writes notes", "tag")
    );
    assert_eq!(installed.license.as_deref(), Some("MIT"));
    assert!(installed.text.ends_with("\nLook at $1.\n"), "{}", installed.text);
    let script = fs::read_to_string(other.home.octo().join("skills/notes/scripts/run.sh")).unwrap();
    assert_eq!(script, "#!/bin/sh\necho heron\n");
}

#[tokio::test]
async fn installing_replaces_only_what_it_was_told_to_and_the_old_one_comes_back() {
    let rig = Rig::new(Script::new()).await;
    let old = text("notes", "Old", "Old.");
    let notes = own(&rig, "notes", &old);
    // A skill whose folder has another name, in a separate folder.
    let elsewhere = text("mail", "Old mail", "Old.");
    put(rig.home.octo().join("skills/work/letters/SKILL.md"), &elsewhere);
    let source = rig.home.work().join("source");
    put(source.join("notes/SKILL.md"), text("notes", "New", "New."));
    put(source.join("mail/SKILL.md"), text("mail", "New mail", "New."));
    put(source.join("fresh/SKILL.md"), text("fresh", "Fresh", "Fresh."));
    let from = source.display().to_string();
    let offer = rig.octo.call(InspectSkills { from: from.clone() }).await.unwrap();
    let there: Vec<_> = offer.skills.iter().map(|one| (one.name.as_str(), one.present.is_some())).collect();
    assert_eq!(there, [("fresh", false), ("mail", true), ("notes", true)]);

    let install = |offer: SuggestionId, names: &[&str], replace: &[&str]| InstallSkills {
        offer,
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        replace: replace.iter().map(|name| (*name).to_owned()).collect(),
    };
    let nothing = rig.octo.call(install(offer.id, &["other"], &[])).await.unwrap_err();
    assert_eq!(nothing.key, "skills.nothing_chosen");
    for name in ["notes", "mail"] {
        let taken = rig.octo.call(install(offer.id, &[name], &["fresh"])).await.unwrap_err();
        assert_eq!((taken.key.as_str(), taken.args["name"].as_str()), ("skill.install.exists", name));
        said(&taken);
    }
    assert_eq!(sheet(&rig, &notes).await.text, old);
    assert!(in_trash(&rig.octo, TrashKind::Skill).await.is_empty());

    // The inspected version is installed, whatever the source contains by now.
    put(source.join("notes/SKILL.md"), text("notes", "Newer", "Newer."));
    let all = ["fresh", "mail", "notes"];
    assert_eq!(rig.octo.call(install(offer.id, &all, &all)).await.unwrap().names, all);
    assert_eq!(card(&rig, &notes).await.description, "New");
    let mails: Vec<_> = cards(&rig).await.into_iter().filter(|card| card.skill.name == "mail").collect();
    assert_eq!(mails.len(), 1);
    assert_eq!(mails[0].description, "New mail");
    let hidden = fs::read_dir(rig.home.octo().join("skills")).unwrap();
    let hidden: Vec<_> =
        hidden.filter(|entry| entry.as_ref().unwrap().file_name().as_encoded_bytes()[0] == b'.').collect();
    assert!(hidden.is_empty(), "{hidden:?}");

    // The old version returns to its place.
    let entry =
        in_trash(&rig.octo, TrashKind::Skill).await.into_iter().find(|entry| entry.name == "notes").unwrap();
    assert!(matches!(bring_back(&rig.octo, &entry, OnConflict::Ask).await, RestoreOutcome::Taken { .. }));
    assert!(matches!(bring_back(&rig.octo, &entry, OnConflict::Replace).await, RestoreOutcome::Done { .. }));
    assert_eq!(sheet(&rig, &notes).await.text, old);

    // After another inspection, the first offer is no longer valid.
    rig.octo.call(InspectSkills { from }).await.unwrap();
    assert_eq!(rig.octo.call(install(offer.id, &all, &all)).await.unwrap_err().key, "skills.offer_gone");
}

#[tokio::test]
async fn commands_are_listed_with_skills_and_an_unknown_one_is_answered_without_a_model() {
    let mut rig = Rig::new(Script::new().text("hello")).await;
    own(
        &rig,
        "release-notes",
        "---\nname: release-notes\ndescription: Writes notes\nargument-hint: tag\n---\nx\n",
    );
    own(&rig, "helper", "---\nname: helper\ndescription: Helps\nuser-invocable: false\n---\nx\n");
    own(&rig, "broken", "---\nname: [\n");
    of_the_folder(&rig, "local", &text("local", "Local", "x"));
    let folder = Some(rig.home.work().display().to_string());
    let all = rig.octo.call(ListCommands { folder }).await.unwrap().commands;
    let notes = all.iter().find(|command| command.name == "release-notes").unwrap();
    assert_eq!((notes.description.as_deref(), notes.argument.as_str()), (Some("Writes notes"), "tag"));
    let names: Vec<&str> = all.iter().map(|command| command.name.as_str()).collect();
    assert!(names.starts_with(&["new", "model"]) && names.contains(&"onboard"), "{names:?}");
    assert!(names.contains(&"local"), "so that it is seen and can be accepted: {names:?}");
    assert!(!names.contains(&"helper") && !names.contains(&"recall-memory"), "{names:?}");
    let elsewhere = rig.octo.call(ListCommands { folder: None }).await.unwrap().commands;
    assert!(elsewhere.iter().all(|command| command.name != "local"));

    let session = rig.start(Mode::Ask, "hi").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    for (typed, key, near) in [
        ("/release-note v1", "command.unknown_near", "/release-notes"),
        ("/onbord", "command.unknown_near", "/onboard"),
        ("/qqqqqqq", "command.unknown", ""),
        ("/helper", "skill.not_for_people", ""),
    ] {
        assert_eq!(rig.send(session, typed).await, SendOutcome::Command, "{typed}");
        let note = note(&mut rig).await;
        assert_eq!(note.key, key, "{typed}");
        assert_eq!(note.args.get("near").map_or("", String::as_str), near, "{typed}");
    }
    let first = rig.octo.call(begin(&rig, "/onbord")).await.unwrap_err();
    assert_eq!((first.key.as_str(), first.args["near"].as_str()), ("command.unknown_near", "/onboard"));
    assert_eq!(rig.server.requests().len(), 1, "no model was asked");
    rig.assert_sound();
}

#[tokio::test]
async fn whoever_watches_the_library_hears_of_a_change_on_the_disk() {
    let rig = Rig::new(Script::new()).await;
    let mut watching = rig.octo.subscribe(LiveTopic::Library).await.unwrap();
    let mut known = None;
    let mut writes = 0;
    // A skill, a memory, a profile and the same skill again, each written by another program.
    while writes < 4 {
        let batch = tokio::time::timeout(PATIENCE, watching.next()).await.expect("news").expect("a batch");
        let revision = batch.iter().rev().find_map(|update| match update {
            Update::Snapshot { snapshot: Snapshot::Library { state } } | Update::Library { state } => {
                Some(state.revision)
            }
            _ => None,
        });
        let Some(revision) = revision else { continue };
        assert!(known.is_none_or(|known| revision >= known), "{known:?} {revision}");
        if known == Some(revision) {
            continue;
        }
        known = Some(revision);
        let home = rig.home.octo();
        match writes {
            0 => put(home.join("skills/new/SKILL.md"), text("new", "New", "x")),
            1 => put(home.join("memories/a.md"), "---\ntopic: A\ndescription: b\n---\nc\n"),
            2 => put(home.join("agents/poet/PROFILE.md"), "You write."),
            _ => put(home.join("skills/new/SKILL.md"), text("new", "Newer", "x")),
        };
        writes += 1;
    }
    let new = SkillRef { name: "new".into(), origin: SkillOrigin::User, project: None };
    while card(&rig, &new).await.description != "Newer" {
        tokio::time::timeout(PATIENCE, watching.next()).await.expect("news").expect("a batch");
    }
}
