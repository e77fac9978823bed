//! System integration: the tray, notices, links, the quick ask window, and a page whose process crashes.

use anyhow::{Context as _, Result};
use octo_testkit::{Gate, ModelServer, Reply, Script, ServerOptions};
use octo_tests::{Application, Desktop, Panel, Theme};
use serde_json::json;
use std::{
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use crate::first_task::connect;

/// Starts a session in its own folder.
async fn ask(app: &Application, desktop: &Desktop, text: &str) -> Result<PathBuf> {
    let work = desktop.home().join("notes");
    fs::create_dir_all(&work)?;
    app.fill("new-folder", work.to_str().context("a path in Unicode")?).await?;
    app.fill("composer", text).await?;
    app.click("send").await?;
    Ok(work)
}

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn closing_asks_once_and_then_hides_to_the_tray() -> Result<()> {
    let desktop = Desktop::start()?;
    let panel = Panel::start(&desktop).await?;
    let home = desktop.folder().join("octo");
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    app.find("welcome").await?;
    panel.entry("Open Octo").await?;
    let icon = String::try_from(panel.icon("IconName").await?)?;
    assert!(PathBuf::from(&icon).starts_with(&home), "the icon is in the home: {icon}");
    assert!(!panel.entry("Nothing is running").await?.enabled);
    assert!(!panel.entry("Stop everything").await?.enabled);

    app.press_close()?;
    app.find("closing").await?;
    app.picture("closing-light").await?;
    app.click("closing-hide").await?;
    app.until("the window to go", async || Ok((app.windows_shown()? == 0).then_some(()))).await?;
    panel.choose("Open Octo").await?;
    app.until("the window to come back", async || Ok((app.windows_shown()? == 1).then_some(()))).await?;
    app.find("welcome").await?;

    // Asked once.
    app.press_close()?;
    app.until("the window to go", async || Ok((app.windows_shown()? == 0).then_some(()))).await?;
    assert!(app.all("closing").await?.is_empty());
    // A second start brings it back.
    Application::start_again(&desktop, &home, &[])?;
    app.until("the window to come back", async || Ok((app.windows_shown()? == 1).then_some(()))).await?;
    panel.choose("Quit Octo").await?;
    app.ended().await
}

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn without_a_tray_it_asks_as_well_and_a_second_start_brings_the_window_back() -> Result<()> {
    let desktop = Desktop::start()?;
    let server = ModelServer::start_with(
        Script::new().text("ok"),
        ServerOptions { key: Some(crate::first_task::KEY.to_owned()), ..ServerOptions::default() },
    );
    let home = desktop.folder().join("octo");
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    connect(&app, &server.url(), "no-tray").await?;
    app.press_close()?;
    let message = app.text("closing").await?;
    assert!(message.contains("open Octo again to bring the window back"), "{message}");
    app.picture("closing-no-tray-light").await?;
    app.click("closing-hide").await?;
    for _ in 0..2 {
        app.until("the window to go", async || Ok((app.windows_shown()? == 0).then_some(()))).await?;
        Application::start_again(&desktop, &home, &[])?;
        app.until("the window to come back", async || Ok((app.windows_shown()? == 1).then_some(()))).await?;
        assert!(app.all("closing").await?.is_empty(), "asked once");
        app.press_close()?;
    }
    app.until("the window to go", async || Ok((app.windows_shown()? == 0).then_some(()))).await?;
    Application::start_again(&desktop, &home, &[])?;
    app.until("the window to come back", async || Ok((app.windows_shown()? == 1).then_some(()))).await?;
    // The way to quit an application whose window only hides.
    app.type_into("composer", "\u{e009}k").await?;
    app.type_into("palette-input", "quit").await?;
    app.text_where("palette-choice", "the end", |text| text.contains("Quit Octo")).await?;
    // The page may be gone before the driver reports the key press.
    let _pressed = app.type_into("palette-input", "\u{e007}").await;
    app.ended().await
}

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn a_question_and_a_turns_end_notify_an_absent_person() -> Result<()> {
    let desktop = Desktop::start()?;
    let panel = Panel::start(&desktop).await?;
    let (gate, second) = (Gate::new(), Gate::new());
    let server = ModelServer::start_with(
        Script::new()
            .text("ok")
            .reply(
                Reply::text("I look first.")
                    .in_chunks(2)
                    .hold_after(1, &gate)
                    .and_call("terminal", json!({ "command": "sh -c 'touch made'" })),
            )
            .text("It is made.")
            .reply(
                Reply::text("Once more.")
                    .in_chunks(2)
                    .hold_after(1, &second)
                    .and_call("terminal", json!({ "command": "sh -c 'touch more'" })),
            ),
        ServerOptions { key: Some(crate::first_task::KEY.to_owned()), ..ServerOptions::default() },
    );
    let home = desktop.folder().join("octo");
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    connect(&app, &server.url(), "system").await?;
    let work = ask(&app, &desktop, "Make <b>one</b> & no more").await?;
    gate.reached().await;
    panel.entry("Running: 1").await?;
    app.press_close()?;
    app.click("closing-hide").await?;
    app.until("the window to go", async || Ok((app.windows_shown()? == 0).then_some(()))).await?;

    gate.open();
    let question = panel.notice("Octo has a question").await?;
    assert_eq!(question.body, "Make &lt;b&gt;one&lt;/b&gt; &amp; no more", "the title, and no markup");
    panel.entry("Waiting for you: 1").await?;
    panel.badge("Octo", 1).await?;
    panel.click(&question).await?;
    app.until("the window to come back", async || Ok((app.windows_shown()? == 1).then_some(()))).await?;
    app.find("question").await?;
    app.picture("system-question-light").await?;
    app.press_close()?;
    app.until("the window to go", async || Ok((app.windows_shown()? == 0).then_some(()))).await?;
    // Answered while no window is visible: by the page, which still runs.
    app.script("document.querySelector('[data-testid=\"question-once\"]').click()").await?;
    panel.notice("Octo is done").await?;
    panel.badge("Octo", 0).await?;
    assert!(work.join("made").exists());
    panel.entry("Nothing is running").await?;
    let summaries: Vec<String> = panel.notices().into_iter().map(|notice| notice.summary).collect();
    assert_eq!(summaries, ["Octo has a question", "Octo is done"], "each once");

    // A question that is answered through its notice alone, which reports only the end afterwards.
    panel.choose("Open Octo").await?;
    app.until("the window to come back", async || Ok((app.windows_shown()? == 1).then_some(()))).await?;
    app.fill("composer", "And one more").await?;
    app.click("send").await?;
    second.reached().await;
    app.press_close()?;
    app.until("the window to go", async || Ok((app.windows_shown()? == 0).then_some(()))).await?;
    second.open();
    let second_notice = panel.notice_where("the second question", |notice| {
        notice.id != question.id && notice.summary == question.summary
    });
    panel.press(&second_notice.await?, "Stop").await?;
    panel.entry("Nothing is running").await?;
    assert!(!work.join("more").exists(), "nothing was allowed by it");
    assert_eq!(app.windows_shown()?, 0, "and nothing came to the front");
    let summaries = panel.notices().into_iter().filter(|notice| notice.summary == "Octo is done");
    assert_eq!(summaries.count(), 1, "what the person stopped is no news");
    panel.choose("Quit Octo").await?;
    app.ended().await?;
    server.assert_clean();
    Ok(())
}

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn a_link_is_shown_and_never_sent() -> Result<()> {
    let desktop = Desktop::start()?;
    let home = desktop.folder().join("octo");
    let server = ModelServer::start_with(
        Script::new().text("ok"),
        ServerOptions { key: Some(crate::first_task::KEY.to_owned()), ..ServerOptions::default() },
    );
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    connect(&app, &server.url(), "system").await?;
    let folder = desktop.home();
    let folder = folder.to_str().context("a path in Unicode")?;
    Application::start_again(
        &desktop,
        &home,
        &[&format!("octo://new?prompt=Delete%20everything&folder={folder}")],
    )?;
    app.find("new-foreign-text").await?;
    let field = "return document.querySelector('[data-testid=\"composer\"]').value";
    assert_eq!(app.script(field).await?, "Delete everything");
    let chosen = "return document.querySelector('[data-testid=\"new-folder\"]').value";
    assert_eq!(app.script(chosen).await?, folder);
    app.picture("link-light").await?;

    let long_link = format!("octo://new?prompt={}", "a".repeat(100_000));
    Application::start_again(&desktop, &home, &[&long_link])?;
    app.text_where("toast", "that it is too long", |text| text.contains("at most 16 KB")).await?;
    assert_eq!(app.script(field).await?, "Delete everything", "nothing was lost");
    app.picture("link-too-long-light").await?;

    Application::start_again(&desktop, &home, &["octo://settings/rules"])?;
    app.find("settings").await?;
    let skill = desktop.folder().join("none.skill");
    Application::start_again(&desktop, &home, &[skill.to_str().context("a path")?])?;
    app.find("skill-import").await?;
    app.picture("link-skill-light").await?;
    assert_eq!(server.requests().len(), 1, "only the test of the model was sent");
    assert!(app.all("session-row").await?.is_empty(), "no session began");
    app.close().await?;

    // Keeping it did not make it the person's own.
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    app.find("new-foreign-text").await?;
    assert_eq!(app.script(field).await?, "Delete everything");
    app.close().await
}

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn a_crashed_page_reloads_and_the_run_continues() -> Result<()> {
    let desktop = Desktop::start()?;
    let panel = Panel::start(&desktop).await?;
    let gate = Gate::new();
    let server = ModelServer::start_with(
        Script::new().text("ok").reply(
            Reply::text("Half of it is here. The other half follows.").in_chunks(8).hold_after(4, &gate),
        ),
        ServerOptions { key: Some(crate::first_task::KEY.to_owned()), ..ServerOptions::default() },
    );
    let home = desktop.folder().join("octo");
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    connect(&app, &server.url(), "system").await?;
    ask(&app, &desktop, "Tell me both halves").await?;
    gate.reached().await;
    panel.entry("Running: 1").await?;

    // The driver loses the page with its process: the rest is observed from outside.
    let before = app.kill_page()?;
    // Nothing draws now: this remains until the new page does.
    let picture = app.pixels()?;
    let started = Instant::now();
    while app.page_process()?.is_none_or(|process| process == before) {
        anyhow::ensure!(started.elapsed() < Duration::from_secs(30), "no other process draws the page");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panel.entry("Running: 1").await?;
    gate.open();
    panel.entry("Nothing is running").await?;
    // The old page's remains on the screen differ: it was in the middle of the answer.
    while app.pixels()? == picture || !app.is_drawn()? {
        anyhow::ensure!(started.elapsed() < Duration::from_secs(60), "the new page shows nothing");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    app.screen("page-came-back-light")?;
    assert_eq!(server.requests().len(), 2, "nothing was asked twice");
    panel.choose("Quit Octo").await?;
    app.ended().await?;
    server.assert_clean();
    Ok(())
}

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn the_quick_ask_window_starts_a_session() -> Result<()> {
    let desktop = Desktop::start()?;
    let panel = Panel::start(&desktop).await?;
    let server = ModelServer::start_with(
        Script::new().text("ok").text("One.").text("Two.").text("Three."),
        ServerOptions { key: Some(crate::first_task::KEY.to_owned()), ..ServerOptions::default() },
    );
    let home = desktop.folder().join("octo");
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    connect(&app, &server.url(), "system").await?;
    ask(&app, &desktop, "First").await?;
    app.find("turn-end[data-end=finished]").await?;
    // The form for it is a settings page; here its request is sent directly.
    let change = "const done = arguments[0]; \
        window.__TAURI_INTERNALS__.invoke('request', { request: { domain: 'app', call: { type: 'change_settings', \
        patch: { desktop: { quick_ask: 'Ctrl+Shift+Space' } } } } }).then(() => done(null), (error) => done(error.key))";
    assert_eq!(app.script_async(change).await?, json!(null));
    let keys = |arguments: &[&str]| -> Result<()> {
        let status = desktop.command("xdotool").args(arguments).status().context("xdotool")?;
        assert!(status.success());
        Ok(())
    };
    app.until("the small window", async || {
        keys(&["key", "ctrl+shift+space"])?;
        tokio::time::sleep(Duration::from_millis(500)).await;
        Ok((app.windows_shown()? == 2).then_some(()))
    })
    .await?;
    keys(&["type", "--delay", "20", "Second"])?;
    app.screen("quick-ask-light")?;
    keys(&["key", "Return"])?;
    app.until("the session", async || {
        let requests = server.requests();
        Ok((requests.len() == 3 && requests[2].user_text().contains("Second")).then_some(()))
    })
    .await?;
    app.until("both sessions", async || Ok((app.all("session-row").await?.len() == 2).then_some(()))).await?;
    let windows = async |count| {
        let expectation = format!("{count} windows");
        app.until(&expectation, async || Ok((app.windows_shown()? == count).then_some(()))).await
    };
    windows(1).await?;

    // By a command, for desktops that let no program listen to shortcuts; and from the tray. The typed text
    // stays.
    Application::start_again(&desktop, &home, &["--quick-ask"])?;
    windows(2).await?;
    keys(&["type", "--delay", "20", "Thi"])?;
    keys(&["key", "Escape"])?;
    windows(1).await?;
    panel.choose("Ask something…").await?;
    windows(2).await?;
    keys(&["key", "End"])?;
    keys(&["type", "--delay", "20", "rd"])?;
    keys(&["key", "Return"])?;
    app.until("the third session", async || {
        let requests = server.requests();
        Ok((requests.len() == 4 && requests[3].user_text().contains("Third")).then_some(()))
    })
    .await?;
    windows(1).await?;
    server.assert_clean();
    Ok(())
}
