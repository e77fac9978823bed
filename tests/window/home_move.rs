//! The location of Octo's data: a restored copy, and another folder.

use crate::{
    export_import::choose,
    first_task::{KEY, connect},
};
use anyhow::{Context as _, Result, ensure};
use octo_testkit::{ModelServer, Script, ServerOptions};
use octo_tests::{Application, Desktop, Theme};
use std::{
    fs,
    path::{Path, PathBuf},
};

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn a_home_restore_and_a_move_happen_at_the_next_start() -> Result<()> {
    let desktop = Desktop::start()?;
    let usual = desktop.home().join(".octo");
    let folder = |name: &str| -> Result<PathBuf> {
        let path = desktop.home().join(name);
        fs::create_dir(&path)?;
        Ok(path)
    };
    let (work, out, other_folder) = (folder("notes")?, folder("out")?, folder("elsewhere")?);
    let server = ModelServer::start_with(
        Script::new().text("ok").text("There are two.").text("There are three.").text("It is still here."),
        ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() },
    );
    let app = Application::open_settled(&desktop, Theme::Light).await?;
    connect(&app, &server.url(), "residence").await?;
    ask(&app, Some(&work), "How many herons are there?").await?;
    ensure!(usual.join("octo.db").is_file(), "it settled in {}", usual.display());

    places(&app).await?;
    app.click("data-back-up").await?;
    choose(&desktop, &app, &out).await?;
    app.find("data-copied").await?;
    let copy = fs::read_dir(&out)?.next().context("a copy")??.path();
    // Changes after the copy are not in it.
    app.click("settings-back").await?;
    app.click("new-session").await?;
    ask(&app, Some(&work), "How many storks are there?").await?;
    assert_eq!(app.all("session-row").await?.len(), 2);

    places(&app).await?;
    app.click("data-restore").await?;
    choose(&desktop, &app, &copy).await?;
    app.find("copy-dialog").await?;
    app.picture("restore-asked").await?;
    app.click("copy-restore").await?;
    app.find("data-plan[data-plan=restore]").await?;
    app.picture("restore-planned").await?;
    assert!(
        app.all("session-row").await?.len() == 2 || usual.join("octo.db").is_file(),
        "nothing is done yet"
    );
    app.close().await?;

    let app = Application::open_settled(&desktop, Theme::Light).await?;
    listed(&app, "herons").await?;
    assert_eq!(app.all("session-row").await?.len(), 1, "as it was when it was copied");
    places(&app).await?;
    let former_home = app.text("data-former").await?;
    assert!(former_home.contains("-before-"), "what was there is kept aside: {former_home}");
    app.picture("restored").await?;

    app.click("data-move").await?;
    choose(&desktop, &app, &other_folder).await?;
    app.text_where("data-move", "the question", |text| {
        text == crate::export_import::say("data.move.confirm")
    })
    .await?;
    app.click("data-move").await?;
    app.find("data-plan[data-plan=move]").await?;
    assert!(!other_folder.join("octo.db").exists(), "nothing is done yet");
    app.close().await?;

    let app = Application::open_settled(&desktop, Theme::Light).await?;
    listed(&app, "herons").await?;
    ensure!(other_folder.join("octo.db").is_file(), "it is in {}", other_folder.display());
    // It works there as before, with the same key.
    app.click("session-row").await?;
    ask(&app, None, "And now?").await?;
    app.picture("moved").await?;
    app.close().await?;
    assert_eq!(server.requests().len(), 4);
    Ok(())
}

/// Sends a message and waits for the turn's end, in a new session if a folder is given.
async fn ask(app: &Application, folder: Option<&Path>, text: &str) -> Result<()> {
    if let Some(folder) = folder {
        app.fill("new-folder", folder.to_str().context("a path in Unicode")?).await?;
    }
    app.fill("composer", text).await?;
    let before = app.all("turn-end").await?.len();
    app.click("send").await?;
    app.until("the turn's end", async || {
        let ended = app.all("turn-end[data-end=finished]").await?.len();
        Ok((ended > before || (folder.is_some() && ended == 1)).then_some(()))
    })
    .await
}

/// Waits for a session with these words in the list, which loads a moment after the window.
async fn listed(app: &Application, text: &str) -> Result<()> {
    let rows = "return [...document.querySelectorAll('[data-testid=session-row]')].map((row) => row.textContent).join()";
    app.until("the session", async || {
        Ok(app.script(rows).await?.as_str().is_some_and(|rows| rows.contains(text)).then_some(()))
    })
    .await
}

/// Checks the data settings, which show all locations.
async fn places(app: &Application) -> Result<()> {
    app.click("open-settings").await?;
    app.until("the page of data", async || {
        let page =
            "const page = document.querySelector('[data-page=data]'); page?.click(); return page !== null";
        Ok((app.script(page).await? == true).then_some(()))
    })
    .await?;
    app.find("data-move").await?;
    Ok(())
}
