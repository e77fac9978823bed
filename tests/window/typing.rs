//! Typing and pasting with the keys and the clipboard of the screen: an input method that composes, and a
//! screenshot.

use crate::first_task::{KEY, connect};
use anyhow::{Context as _, Result, ensure};
use octo_testkit::{ModelServer, Script, ServerOptions};
use octo_tests::{Application, Desktop, Theme};
use std::{fs, time::Duration};

/// How long a key press may take to have an effect, in checks that it has none.
const HEARD: Duration = Duration::from_millis(400);

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn a_character_is_composed_and_what_was_copied_is_pasted() -> Result<()> {
    let desktop = Desktop::start()?;
    let (home, work) = (desktop.folder().join("octo"), desktop.home().join("notes"));
    fs::create_dir(&work)?;
    let server = ModelServer::start_with(
        Script::new().text("ok").text("Hello."),
        ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() },
    );
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    connect(&app, &server.url(), "typing").await?;
    app.fill("new-folder", work.to_str().context("a path in Unicode")?).await?;
    let count = server.requests().len();

    let xdotool = |arguments: &[&str]| -> Result<String> {
        let output = desktop.command("xdotool").args(arguments).output().context("xdotool is installed")?;
        ensure!(output.status.success(), "xdotool {arguments:?}");
        Ok(String::from_utf8(output.stdout)?)
    };
    let key = |name: &str| xdotool(&["key", "--delay", "30", name]);
    // There is no window manager here, so no window has the focus initially.
    let found = xdotool(&["search", "--onlyvisible", "--name", "Octo$"])?;
    xdotool(&["windowfocus", "--sync", found.lines().next().context("the window")?])?;
    app.click("composer").await?;

    // The input method every GTK has: a character by its number, ended by Return.
    xdotool(&["type", "--delay", "30", "Is "])?;
    key("ctrl+shift+u")?;
    xdotool(&["type", "--delay", "30", "4f60"])?;
    tokio::time::sleep(HEARD).await;
    app.picture("composing-light").await?;
    key("Return")?;
    let value =
        || async { app.script("return document.querySelector('[data-testid=composer]').value").await };
    app.until("the character", async || Ok((value().await? == "Is 你").then_some(()))).await?;
    tokio::time::sleep(HEARD).await;
    ensure!(server.requests().len() == count, "the Return was the input method's");

    // As a browser copies one: with the markup that shows it.
    desktop.copy(&[("image/png", &picture()?), ("text/html", b"<img src='https://example.org/a.png'>")])?;
    key("ctrl+v")?;
    app.find("attachment").await?;
    app.picture("pasted-light").await?;
    ensure!(value().await? == "Is 你");
    key("Return")?;
    app.find("turn-end[data-end=finished]").await?;
    // Not the last request: requests after a turn may have been sent already.
    let sent = server.requests().into_iter().find(|request| request.user_text().contains("Is 你"));
    let request = sent.context("what was sent")?;
    let sent = String::from_utf8_lossy(&request.raw).into_owned();
    ensure!(sent.contains("image/png"), "the picture is sent: {sent}");

    // Text stays text, and a file copied in a file manager is attached.
    app.click("composer").await?;
    desktop.copy(&[("UTF8_STRING", b"copied words")])?;
    key("ctrl+v")?;
    app.until("the words", async || Ok((value().await? == "copied words").then_some(()))).await?;
    ensure!(app.all("attachment").await?.is_empty());
    // A copied table includes a picture of itself.
    desktop.copy(&[("UTF8_STRING", b" of a table"), ("image/png", &picture()?)])?;
    key("ctrl+v")?;
    app.until("the table's words", async || Ok((value().await? == "copied words of a table").then_some(())))
        .await?;
    ensure!(app.all("attachment").await?.is_empty());
    let list = work.join("the list.md");
    fs::write(&list, "- milk\n")?;
    let address = format!("file://{}\r\n", list.to_str().context("a path in Unicode")?.replace(' ', "%20"));
    desktop.copy(&[
        ("text/uri-list", address.as_bytes()),
        ("UTF8_STRING", list.as_os_str().as_encoded_bytes()),
    ])?;
    key("ctrl+v")?;
    app.text_where("attachment", "the file", |text| text.contains("the list.md")).await?;
    ensure!(value().await? == "copied words of a table");
    app.close().await
}

/// A picture of a part of the screen.
fn picture() -> Result<Vec<u8>> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let picture = image::RgbImage::from_fn(120, 80, |x, y| image::Rgb([x as u8, y as u8, 160]));
    picture.write_to(&mut bytes, image::ImageFormat::Png)?;
    Ok(bytes.into_inner())
}
