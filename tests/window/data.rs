//! All of Octo's data in one folder: copied, and deleted permanently.

use crate::{
    export_import::{choose, say},
    first_task::{KEY, connect},
};
use anyhow::{Context as _, Result, ensure};
use octo_testkit::{ModelServer, Script, ServerOptions};
use octo_tests::{Application, Desktop, Panel, Theme};
use std::{fs, path::PathBuf, time::Duration};

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn all_data_is_copied_and_deleted_and_the_window_quits() -> Result<()> {
    let desktop = Desktop::start()?;
    let panel = Panel::start(&desktop).await?;
    let (home, work, out) =
        (desktop.folder().join("octo"), desktop.home().join("notes"), desktop.home().join("out"));
    fs::create_dir(&work)?;
    fs::create_dir(&out)?;
    let server = ModelServer::start_with(
        Script::new().text("ok").text("There are two notes."),
        ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() },
    );
    let app = Application::open(&desktop, &home, Theme::Dark).await?;
    connect(&app, &server.url(), "data").await?;
    app.fill("new-folder", work.to_str().context("a path in Unicode")?).await?;
    app.fill("composer", "How many notes are there?").await?;
    app.click("send").await?;
    app.find("turn-end[data-end=finished]").await?;
    // The person chose that closing hides the window.
    app.press_close()?;
    app.click("closing-hide").await?;
    app.until("the window to go", async || Ok((app.windows_shown()? == 0).then_some(()))).await?;
    panel.choose("Open Octo").await?;
    app.until("the window to come back", async || Ok((app.windows_shown()? == 1).then_some(()))).await?;

    app.click("open-settings").await?;
    app.until("the page of data", async || {
        let page =
            "const page = document.querySelector('[data-page=data]'); page?.click(); return page !== null";
        Ok((app.script(page).await? == true).then_some(()))
    })
    .await?;
    app.click("data-back-up").await?;
    choose(&desktop, &app, &out).await?;
    app.find("data-copied").await?;
    app.picture("data-copied-dark").await?;
    let copy = only(&out)?;
    ensure!(copy.join("octo.db").is_file(), "the sessions are in {}", copy.display());

    app.click("data-erase").await?;
    app.find("erase-dialog").await?;
    app.fill("erase-word", &say("data.erase.word")).await?;
    app.picture("data-erase-dark").await?;
    app.click("erase-confirm").await?;
    let message = app.text("erased").await?;
    assert!(message.contains(&say("data.erased")), "{message}");
    app.picture("data-erased-dark").await?;
    assert!(!message.contains("Left in"), "all that Octo put there is known: {message}");
    assert!(!home.join("octo.db").exists(), "it is gone");
    assert!(work.is_dir() && copy.join("octo.db").is_file(), "what is the person's stays");

    // There is nothing left to keep in the tray.
    app.press_close()?;
    tokio::time::timeout(Duration::from_secs(30), app.ended()).await.context("it goes on")??;
    assert_eq!(server.requests().len(), 2);
    Ok(())
}

/// Returns the only entry of a folder.
fn only(folder: &std::path::Path) -> Result<PathBuf> {
    let entries: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    ensure!(entries.len() == 1, "{entries:?}");
    entries.into_iter().next().context("one")
}
