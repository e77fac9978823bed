//! The home as a whole: its size, a copy that opens, a diagnostic report without secrets, and its deletion.

use super::rig::{Rig, config, open};
use octo_core::Octo;
use octo_protocol::{
    BackUpHome, ChangeSettings, DiagnosticsAbout, EraseHome, GetSettings, HomePart, ListSessions,
    MakeDiagnostics, MeasureHome, Mode, Onboarding, OnboardingStep, SaveDiagnostics, SaveSiteSecret, Secret,
    SessionFilter, SettingsPatch, TurnEnd,
};
use octo_testkit::{Script, TempHome};
use std::{fs, path::Path};

const KEY: &str = "sk-test-0123456789";

/// Returns the files below a folder that contain a text.
fn holding(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holding(&path, text));
        } else if fs::read(&path).expect("a file").windows(text.len()).any(|part| part == text.as_bytes()) {
            found.push(path.display().to_string());
        }
    }
    found
}

#[tokio::test]
async fn a_copy_opens_as_a_home_with_all_there_was() {
    let mut rig = Rig::new(Script::new().text("Kept.")).await;
    rig.start(Mode::Autonomous, "Remember the heron").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let skill = rig.home.octo().join("skills/notes");
    fs::create_dir_all(&skill).expect("a folder");
    fs::write(skill.join("SKILL.md"), "---\nname: notes\ndescription: Notes.\n---\n\nHi\n").expect("a skill");

    let inside = rig.octo.call(BackUpHome { to: rig.home.octo().display().to_string() }).await;
    assert_eq!(inside.expect_err("not into itself").key, "home.backup_inside");
    let nowhere = rig.octo.call(BackUpHome { to: rig.home.work().join("gone").display().to_string() }).await;
    assert_eq!(nowhere.expect_err("no such folder").key, "home.no_folder");

    let copy = rig.octo.call(BackUpHome { to: rig.home.work().display().to_string() }).await.expect("a copy");
    assert_eq!(copy.missing, Vec::<String>::new());
    assert!(holding(Path::new(&copy.path), KEY).is_empty(), "keys stay in the keychain");
    // While the original runs.
    let other = Octo::start(octo_core::Config { home: copy.path.clone().into(), ..config(&rig.home) }).await;
    let other = other.expect("the copy opens");
    let list = ListSessions { query: String::new(), filter: SessionFilter::default(), offset: 0, limit: 10 };
    let titles = other.call(list).await.expect("the sessions").sessions;
    assert_eq!(titles.len(), 1);
    assert!(Path::new(&copy.path).join("skills/notes/SKILL.md").is_file());
    other.shutdown().await;
}

#[tokio::test]
async fn everything_is_deleted_only_when_it_is_meant() {
    let mut rig = Rig::new(Script::new().text("Done.")).await;
    rig.start(Mode::Autonomous, "hello").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let home = rig.home.octo();
    fs::write(home.join("diary.md"), "mine").expect("a file of the person's");
    let sizes = rig.octo.call(MeasureHome {}).await.expect("sizes");
    assert_eq!((sizes.sessions, sizes.models, sizes.path.as_str()), (1, 1, home.to_str().expect("Unicode")));
    assert!(sizes.parts.iter().any(|part| part.part == HomePart::Database && part.bytes > 10_000));
    assert!(sizes.parts.iter().any(|part| part.part == HomePart::Other && part.bytes >= 4));

    let confirm = |text: &str| EraseHome { confirm: text.to_owned() };
    for invalid in ["", "yes", "/"] {
        let error = rig.octo.call(confirm(invalid)).await.expect_err("not confirmed");
        assert_eq!(error.key, "home.not_confirmed", "{invalid}");
    }
    assert!(rig.octo.call(GetSettings {}).await.is_ok(), "after a refusal everything goes on");

    let erased = rig.octo.call(confirm(&sizes.path)).await.expect("it is deleted");
    assert_eq!((erased.left, erased.keys), (vec!["diary.md".to_owned()], None));
    assert!(!home.join("octo.db").exists() && !home.join("skills").exists());
    assert!(rig.octo.call(GetSettings {}).await.is_err(), "this Octo answers nothing any more");

    let reopened = open(&rig.home).await;
    let settings = reopened.call(GetSettings {}).await.expect("settings");
    assert!(settings.models.is_empty() && !settings.settings.welcomed, "the next one begins anew");
    reopened.shutdown().await;
}

#[tokio::test]
async fn nothing_is_deleted_while_another_octo_works_in_the_same_home() {
    let home = TempHome::new();
    let (one, other) = (open(&home).await, open(&home).await);
    let confirm = home.octo().display().to_string();
    let error = one.call(EraseHome { confirm }).await.expect_err("another one is there");
    assert_eq!(error.key, "home.in_use");
    for octo in [one, other] {
        assert!(octo.call(GetSettings {}).await.is_ok(), "both go on");
        octo.shutdown().await;
    }
    assert!(home.octo().join("octo.db").is_file());
}

#[tokio::test]
async fn a_report_is_written_as_it_was_shown_and_gives_nothing_away() {
    let rig = Rig::new(Script::new()).await;
    let onboarding = Onboarding {
        step: Some(OnboardingStep::Browser),
        name: "heron".to_owned(),
        about: "gardener".to_owned(),
        ..Onboarding::default()
    };
    let patch = SettingsPatch { onboarding: Some(onboarding.clone()), ..SettingsPatch::default() };
    let changed = rig.octo.call(ChangeSettings { patch }).await.expect("settings change");
    assert_eq!(changed.settings.onboarding, onboarding);

    let secret = SaveSiteSecret {
        name: "nest".to_owned(),
        site: "https://marsh.example".to_owned(),
        value: Secret::new("long enough"),
    };
    rig.octo.call(secret).await.expect("it is kept");

    let report = rig.octo.call(MakeDiagnostics {}).await.expect("a report");
    let of = |about| report.parts.iter().find(|part| part.about == about).map(|part| part.text.clone());
    let settings = of(DiagnosticsAbout::Settings).expect("settings");
    assert!(settings.contains("\"onboarding\": \"browser\"") && settings.contains("ask_risky"), "{settings}");
    assert!(of(DiagnosticsAbout::Checks).expect("checks").contains("sound"));
    let all: String = report.parts.iter().map(|part| part.text.as_str()).collect();
    let work = rig.home.work().display().to_string();
    for secret in [KEY, "6789", "heron", "gardener", work.as_str(), rig.server.url().as_str()] {
        assert!(!all.contains(secret), "{secret} in {all}");
    }

    let to = rig.home.work().display().to_string();
    let saved =
        rig.octo.call(SaveDiagnostics { id: report.id, to: to.clone() }).await.expect("it is written");
    let text = fs::read_to_string(&saved.path).expect("the report");
    for part in &report.parts {
        assert!(text.contains(part.text.trim_end()), "{:?} is written as it was shown", part.about);
    }
    let gone = SaveDiagnostics { id: octo_protocol::DiagnosticsId::new(), to };
    assert_eq!(rig.octo.call(gone).await.expect_err("never shown").key, "diagnostics.gone");
}

#[tokio::test]
async fn what_was_answered_in_the_first_run_is_there_after_a_restart() {
    let home = TempHome::new();
    let octo = open(&home).await;
    let before = octo.call(GetSettings {}).await.expect("settings").settings;
    assert_eq!((before.onboarding.clone(), before.welcomed), (Onboarding::default(), false));
    let onboarding = Onboarding {
        step: Some(OnboardingStep::Persona),
        name: "Juno".to_owned(),
        soul: Some("Be kind.".to_owned()),
        ..Onboarding::default()
    };
    let patch = SettingsPatch { onboarding: Some(onboarding.clone()), ..SettingsPatch::default() };
    octo.call(ChangeSettings { patch }).await.expect("settings change");
    octo.shutdown().await;
    let octo = open(&home).await;
    assert_eq!(octo.call(GetSettings {}).await.expect("settings").settings.onboarding, onboarding);
    octo.shutdown().await;
}
