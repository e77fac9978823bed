//! Settings that need more than a switch: a setting the agent proposes and the person changes, the network
//! test, and the browser check-up with its repairs.

use crate::first_task::{KEY, connect};
use anyhow::{Context as _, Result};
use octo_protocol::{Language, words};
use octo_testkit::{ModelServer, Script, ServerOptions};
use octo_tests::{Application, Desktop, Theme};
use serde_json::json;
use std::{
    collections::BTreeMap,
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    thread,
};

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn a_setting_is_proposed_by_the_agent_and_set_by_the_person_alone() -> Result<()> {
    let desktop = Desktop::start()?;
    let (home, work) = (desktop.folder().join("octo"), desktop.home().join("notes"));
    fs::create_dir(&work)?;
    let server = ModelServer::start_with(
        Script::new()
            .text("ok")
            .call("terminal", json!({ "command": "octo settings open appearance theme dark" }))
            .text("The button in the card above leads there.")
            .call("terminal", json!({ "command": "octo settings open appearance text_size large" }))
            .text("And this one to the text."),
        ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() },
    );
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    connect(&app, &server.url(), "proposed").await?;
    app.fill("new-folder", work.to_str().context("a path in Unicode")?).await?;
    app.fill("composer", "Make the window dark, please").await?;
    app.click("send").await?;
    app.find("turn-end[data-end=finished]").await?;
    app.find("settings-offer").await?;
    app.picture("proposal-offered").await?;
    let theme = "return document.documentElement.dataset.theme ?? 'system'";
    assert_eq!(app.script(theme).await?, "system", "the agent changed nothing");

    app.click("settings-offer").await?;
    let proposed = app.text("setting-proposal").await?;
    assert!(proposed.contains("Octo proposes") && proposed.contains("Nothing was changed"), "{proposed}");
    app.picture("proposal-light").await?;
    assert_eq!(app.script(theme).await?, "system", "and neither did looking at it");
    app.click("setting-proposal-apply").await?;
    app.until("the theme", async || Ok((app.script(theme).await? == "dark").then_some(()))).await?;
    app.until("the proposal to go", async || Ok(app.all("setting-proposal").await?.is_empty().then_some(())))
        .await?;
    app.picture("proposal-set").await?;
    app.close().await?;

    let app = Application::open(&desktop, &home, Theme::Light).await?;
    app.find("session-row").await?;
    assert_eq!(app.script(theme).await?, "dark", "it was kept");

    // One among others of its kind, which stay.
    app.click("session-row").await?;
    app.fill("composer", "And larger letters").await?;
    app.click("send").await?;
    app.until("the second offer", async || {
        let offers = "const all = document.querySelectorAll('[data-testid=settings-offer]'); \
            if (all.length === 2) all[1].click(); return all.length === 2";
        Ok((app.script(offers).await? == true).then_some(()))
    })
    .await?;
    app.click("setting-proposal-apply").await?;
    let text = "return document.documentElement.dataset.text ?? null";
    app.until("larger text", async || Ok((app.script(text).await? == "large").then_some(()))).await?;
    app.close().await?;
    server.assert_clean();
    Ok(())
}

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn the_network_is_tested_and_the_browser_is_checked_and_repaired() -> Result<()> {
    let desktop = Desktop::start()?;
    let home = desktop.folder().join("octo");
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    // A model elsewhere, never called: the test checks only the route to it.
    app.find("welcome").await?;
    app.click("model-provider-custom").await?;
    app.click("model-protocol-anthropic").await?;
    app.fill("model-url", "http://models.example").await?;
    app.fill("model-name", "far-away").await?;
    app.click("model-save").await?;
    crate::first_task::skip_the_rest(&app).await?;

    app.click("open-settings").await?;
    app.click("proxy-manual").await?;
    // No server listens there.
    let closed = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    app.fill("proxy-address", &format!("http://{closed}")).await?;
    app.click("proxy-test").await?;
    shows(&app, "models.example could not be reached through this connection").await?;
    app.picture("proxy-not-reached").await?;
    // A server listens, and answers for the other.
    let (proxy, proxy_request) = answering()?;
    app.fill("proxy-address", &proxy).await?;
    app.click("proxy-test").await?;
    shows(&app, "It works: models.example answered.").await?;
    app.picture("proxy-works").await?;
    let proxy_request = proxy_request.join().map_err(|_| anyhow::anyhow!("the proxy ended badly"))?;
    assert!(proxy_request.starts_with("GET http://models.example/"), "{proxy_request}");

    // The browser is disabled: the check-up says so, and its repair enables Octo's own.
    app.click("settings-page[data-page=browser]").await?;
    app.click("browser-choice-off").await?;
    app.click("browser-run-checks").await?;
    let off = app.text("browser-check-installed[data-result=broken]").await?;
    assert!(off.contains(&say("error.browser.off")), "{off}");
    app.find("browser-check-works[data-result=skipped]").await?;
    scroll_to(&app, "browser-check-private").await?;
    app.picture("doctor-light").await?;
    app.click("browser-repair").await?;
    app.until("the repair", async || {
        let chosen =
            "return document.querySelector('[data-testid=browser-choice-own]')?.getAttribute('aria-checked')";
        Ok((app.script(chosen).await? == "true").then_some(()))
    })
    .await?;
    app.click("browser-run-checks").await?;
    app.find("browser-check-installed[data-result=fine]").await?;
    scroll_to(&app, "browser-check-private").await?;
    app.picture("doctor-repaired").await?;
    app.close().await
}

fn say(key: &str) -> String {
    words::say(Language::En, key, &BTreeMap::new())
}

/// Waits until the page contains these words.
async fn shows(app: &Application, words: &str) -> Result<()> {
    app.until(words, async || {
        let text = app.script("return document.body.innerText").await?;
        Ok(text.as_str().is_some_and(|text| text.contains(words)).then_some(()))
    })
    .await
}

async fn scroll_to(app: &Application, id: &str) -> Result<()> {
    app.script(&format!("document.querySelector('[data-testid={id}]').scrollIntoView({{ block: 'end' }})"))
        .await?;
    Ok(())
}

/// Starts a proxy that answers one request itself; returns that request.
fn answering() -> Result<(String, thread::JoinHandle<String>)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}", listener.local_addr()?);
    let server = thread::spawn(move || {
        let Ok((mut stream, _)) = listener.accept() else { return String::new() };
        let mut request = [0; 4096];
        let read = stream.read(&mut request).unwrap_or_default();
        // The client sees the rest.
        let _sent = stream.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n");
        String::from_utf8_lossy(&request[..read]).into_owned()
    });
    Ok((address, server))
}
