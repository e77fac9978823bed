//! Names of the session folder's files in an answer: pictures are shown, files are shown in their folder. Also
//! everything at double size, which a picture and a line must support.

use crate::first_task::{KEY, connect};
use anyhow::{Context as _, Result, ensure};
use octo_testkit::{ModelServer, Script, ServerOptions};
use octo_tests::{Application, Desktop, Panel, Theme};
use serde_json::json;
use std::fs;

const ANSWER: &str = "The chart is done:\n\n![herons by month](out/a%20chart.png)\n\nThe numbers are in \
    [the table](out/counts.csv), and ![another](../private.png) is none of them.";
/// Width of the picture in its own pixels.
const WIDTH: u64 = 240;

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn an_answers_pictures_and_files_are_shown_at_double_zoom() -> Result<()> {
    let desktop = Desktop::start()?;
    let panel = Panel::start(&desktop).await?;
    let (home, work) = (desktop.folder().join("octo"), desktop.home().join("herons"));
    fs::create_dir_all(work.join("out"))?;
    fs::write(work.join("out/counts.csv"), "month,herons\nmay,12\n")?;
    // Both are pictures; one is not of this folder.
    let picture = picture()?;
    fs::write(work.join("out/a chart.png"), &picture)?;
    fs::write(desktop.home().join("private.png"), &picture)?;
    let server = ModelServer::start_with(
        Script::new().text("ok").text(ANSWER),
        ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() },
    );
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    connect(&app, &server.url(), "answers").await?;
    app.fill("new-folder", work.to_str().context("a path in Unicode")?).await?;
    app.fill("composer", "Draw the herons by month.").await?;
    app.click("send").await?;
    app.find("turn-end[data-end=finished]").await?;

    let script = "const all = [...document.querySelectorAll('[data-testid=transcript] [data-shown] img')]; \
        return all.map((shown) => shown.complete ? shown.naturalWidth : 0);";
    let expected = json!([WIDTH]);
    app.until("the one picture", async || Ok((app.script(script).await? == expected).then_some(()))).await?;
    app.picture("answer-picture-light").await?;

    for (name, file) in
        [("[data-file][data-shown]", "out/a%20chart.png"), ("button.file-link", "out/counts.csv")]
    {
        let before = panel.files().len();
        app.script(&format!("document.querySelector('[data-testid=transcript] {name}').click()")).await?;
        let files = async || Ok(Some(panel.files()).filter(|files| files.len() > before));
        let files = app.until("a file to be shown", files).await?;
        ensure!(files.last().is_some_and(|script| script.ends_with(file)), "{files:?}");
    }

    // With keys, as in a browser, and in the settings.
    let width = async || app.script("return innerWidth").await?.as_u64().context("a width");
    let usual = width().await?;
    let larger = "for (let n = 0; n < 4; n++) { window.dispatchEvent(new KeyboardEvent('keydown', \
        { key: '+', ctrlKey: true, bubbles: true, cancelable: true })); \
        await new Promise((done) => setTimeout(done, 300)); }";
    app.script_async(&format!("const done = arguments[0]; (async () => {{ {larger} done(null); }})()"))
        .await?;
    app.until("half the room", async || Ok((width().await?.abs_diff(usual / 2) <= 1).then_some(()))).await?;
    app.picture("answer-twice-as-large-light").await?;
    let overflow = "return document.documentElement.scrollWidth - innerWidth";
    ensure!(
        app.script(overflow).await?.as_i64().is_some_and(|overflow| overflow <= 0),
        "it is wider than the window"
    );
    let usual_size =
        "window.dispatchEvent(new KeyboardEvent('keydown', { key: '0', ctrlKey: true, bubbles: true }))";
    app.script(usual_size).await?;
    app.until("all the room", async || Ok((width().await? == usual).then_some(()))).await?;
    app.click("open-settings").await?;
    app.click("settings-page[data-page=appearance]").await?;
    app.click("zoom-150").await?;
    app.until("less room", async || Ok((width().await?.abs_diff(usual * 2 / 3) <= 1).then_some(()))).await?;
    app.picture("settings-larger-light").await?;
    // The driver's click positions do not follow the zoom.
    app.script(usual_size).await?;
    app.until("all the room", async || Ok((width().await? == usual).then_some(()))).await?;
    app.press_close()?;
    app.click("closing-quit").await?;
    app.ended().await
}

/// Returns a PNG generated here.
fn picture() -> Result<Vec<u8>> {
    let mut picture = image::RgbImage::from_pixel(u32::try_from(WIDTH)?, 90, image::Rgb([246, 244, 238]));
    for month in 0..6 {
        for (x, y) in (0..24).flat_map(|x| (0..12 * (month + 1)).map(move |y| (x, y))) {
            picture.put_pixel(12 + month * 38 + x, 89 - y, image::Rgb([72, 118, 160]));
        }
    }
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut bytes, image::ImageFormat::Png)?;
    Ok(bytes.into_inner())
}
