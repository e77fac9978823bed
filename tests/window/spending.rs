//! The cost of a model and its control: a custom header, a budget that asks, a guess of the next message
//! accepted with Tab, and the page that shows the spending.

use crate::first_task::skip_the_rest;
use anyhow::{Context as _, Result};
use fantoccini::Locator;
use octo_protocol::{Language, words};
use octo_testkit::{ModelServer, Script, ServerOptions};
use octo_tests::{Application, Desktop, Theme};
use serde_json::json;
use std::{collections::BTreeMap, fs, path::Path};

const KEY: &str = "sk-test-5f2c7d81e9a04b36";
const HEADER: (&str, &str) = ("x-gateway-token", "gate-91b04c7e55aa");

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn spending_is_shown_and_limited_in_light() -> Result<()> {
    seen_and_held(Theme::Light, "light").await
}

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn spending_is_shown_and_limited_in_dark() -> Result<()> {
    seen_and_held(Theme::Dark, "dark").await
}

/// Returns the person's own provider, merged over the built-in table as the README describes, so that prices
/// are known.
fn presets(url: &str) -> String {
    let rates = json!({ "input": 3, "output": 15, "read": 0.3, "write": 3.75, "write_hour": 6 });
    let prices = json!({ "rates": rates, "date": "2026-11-22", "source": "a test" });
    json!({
        "version": 1,
        "providers": [{
            "id": "gateway",
            "name": "Own gateway",
            "addresses": [{ "url": url }],
            "protocol": "anthropic",
            "caching": { "kind": { "markers": { "limit": 4, "lookback": 20, "lives": ["five_minutes", "hour"] } }, "minimum": 1024 },
            "rows": [{ "name": "scripted-model", "prices": prices }],
        }],
    })
    .to_string()
}

async fn seen_and_held(theme: Theme, theme_name: &str) -> Result<()> {
    let desktop = Desktop::start()?;
    let (home, work) = (desktop.folder().join("octo"), desktop.home().join("site"));
    fs::create_dir(&work)?;
    fs::create_dir(&home)?;
    let script = Script::new()
        .text("ok")
        .call("write", json!({ "path": "index.html", "content": "<h1>Octo</h1>\n" }))
        .text("The page is there.")
        .text("Now add a style sheet")
        .text("There is a style sheet now.")
        .text("Thank you");
    let server = ModelServer::start_with(
        script,
        ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() },
    );
    fs::write(home.join("presets.json"), presets(&server.url()))?;

    let app = Application::open(&desktop, &home, theme).await?;
    app.find("welcome").await?;
    app.fill("model-provider-find", "Own gateway").await?;
    app.click("model-provider-gateway").await?;
    app.fill("model-name", "scripted-model").await?;
    app.fill("model-key", KEY).await?;
    app.click("model-save").await?;
    skip_the_rest(&app).await?;

    // A gateway's header, which is a secret like the key. The model is also the light one, so that it guesses;
    // and a task may cost next to nothing.
    app.click("open-settings").await?;
    let buttons = app.find("model-row").await?.find_all(Locator::Css("button")).await?;
    buttons.last().context("the button that opens the card")?.click().await?;
    app.click("model-light").await?;
    let light = words::say(Language::En, "model.light", &BTreeMap::new());
    // Its form is rebuilt once that is known.
    app.text_where("model-row", "the light model's tag", |text| text.contains(&light)).await?;
    app.click("header-add").await?;
    app.fill("header-name", HEADER.0).await?;
    app.fill("header-value", HEADER.1).await?;
    app.click("model-test").await?;
    app.find("model-result[data-check=works]").await?;
    app.picture(&format!("header-{theme_name}")).await?;
    app.click("model-save").await?;
    app.click("settings-page[data-page=behaviour]").await?;
    app.fill("budget-field-task", "0.001").await?;
    app.script("document.activeElement.blur()").await?;
    app.click("settings-page[data-page=models]").await?;
    app.picture(&format!("settings-models-{theme_name}")).await?;
    app.click("settings-back").await?;

    // The budget pauses and asks; finished work stays.
    app.fill("new-folder", work.to_str().context("a path in Unicode")?).await?;
    app.choose("status-mode", &words::say(Language::En, "mode.autonomous", &BTreeMap::new())).await?;
    app.fill("composer", "Make a page").await?;
    app.click("send").await?;
    app.find("budget[data-scope=task]").await?;
    assert!(work.join("index.html").exists(), "what was done before it stays");
    let count = server.requests().len();
    app.picture(&format!("budget-{theme_name}")).await?;
    app.click("budget-no-limit").await?;
    app.find("turn-end[data-end=finished]").await?;
    assert!(server.requests().len() > count, "it went on");

    // The guess is accepted with Tab and sent.
    app.until("the guess", async || {
        Ok(app
            .script("return document.querySelector('[data-testid=suggestion]')?.textContent")
            .await?
            .as_str()
            .is_some_and(|text| text.contains("style sheet"))
            .then_some(()))
    })
    .await?;
    app.picture(&format!("suggestion-{theme_name}")).await?;
    app.type_into("composer", "\u{e004}").await?;
    let draft = app.script("return document.querySelector('[data-testid=composer]').value").await?;
    assert_eq!(draft, "Now add a style sheet", "Tab takes it");
    app.click("send").await?;
    app.until("the second task's end", async || Ok((app.all("turn-end").await?.len() >= 2).then_some(())))
        .await?;

    // Its cost: at the turn, in the bar, and on the page.
    app.text_where("status-cost", "a cost", |text| text.contains('$')).await?;
    app.click("open-usage").await?;
    app.find("usage-days").await?;
    app.text_where("usage-models", "the model's cost", |text| text.contains('$')).await?;
    app.picture(&format!("usage-{theme_name}")).await?;
    app.click("usage-split-purpose").await?;
    app.text_where("usage-purposes", "the guess as a purpose of its own", |text| text.contains("Suggestion"))
        .await?;
    app.close().await?;

    for request in server.requests() {
        let header = request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(HEADER.0));
        assert_eq!(header.map(|(_, value)| value.as_str()), Some(HEADER.1), "every call has it");
    }
    assert_eq!(found_in(&home, HEADER.1.as_bytes())?, None, "its value is in the keychain alone");
    assert_eq!(found_in(&home, KEY.as_bytes())?, None, "so is the key");
    Ok(())
}

/// Returns the first file below `folder` that contains these bytes.
fn found_in(folder: &Path, bytes: &[u8]) -> Result<Option<std::path::PathBuf>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            if let Some(found) = found_in(&path, bytes)? {
                return Ok(Some(found));
            }
        } else if path.is_file() && fs::read(&path)?.windows(bytes.len()).any(|part| part == bytes) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}
