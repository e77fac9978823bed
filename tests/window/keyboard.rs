//! The real window without a mouse: keyboard input starts a session, answers questions, opens the palette and
//! changes the language.

use crate::first_task::{KEY, connect};
use anyhow::{Context as _, Result, ensure};
use octo_testkit::{ModelServer, Script, ServerOptions};
use octo_tests::{Application, Desktop, Theme};
use serde_json::json;
use std::fs;

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn the_main_flows_work_by_keyboard() -> Result<()> {
    let desktop = Desktop::start()?;
    let (home, work) = (desktop.folder().join("octo"), desktop.home().join("notes"));
    fs::create_dir(&work)?;
    let question = json!({
        "question": "Which name shall it have?",
        "options": ["made", "done"],
    });
    let server = ModelServer::start_with(
        Script::new()
            .text("ok")
            .text("Hello.")
            .call("request_user_feedback", question)
            .call("terminal", json!({ "command": "sh -c 'touch done'" }))
            .text("It is there."),
        ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() },
    );
    let app = Application::open(&desktop, &home, Theme::Dark).await?;
    connect(&app, &server.url(), "keyboard").await?;
    // The next session gets the folder of the first.
    app.fill("new-folder", work.to_str().context("a path in Unicode")?).await?;
    app.fill("composer", "Hello").await?;
    app.click("send").await?;
    app.find("turn-end[data-end=finished]").await?;

    let xdotool = |arguments: &[&str]| -> Result<String> {
        let output = desktop.command("xdotool").args(arguments).output().context("xdotool is installed")?;
        ensure!(output.status.success(), "xdotool {arguments:?}");
        Ok(String::from_utf8(output.stdout)?)
    };
    let key = |name: &str| xdotool(&["key", name]);
    let write = |text: &str| xdotool(&["type", "--delay", "15", text]);
    // There is no window manager here, so no window has the focus initially.
    let found = xdotool(&["search", "--onlyvisible", "--name", "Octo$"])?;
    xdotool(&["windowfocus", "--sync", found.lines().next().context("the window")?])?;

    key("ctrl+n")?;
    focus(&app, "composer").await?;
    write("Make a file")?;
    key("Return")?;
    // A question with options: the second chosen by an arrow, sent by Return from the field after it.
    app.find("feedback").await?;
    until_focus(&app, "feedback-option", || key("Tab")).await?;
    key("Down")?;
    app.picture("keyboard-question-dark").await?;
    key("Tab")?;
    key("Return")?;
    app.text_where("question", "the command to be asked about", |text| text.contains("touch done")).await?;
    app.picture("keyboard-permission-dark").await?;
    ensure!(!work.join("done").exists(), "nothing runs before the answer");
    // The focus is in the field, or moved on to this card. Not in the first moment: keys meant for the previous
    // card must not answer this one.
    app.until("the answer to be taken", async || {
        key("Return")?;
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        Ok(app.all("question").await?.is_empty().then_some(()))
    })
    .await?;
    app.find("turn-end[data-end=finished]").await?;
    ensure!(work.join("done").exists());

    // The palette opens a page of settings, and a button there changes the language.
    key("ctrl+k")?;
    focus(&app, "palette-input").await?;
    write("General")?;
    app.text_where("palette-choice", "the page", |text| text.contains("General")).await?;
    app.picture("keyboard-palette-dark").await?;
    key("Return")?;
    app.find("settings").await?;
    until_focus(&app, "language-zh", || key("Tab")).await?;
    key("Return")?;
    app.until("it in Chinese", async || {
        Ok((app.script("return document.documentElement.lang").await? == "zh-CN").then_some(()))
    })
    .await?;
    app.picture("keyboard-language-dark").await?;
    app.close().await?;
    server.assert_clean();
    assert_eq!(server.replies_left(), 0);
    Ok(())
}

const FOCUSED: &str = "return document.activeElement?.dataset?.testid ?? ''";

/// Waits until this element has received the focus.
async fn focus(app: &Application, id: &str) -> Result<()> {
    app.until(&format!("the focus on {id}"), async || Ok((app.script(FOCUSED).await? == id).then_some(())))
        .await
}

/// Presses until an element whose id begins like this has the focus.
async fn until_focus(app: &Application, id: &str, press: impl Fn() -> Result<String>) -> Result<()> {
    for _ in 0..60 {
        let focused = app.script(FOCUSED).await?;
        if focused.as_str().is_some_and(|focused| focused.starts_with(id)) {
            return Ok(());
        }
        press()?;
        tokio::time::sleep(std::time::Duration::from_millis(40)).await;
    }
    anyhow::bail!("no way by keys to {id}")
}
