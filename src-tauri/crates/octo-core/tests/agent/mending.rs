//! What cannot be read at a start is put aside, used as far as it can be, and said.

use super::rig::{config, open};
use octo_core::Octo;
use octo_protocol::{ChangeSettings, GetSettings, SettingsPatch, Theme};
use octo_testkit::TempHome;
use rusqlite::Connection;
use std::{fs, path::Path};

fn store(home: &TempHome, settings: &str) {
    let database = Connection::open(home.octo().join("octo.db")).unwrap();
    database.execute("UPDATE settings SET settings_json = ?1", [settings]).unwrap();
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
async fn a_model_table_that_cannot_be_read_is_left_and_said() {
    let home = TempHome::new();
    let table = home.octo().join("presets.json");
    fs::write(&table, "{ half").unwrap();
    let octo = open(&home).await;
    assert_eq!(keys(&octo), ["presets.malformed"]);
    assert_eq!(fs::read_to_string(&table).unwrap(), "{ half");
    octo.shutdown().await;
}
