//! The work of another process on the same home is visible in this window, and can be stopped from it; the list
//! by folders, and custom shortcuts.

use crate::first_task::{KEY, connect};
use anyhow::{Context as _, Result, ensure};
use octo_testkit::{Gate, ModelServer, Reply, Script, ServerOptions};
use octo_tests::{Application, Desktop, Theme};
use serde_json::json;
use std::{fs, process::Stdio, time::Instant};

/// Control in the driver's encoding, held until the element's keys end.
const CONTROL: &str = "\u{e009}";

/// Exit code of `octo exec` after it was stopped.
const STOPPED: i32 = 130;

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn a_turn_in_a_terminal_is_seen_in_the_window_and_stopped_from_it() -> Result<()> {
    let desktop = Desktop::start()?;
    let (home, work, other_folder) =
        (desktop.folder().join("octo"), desktop.home().join("notes"), desktop.home().join("garden"));
    fs::create_dir(&work)?;
    fs::create_dir(&other_folder)?;
    let gate = Gate::new();
    let server = ModelServer::start_with(
        Script::new()
            .text("ok")
            .text("A circle's area is $A = \\pi r^2$, and\n\n$$\\int_0^1 x^2\\,dx = \\frac{1}{3}$$\n\nfor $5 it is cheap.")
            .reply(
                Reply::text("The beds are counted one by one.")
                    .and_call("terminal", json!({ "command": "echo roses" })),
            )
            .reply(Reply::text("There are many of them.").in_chunks(4).hold_after(1, &gate)),
        ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() },
    );
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    connect(&app, &server.url(), "neighbours").await?;
    app.fill("new-folder", work.to_str().context("a path in Unicode")?).await?;
    app.fill("composer", "How big is a circle?").await?;
    app.click("send").await?;
    app.find("turn-end[data-end=finished]").await?;
    let formulas = "return document.querySelectorAll('[data-testid=answer] .katex').length";
    app.until("both formulas to be set", async || Ok((app.script(formulas).await? == 2).then_some(())))
        .await?;
    app.picture("formulas-light").await?;

    // In a terminal, with this home's model and key.
    let exec = Application::second_process(&desktop, &home)?
        .args(["exec", "--mode", "autonomous", "--cwd"])
        .arg(&other_folder)
        .arg("Count the beds")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let process = exec.id();
    gate.reached().await;
    app.click("open-activity").await?;
    let label = format!("in another Octo (process {process})");
    let row = app.text_where("activity-row", "the other's turn", |text| text.contains(&label)).await?;
    ensure!(row.contains("Count the beds") && row.contains("garden"), "{row}");
    app.picture("neighbours-running-light").await?;
    // Its work is readable here, step by step. The driver treats a title that may be cut off as hidden.
    app.script("document.querySelector('[data-testid=activity-open]').click()").await?;
    app.text_where("transcript", "its first step", |text| {
        text.contains("The beds are") && text.contains("roses")
    })
    .await?;
    app.picture("neighbours-session-light").await?;

    app.click("open-activity").await?;
    let started = Instant::now();
    app.click("activity-stop").await?;
    let ended = tokio::task::spawn_blocking(move || exec.wait_with_output()).await??;
    let elapsed = started.elapsed();
    ensure!(ended.status.code() == Some(STOPPED), "after {elapsed:?}: {ended:?}");
    app.find("activity-empty").await?;
    gate.open();

    by_folders(&app).await?;
    keys_of_ones_own(&app).await?;
    app.close().await?;
    server.assert_clean();
    assert_eq!(server.replies_left(), 0);
    Ok(())
}

/// Lists the sessions by folder, and opens one from there.
async fn by_folders(app: &Application) -> Result<()> {
    app.click("session-filter").await?;
    app.click("list-order-folder").await?;
    app.click("session-filter").await?;
    let folders = app
        .until("both folders", async || {
            let folders = app.texts("folder-row").await?;
            // The driver does not read elements that exist but are not drawn yet.
            let drawn = folders.len() == 2 && folders.iter().all(|name| !name.is_empty());
            Ok(drawn.then_some(folders))
        })
        .await?;
    ensure!(folders[0].contains("garden") && folders[1].contains("notes"), "the newest first: {folders:?}");
    app.until("the sessions in them", async || {
        let rows = app.texts("session-row").await?;
        if rows.len() == 2 {
            return Ok(Some(()));
        }
        // Those that are closed are opened.
        for row in app.all("folder-row").await? {
            if row.attr("aria-expanded").await?.as_deref() == Some("false") {
                row.click().await?;
            }
        }
        Ok(None)
    })
    .await?;
    app.picture("list-by-folders-light").await?;
    app.click("session-row").await?;
    app.find("turn-end[data-end=stopped]").await?;
    app.text_where("answer", "what had come", |text| text.contains("The beds are")).await?;
    Ok(())
}

/// Checks that new shortcuts for the palette open it, and the old ones do not.
async fn keys_of_ones_own(app: &Application) -> Result<()> {
    app.click("open-settings").await?;
    app.click("settings-page[data-page=shortcuts]").await?;
    app.click("shortcut-keys-palette").await?;
    app.type_into("shortcut-keys-palette", &format!("{CONTROL}p")).await?;
    app.text_where("shortcut-keys-palette", "the new keys", |text| text.contains('P')).await?;
    app.picture("shortcuts-chosen-light").await?;
    app.click("settings-page[data-page=tasks]").await?;
    app.find("tasks-scheduled").await?;
    app.picture("settings-tasks-light").await?;
    app.click("settings-back").await?;
    app.click("new-session").await?;
    app.type_into("composer", &format!("{CONTROL}k")).await?;
    app.type_into("composer", &format!("{CONTROL}p")).await?;
    app.find("palette-input").await?;
    ensure!(app.all("palette").await?.len() == 1, "one of them, by the new keys");
    app.picture("palette-by-chosen-keys-light").await?;
    app.type_into("palette-input", "\u{e00c}").await?;
    app.until("the palette to close", async || Ok(app.all("palette-input").await?.is_empty().then_some(())))
        .await
}
