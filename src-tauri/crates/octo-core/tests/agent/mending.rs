//! Data that cannot be read at a start is set aside, recovered if possible, and reported.

use super::rig::{Rig, config, open, process};
use octo_core::{Octo, request_of_damaged};
use octo_protocol::{
    ApiError, ChangeSettings, DatabaseDamage, DatabaseReplacement, ErrorCode, GetSettings, HomeRequest,
    InspectDamage, MakeDiagnostics, MeasureHome, Mode, ReplaceDatabase, SettingsPatch, Theme, TurnEnd,
};
use octo_testkit::{Script, TempHome};
use rusqlite::Connection;
use std::{
    fs,
    path::{Path, PathBuf},
};

fn store(home: &TempHome, settings: &str) {
    let database = Connection::open(home.octo().join("octo.db")).unwrap();
    database.execute("UPDATE settings SET settings_json = ?1", [settings]).unwrap();
}

/// Shifts all stored times, as if a clock had been a year ahead.
fn stored_later_by(home: &TempHome, days: i64) {
    let database = Connection::open(home.octo().join("octo.db")).unwrap();
    database.execute("UPDATE sessions SET updated_at = updated_at + ?1 * 86400000", [days]).unwrap();
}

fn keys(octo: &Octo) -> Vec<&str> {
    octo.remarks().iter().map(|remark| remark.key.as_str()).collect()
}

#[tokio::test]
async fn settings_that_cannot_be_read_are_kept_aside_and_said() {
    let home = TempHome::new();
    let octo = open(&home).await;
    assert!(octo.remarks().is_empty());
    let patch = SettingsPatch { theme: Some(Theme::Dark), welcomed: Some(true), ..SettingsPatch::default() };
    octo.call(ChangeSettings { patch }).await.unwrap();
    octo.shutdown().await;
    let broken = r#"{"theme":"dark","welcomed":true,"language":{"of":"tomorrow"}}"#;
    store(&home, broken);

    let octo = Octo::start(config(&home)).await.expect("it starts all the same");
    assert_eq!(keys(&octo), ["start.settings_aside"]);
    let aside = octo.remarks()[0].args["path"].clone();
    assert_eq!(fs::read_to_string(Path::new(&aside)).unwrap(), broken);
    let settings = octo.call(GetSettings {}).await.unwrap().settings;
    assert_eq!((settings.theme, settings.welcomed), (Theme::Dark, true), "what can be read is kept");
    octo.shutdown().await;

    let octo = open(&home).await;
    assert!(octo.remarks().is_empty(), "said once");
    octo.shutdown().await;
}

#[tokio::test]
async fn a_clock_a_year_off_is_said_and_everything_is_there() {
    for (days, key) in [(365, "start.clock_behind"), (-365, "start.clock_ahead")] {
        let mut rig = Rig::new(Script::new().text("hello").text("still here")).await;
        let session = rig.start(Mode::Ask, "hi").await;
        assert_eq!(rig.turn_end().await, TurnEnd::Finished);
        rig.octo.shutdown().await;
        stored_later_by(&rig.home, days);
        rig.restart().await;
        assert_eq!(keys(&rig.octo), [key]);
        rig.send(session, "and now?").await;
        assert_eq!(rig.turn_end().await, TurnEnd::Finished);
        // Sessions in use get the current time again.
        rig.restart().await;
        assert!(rig.octo.remarks().is_empty(), "{:?}", rig.octo.remarks());
        rig.assert_sound();
    }
}

#[tokio::test]
async fn a_model_table_that_cannot_be_read_is_left_and_said() {
    let home = TempHome::new();
    let table = home.octo().join("presets.json");
    fs::write(&table, "{ half").unwrap();
    let octo = open(&home).await;
    assert_eq!(keys(&octo), ["presets.malformed"]);
    assert_eq!(fs::read_to_string(&table).unwrap(), "{ half");
    octo.shutdown().await;
}

fn refused(home: &TempHome) -> ApiError {
    let error = process(Octo::start(config(home))).err().expect("it does not start");
    assert_eq!(error.code, Some(ErrorCode::Damaged), "{error}");
    error
}

fn look(home: &TempHome) -> DatabaseDamage {
    let request = HomeRequest::InspectDamage(InspectDamage {});
    let reply = process(request_of_damaged(home.octo(), request, refused(home))).unwrap();
    serde_json::from_value(reply).unwrap()
}

fn replace(home: &TempHome, backup: Option<String>) -> Result<DatabaseReplacement, ApiError> {
    let request = HomeRequest::ReplaceDatabase(ReplaceDatabase { backup });
    let reply = process(request_of_damaged(home.octo(), request, refused(home)))?;
    Ok(serde_json::from_value(reply).unwrap())
}

/// Damages the database of a home whose theme is dark, and its backup. Returns the backup's path and the
/// remains of the database.
fn damaged(home: &TempHome) -> (PathBuf, Vec<u8>) {
    process(async {
        let octo = open(home).await;
        let patch = SettingsPatch { theme: Some(Theme::Dark), ..SettingsPatch::default() };
        octo.call(ChangeSettings { patch }).await.unwrap();
        octo.shutdown().await;
    });
    let (file, backups) = (home.octo().join("octo.db"), home.octo().join("backups"));
    fs::create_dir(&backups).unwrap();
    let backup = backups.join("octo-1-1800000000000.db");
    fs::copy(&file, &backup).unwrap();
    let mut bytes = fs::read(&file).unwrap();
    bytes.truncate(bytes.len() / 2);
    fs::write(&file, &bytes).unwrap();
    (backup, bytes)
}

fn theme(home: &TempHome) -> Theme {
    process(async {
        let octo = open(home).await;
        let settings = octo.call(GetSettings {}).await.unwrap().settings;
        for refused in [
            octo.call(ReplaceDatabase { backup: None }).await.map(drop),
            octo.call(InspectDamage {}).await.map(drop),
        ] {
            assert_eq!(refused.unwrap_err().key, "store.not_damaged");
        }
        octo.shutdown().await;
        settings.theme
    })
}

#[test]
fn a_damaged_database_gives_way_to_its_backup_and_is_kept() {
    let home = TempHome::new();
    let (backup, broken) = damaged(&home);
    let found = look(&home).backup.expect("there is one");
    assert_eq!((found.path.as_str(), found.at), (backup.to_str().unwrap(), 1_800_000_000_000));

    // Only the inspected file, and nothing else while Octo does not run.
    let elsewhere = home.octo().join("settings.db").display().to_string();
    assert_eq!(replace(&home, Some(elsewhere)).unwrap_err().key, "store.no_backup");
    let why = refused(&home);
    let other = HomeRequest::MeasureHome(MeasureHome {});
    assert_eq!(process(request_of_damaged(home.octo(), other, why.clone())).unwrap_err(), why);

    let replaced = replace(&home, Some(found.path)).unwrap();
    assert!(fs::read(&replaced.aside).unwrap() == broken, "it is kept as it was");
    assert_eq!(theme(&home), Theme::Dark);
}

#[test]
fn without_a_backup_an_empty_database_takes_its_place() {
    let home = TempHome::new();
    let (backup, broken) = damaged(&home);
    fs::write(&backup, "no database").unwrap();
    assert_eq!(look(&home).backup, None, "one that is damaged itself is none");
    let replaced = replace(&home, None).unwrap();
    assert!(fs::read(&replaced.aside).unwrap() == broken);
    assert_ne!(theme(&home), Theme::Dark);
}

#[tokio::test]
async fn nobody_replaces_a_database_another_works_with() {
    let home = TempHome::new();
    let octo = open(&home).await;
    let why = ApiError::new("store.damaged").code(ErrorCode::Damaged);
    let request = HomeRequest::ReplaceDatabase(ReplaceDatabase { backup: None });
    let error = request_of_damaged(home.octo(), request, why).await.unwrap_err();
    assert_eq!(error.key, "home.change_in_use");
    octo.call(GetSettings {}).await.unwrap();
    octo.shutdown().await;
}

#[test]
fn damage_a_report_finds_is_told_by_the_next_start() {
    let home = TempHome::new();
    process(async { open(&home).await.shutdown().await });
    let file = home.octo().join("octo.db");
    // A file this large is not checked in full at every start.
    let raw = Connection::open(&file).unwrap();
    raw.execute_batch("CREATE TABLE filler (bytes BLOB); INSERT INTO filler VALUES (zeroblob(66 << 20));")
        .unwrap();
    raw.close().unwrap();
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 4096].fill(0xee);
    fs::write(&file, bytes).unwrap();

    let mark = home.octo().join("octo.db-suspect");
    process(async {
        let octo = open(&home).await;
        assert!(!mark.exists());
        let report = octo.call(MakeDiagnostics {}).await.unwrap();
        assert!(!report.parts.iter().any(|part| part.text.contains("sessions, sound")), "{report:?}");
        assert!(mark.exists());
        octo.shutdown().await;
    });
    assert_eq!(refused(&home).key, "store.damaged_no_backup");
}
