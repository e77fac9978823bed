//! Deletion by the person: a session is removed, restored at once or from the trash, and permanently deleted
//! only there.

use crate::{
    first_task::{KEY, connect},
    tasks::take_back,
};
use anyhow::{Context as _, Result};
use octo_protocol::{Language, words};
use octo_testkit::{ModelServer, Script, ServerOptions};
use octo_tests::{Application, Desktop, Theme};
use std::{collections::BTreeMap, fs};

const F2: &str = "\u{e032}";

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn a_deleted_session_is_undone_restored_or_purged() -> Result<()> {
    let desktop = Desktop::start()?;
    let (home, work) = (desktop.folder().join("octo"), desktop.home().join("notes"));
    fs::create_dir(&work)?;
    let server = ModelServer::start_with(
        Script::new().text("ok").text("The heron is a wading bird."),
        ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() },
    );
    let app = Application::open(&desktop, &home, Theme::Dark).await?;
    connect(&app, &server.url(), "trash").await?;
    app.fill("new-folder", work.to_str().context("a path in Unicode")?).await?;
    app.fill("composer", "What is a heron?").await?;
    app.click("send").await?;
    app.find("turn-end[data-end=finished]").await?;

    delete(&app).await?;
    app.find("toast").await?;
    app.picture("session-deleted-dark").await?;
    take_back(&app).await?;
    whole(&app).await?;

    delete(&app).await?;
    in_trash(&app).await?;
    app.picture("session-in-trash-dark").await?;
    app.click("trash-restore").await?;
    whole(&app).await?;

    // Permanently only from the trash, after a question that lists the losses.
    delete(&app).await?;
    in_trash(&app).await?;
    app.click("trash-delete").await?;
    let message = app.text("trash-dialog").await?;
    assert!(message.contains("Permanently delete 1 item?"), "{message}");
    app.picture("trash-for-good-dark").await?;
    app.click("trash-confirm").await?;
    app.until("an empty trash", async || Ok(app.all("trash-row").await?.is_empty().then_some(()))).await?;
    app.picture("trash-empty-dark").await?;
    app.close().await?;
    server.assert_clean();
    Ok(())
}

fn say(key: &str) -> String {
    words::say(Language::En, key, &BTreeMap::new())
}

/// Deletes the session from its row's menu.
async fn delete(app: &Application) -> Result<()> {
    app.find("session-row").await?;
    app.type_into("session-row", F2).await?;
    app.pick(&say("session.delete")).await?;
    app.until("the row to go", async || Ok(app.all("session-row").await?.is_empty().then_some(()))).await
}

/// Opens the trash and selects its entries.
async fn in_trash(app: &Application) -> Result<()> {
    app.click("open-trash").await?;
    app.text_where("trash-row", "the session", |text| text.contains("heron")).await?;
    app.script("document.querySelector('[data-testid=trash-row] [role=checkbox]').click()").await?;
    Ok(())
}

/// Checks that the session is back with all its messages.
async fn whole(app: &Application) -> Result<()> {
    app.click("session-row").await?;
    app.text_where("answer", "the answer", |text| text.contains("a wading bird")).await?;
    Ok(())
}
