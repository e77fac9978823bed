//! Started by the system at login: hidden, with the tray to bring it back, and the window as it was left.

use crate::{
    export_import::say,
    first_task::{KEY, connect},
};
use anyhow::{Context as _, Result, ensure};
use octo_testkit::{ModelServer, Script, ServerOptions};
use octo_tests::{Application, BareApplication, Desktop, Panel, Theme};
use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Smaller than the window's initial size, and not a common screen size.
const SIZE: (u32, u32) = (1013, 707);

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn at_login_octo_starts_hidden_with_its_saved_window() -> Result<()> {
    let desktop = Desktop::start()?;
    let panel = Panel::start(&desktop).await?;
    let server = ModelServer::start_with(
        Script::new().text("ok"),
        ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() },
    );
    let home = desktop.folder().join("octo");
    let entries = desktop.home().join(".config/autostart");
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    connect(&app, &server.url(), "login").await?;
    app.click("open-settings").await?;
    app.click("settings-page[data-page=general]").await?;
    app.find("desktop-autostart").await?;
    ensure!(entry(&entries)?.is_none(), "nothing is entered before it is wanted");
    app.click("desktop-autostart").await?;
    let path = app.until("the system's entry", async || entry(&entries)).await?;
    app.picture("autostart-light").await?;
    app.click("desktop-autostart").await?;
    app.until("the entry to go", async || Ok(entry(&entries)?.is_none().then_some(()))).await?;
    app.click("desktop-autostart").await?;
    app.until("the entry again", async || entry(&entries)).await?;
    app.resize(SIZE.0, SIZE.1).await?;
    app.press_close()?;
    app.click("closing-quit").await?;
    app.ended().await?;

    // The session manager's handling of the entry, according to the desktop entry specification.
    let text = fs::read_to_string(&path)?;
    let line = text.lines().find_map(|line| line.strip_prefix("Exec=")).context("a line to run")?;
    ensure!(line.ends_with("--hidden"), "{line}");
    let mut command = desktop.command("sh");
    command.arg("-c").arg(format!("exec {line}")).env("OCTO_HOME", &home);
    let mut app = BareApplication::spawn(&desktop, command)?;
    panel.entry(&say("tray.open")).await.context("the tray")?;
    // A wrongly opened window would appear with the tray, so the test watches a while longer.
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(2) {
        ensure!(app.windows_shown()? == 0, "it came up at login");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panel.choose(&say("tray.open")).await.context("opening")?;
    app.painted()?;
    assert_eq!(app.size()?, SIZE, "as it was left");
    panel.choose(&say("tray.quit")).await?;
    app.ended()
}

/// Returns the only entry the system finds there.
fn entry(folder: &Path) -> Result<Option<PathBuf>> {
    if !folder.exists() {
        return Ok(None);
    }
    let found = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    ensure!(found.len() <= 1, "{found:?}");
    Ok(found.into_iter().next())
}
