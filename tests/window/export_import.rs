//! A session exported from Octo and imported again: its parts are listed before it is written, and secrets are
//! left out.

use crate::first_task::{KEY, connect};
use anyhow::{Context as _, Result};
use octo_protocol::{Language, words};
use octo_testkit::{ModelServer, Script, ServerOptions};
use octo_tests::{Application, Desktop, Theme};
use std::{collections::BTreeMap, fs, path::Path};

/// Has the format of a forge's token.
const SECRET: &str = "ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R";

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn a_session_is_exported_without_its_secrets_and_imported_again() -> Result<()> {
    let desktop = Desktop::start()?;
    let (home, work, out) =
        (desktop.folder().join("octo"), desktop.home().join("notes"), desktop.home().join("out"));
    fs::create_dir(&work)?;
    fs::create_dir(&out)?;
    let server = ModelServer::start_with(
        Script::new().text("ok").text("I keep it to **myself**."),
        ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() },
    );
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    connect(&app, &server.url(), "carrying").await?;
    app.fill("new-folder", work.to_str().context("a path in Unicode")?).await?;
    app.fill("composer", &format!("Do not tell anybody: {SECRET}")).await?;
    app.click("send").await?;
    app.find("turn-end[data-end=finished]").await?;

    // Readable text: first the list of its parts, then the file, with a placeholder for the secret.
    export(&app, "markdown").await?;
    let listed = app.text("export-dialog").await?;
    for part in [
        say("export.kind.asked"),
        say("export.kind.answers"),
        "2 secrets are replaced with [redacted]".to_owned(),
    ] {
        assert!(listed.contains(&part), "{part}: {listed}");
    }
    app.picture("export-markdown-light").await?;
    app.click("export-choose-folder").await?;
    choose(&desktop, &app, &out).await?;
    let text = written(&app, &out, "md").await?;
    assert!(text.contains("I keep it to **myself**.") && text.contains("[redacted]"), "{text}");
    assert!(!text.contains(SECRET), "{text}");
    app.text_where("toast", "where it is", |text| text.contains("Exported to")).await?;
    app.picture("exported-light").await?;

    // Everything, for another Octo: inspected first, then a separate session.
    export(&app, "json").await?;
    app.click("export-choose-folder").await?;
    choose(&desktop, &app, &out).await?;
    let file = written(&app, &out, "json").await?;
    assert!(!file.contains(SECRET), "neither is it in there");
    let path = found(&out, "json")?.context("the file")?;
    app.click("new-session").await?;
    app.click("session-import").await?;
    choose(&desktop, &app, &path).await?;
    app.text_where("import-dialog", "what is in it", |text| text.contains("2 messages")).await?;
    app.picture("import-light").await?;
    app.click("import-start").await?;
    app.text_where("answer", "the conversation", |text| text.contains("I keep it to myself.")).await?;
    let rows =
        app.until("both sessions", async || Ok((app.all("session-row").await?.len() == 2).then_some(())));
    rows.await?;
    let message = app.text("user-message").await?;
    assert!(message.contains("[redacted]") && !message.contains(SECRET), "{message}");
    app.picture("imported-light").await?;
    app.close().await?;
    server.assert_clean();
    assert_eq!(server.replies_left(), 0, "nothing was sent again");
    Ok(())
}

pub fn say(key: &str) -> String {
    words::say(Language::En, key, &BTreeMap::new())
}

/// Opens the export from the session's menu, in a form.
async fn export(app: &Application, form: &str) -> Result<()> {
    app.script("[...document.querySelectorAll('.head .btn.icon-only')].at(-1).click()").await?;
    app.pick(&say("session.export")).await?;
    app.click(&format!("export-format-{form}")).await?;
    app.until("what is in it", async || {
        let ready = "return !document.querySelector('[data-testid=export-choose-folder]').disabled";
        Ok((app.script(ready).await? == true).then_some(()))
    })
    .await
}

/// How long the system's dialog may take to close once a name was entered.
const COMPLETED: std::time::Duration = std::time::Duration::from_secs(3);

/// Enters a file or folder in the system's own dialog, with keys.
pub async fn choose(desktop: &Desktop, app: &Application, path: &Path) -> Result<()> {
    let xdotool = |arguments: &[&str]| -> Result<String> {
        let output = desktop.command("xdotool").args(arguments).output().context("xdotool is installed")?;
        Ok(String::from_utf8(output.stdout)?)
    };
    let dialog = app
        .until("the system's dialog", async || {
            for window in xdotool(&["search", "--onlyvisible", "--name", "."])?.lines() {
                let name = xdotool(&["getwindowname", window])?;
                // The title of Octo's own dialog ends with its name.
                if !name.trim().is_empty() && !name.trim().ends_with("Octo") {
                    return Ok(Some(window.to_owned()));
                }
            }
            Ok(None)
        })
        .await?;
    xdotool(&["windowfocus", "--sync", &dialog])?;
    app.screen("system-dialog")?;
    xdotool(&["type", "--delay", "20", path.to_str().context("a path in Unicode")?])?;
    xdotool(&["key", "Return"])?;
    // The first Return may only accept the suggested completion of the name.
    tokio::time::sleep(COMPLETED).await;
    if app.windows_shown()? > 1 {
        xdotool(&["key", "Return"])?;
    }
    app.until("the dialog to go", async || Ok((app.windows_shown()? == 1).then_some(()))).await
}

/// Returns the only file of a kind in a folder, once it exists.
async fn written(app: &Application, folder: &Path, kind: &str) -> Result<String> {
    app.until("the file", async || {
        Ok(match found(folder, kind)? {
            Some(path) => Some(fs::read_to_string(path)?),
            None => None,
        })
    })
    .await
}

fn found(folder: &Path, kind: &str) -> Result<Option<std::path::PathBuf>> {
    let mut paths = fs::read_dir(folder)?.filter_map(Result::ok).map(|entry| entry.path());
    Ok(paths.find(|path| path.extension().is_some_and(|extension| extension == kind)))
}
