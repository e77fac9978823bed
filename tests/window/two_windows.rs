//! Two windows on one session: each shows the other's events, and each closes separately.

use crate::first_task::connect;
use anyhow::{Context as _, Result};
use octo_protocol::{Language, words};
use octo_testkit::{Gate, ModelServer, Reply, Script, ServerOptions};
use octo_tests::{Application, Desktop, Theme};
use std::{collections::BTreeMap, fs, time::Duration};

/// The key in the driver's encoding; it opens the menu of a session.
const F2: &str = "\u{e032}";

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn two_windows_show_one_session() -> Result<()> {
    let desktop = Desktop::start()?;
    let gate = Gate::new();
    let server = ModelServer::start_with(
        Script::new().text("ok").text("One.").text("Two.").reply(
            Reply::text("Three words or more, of which not all are sent.").in_chunks(8).hold_after(3, &gate),
        ),
        ServerOptions { key: Some(crate::first_task::KEY.to_owned()), ..ServerOptions::default() },
    );
    let home = desktop.folder().join("octo");
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    connect(&app, &server.url(), "two-windows").await?;
    let work = desktop.home().join("notes");
    fs::create_dir_all(&work)?;
    app.fill("new-folder", work.to_str().context("a path in Unicode")?).await?;
    app.fill("composer", "First").await?;
    app.click("send").await?;
    app.find("turn-end[data-end=finished]").await?;

    // Not sent: the other window has the draft too, and once it is sent there it is not left here.
    app.fill("composer", "Second").await?;
    open_twice(&app).await?;
    assert_eq!(app.windows_shown()?, 2, "asked for twice, a session has one window of its own");
    let keys = |arguments: &[&str]| -> Result<()> {
        let status = desktop.command("xdotool").args(arguments).status().context("xdotool")?;
        assert!(status.success());
        Ok(())
    };
    app.until("the other window to be drawn", async || Ok(app.front_is_drawn()?.then_some(()))).await?;
    app.until("what is sent in the other window", async || {
        keys(&["key", "Return"])?;
        tokio::time::sleep(Duration::from_millis(300)).await;
        Ok((server.requests().len() == 3).then_some(()))
    })
    .await?;
    assert!(server.requests()[2].user_text().contains("Second"));
    app.until("its answer here", async || {
        let answers = app.texts("answer").await?;
        Ok((answers.len() == 2 && answers[1].contains("Two.")).then_some(()))
    })
    .await?;
    app.until("the composer to be empty", async || {
        let draft = app.script("return document.querySelector('[data-testid=composer]').value").await?;
        Ok((draft == "").then_some(()))
    })
    .await?;
    app.screen("two-windows")?;

    // Work started here is stopped there.
    app.fill("composer", "Third").await?;
    app.click("send").await?;
    gate.reached().await;
    app.text_where("transcript", "the answer to begin", |text| text.contains("Third")).await?;
    app.until("the turn to be stopped", async || {
        keys(&["key", "Escape"])?;
        tokio::time::sleep(Duration::from_millis(300)).await;
        Ok((!app.all("turn-end[data-end=stopped]").await?.is_empty()).then_some(()))
    })
    .await?;
    gate.open();

    // Each window closes separately, and the first ends Octo.
    app.press_close_front()?;
    app.until("the other window to go", async || Ok((app.windows_shown()? == 1).then_some(()))).await?;
    app.find("composer").await?;
    open_twice(&app).await?;
    server.assert_clean();
    app.close_rearmost().await
}

/// Opens the session of the list in its own window, twice.
async fn open_twice(app: &Application) -> Result<()> {
    for _ in 0..2 {
        app.type_into("session-row", F2).await?;
        app.pick(&words::say(Language::En, "session.window", &BTreeMap::new())).await?;
        app.until("the other window", async || Ok((app.windows_shown()? == 2).then_some(()))).await?;
    }
    Ok(())
}
