//! What models cost, as a person sees it: a helper offered once, headers, a budget, figures that grow while one looks.

use anyhow::{Context as _, Result};
use octo_testkit::{Gate, ModelServer, Reply, Script};
use octo_tests::{Application, Desktop, Theme};
use serde_json::json;
use std::{fs, path::Path};

const KEY: &str = "sk-test-5f2c7d81e9a04b36";
const VALUE: &str = "tenant-value-93d1c4a7e2";
const SUMMARY: &str =
    "<topics>the list</topics>\n<summary>The person wants the list read and checked.</summary>";

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn spending_is_seen_in_light() -> Result<()> {
    spending_is_seen(Theme::Light, "light").await
}

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn spending_is_seen_in_dark() -> Result<()> {
    spending_is_seen(Theme::Dark, "dark").await
}

async fn spending_is_seen(theme: Theme, look: &str) -> Result<()> {
    let desktop = Desktop::start()?;
    let (home, work) = (desktop.folder().join("octo"), desktop.home().join("notes"));
    fs::create_dir(&work)?;
    fs::write(work.join("list.md"), "A line of the list that is read.\n".repeat(1_200))?;
    let gate = Gate::new();
    let server = ModelServer::start(script(&gate));
    presets(&home, &server.url())?;

    let app = Application::open(&desktop, &home, theme).await?;
    app.click("model-provider-scripted").await?;
    app.fill("model-key", KEY).await?;
    app.click("model-save").await?;
    app.find("new-folder").await?;
    helper_and_header(&app, look).await?;
    limits(&app).await?;

    // Read, summed up because it grew too long, and answered; then a guess at what comes next.
    app.script("document.querySelector('[data-testid=new-session]')?.click()").await?;
    app.fill("new-folder", work.to_str().context("a path in Unicode")?).await?;
    app.fill("composer", "Please read list.md").await?;
    app.click("send").await?;
    app.find("turn-end[data-end=finished]").await?;
    app.find("summary").await?;
    app.text_where("suggestion", "the guess", |text| text.contains("Check the list")).await?;
    app.picture(&format!("suggestion-{look}")).await?;

    // The figures grow while one looks at them.
    app.fill("composer", "And now check it").await?;
    app.click("send").await?;
    gate.reached().await;
    app.click("open-usage").await?;
    app.find("usage-models").await?;
    let before = calls(&app).await?;
    gate.open();
    app.until("the call to be counted", async || Ok((calls(&app).await? > before).then_some(()))).await?;
    app.find("usage-misses").await?;
    app.picture(&format!("usage-{look}")).await?;
    app.script("document.querySelector('[data-testid=usage-dearest]').scrollIntoView({ block: 'end' })")
        .await?;
    app.picture(&format!("usage-misses-{look}")).await?;

    // The next call would go beyond what a session may cost: it waits, and nothing is sent.
    app.click("open-settings").await?;
    app.script("document.querySelectorAll('.side-list .row')[2].click()").await?;
    app.fill("budget-field-session", "0.0001\n").await?;
    let sent = server.requests().len();
    app.script("document.querySelector('.side-top button').click()").await?;
    app.fill("composer", "Go on").await?;
    app.click("send").await?;
    app.find("budget").await?;
    app.picture(&format!("budget-{look}")).await?;
    app.click("budget-stop").await?;
    app.find("turn-end[data-end=stopped]").await?;
    assert_eq!(server.requests().len(), sent);
    app.close().await?;

    server.assert_clean();
    let asked = server.requests();
    assert!(asked.iter().all(|request| request.header("x-tenant") == Some(VALUE)), "every model sends it");
    for secret in [KEY, VALUE] {
        assert!(!holds(&home, secret)?, "no secret is in the home");
    }
    Ok(())
}

/// What the models say: the small one guesses, the other one reads, sums up and answers.
fn script(gate: &Gate) -> Script {
    let (mut reads, gate) = (0, gate.clone());
    Script::from_fn(move |request| {
        let said = request.user_text();
        if request.model() == "small-model" {
            return Reply::text("Check the list");
        }
        if said.contains("Answer with exactly these two parts") {
            return Reply::text(SUMMARY);
        }
        if said.contains("And now check it") {
            return Reply::text("It is checked.").in_chunks(2).hold_after(1, &gate);
        }
        reads += 1;
        if reads == 1 {
            Reply::call("file_reader", json!({ "path": "list.md" }))
        } else {
            Reply::text("I have read it.")
        }
    })
}

/// A provider whose models have prices, and a smaller one beside the first.
fn presets(home: &Path, url: &str) -> Result<()> {
    let prices = |dollars: f64| {
        let rates = json!({ "input": dollars, "output": dollars * 5.0, "read": dollars / 10.0,
            "write": dollars * 1.25, "write_hour": dollars * 2.0 });
        json!({ "rates": rates, "date": "2026-11-22", "source": "a test" })
    };
    let markers = json!({ "limit": 4, "lookback": 20, "lives": ["five_minutes", "hour"] });
    let table = json!({ "version": 1, "providers": [{
        "id": "scripted", "name": "Scripted", "addresses": [{ "url": url }], "protocol": "anthropic",
        "models": ["scripted-model", "small-model"], "default": "scripted-model",
        "light": { "scripted-model": "small-model" },
        "caching": { "kind": { "markers": markers }, "minimum": 1024 },
        "rows": [
            { "name": "scripted-model", "prices": prices(3.0) },
            { "name": "small-model", "prices": prices(1.0) },
        ],
    }] });
    fs::create_dir_all(home)?;
    Ok(fs::write(home.join("presets.json"), table.to_string())?)
}

/// Gives the model a header, and takes the smaller one that is offered beside it: it gets the same.
async fn helper_and_header(app: &Application, look: &str) -> Result<()> {
    app.click("open-settings").await?;
    app.find("companion-offer[data-role=light]").await?;
    app.script("document.querySelector('[data-testid=model-row] button[aria-expanded]').click()").await?;
    app.click("header-add").await?;
    app.fill("header-name", "X-Tenant").await?;
    app.fill("header-value", VALUE).await?;
    app.picture(&format!("headers-{look}")).await?;
    app.click("model-save").await?;
    app.text_where("model-row", "the header to be there", |text| text.contains("1 header")).await?;
    app.picture(&format!("offer-{look}")).await?;
    app.click("companion-take").await?;
    app.until("the second model", async || Ok((app.all("model-row").await?.len() == 2).then_some(())))
        .await?;
    assert!(app.all("companion-offer").await?.is_empty(), "it is not offered again");
    let page = app.script("return document.documentElement.outerHTML").await?;
    assert!(!page.as_str().context("the page")?.contains(VALUE), "the value is not in the page");
    app.picture(&format!("models-{look}")).await?;
    Ok(())
}

/// Lets the conversation grow to no more than what one file makes of it.
async fn limits(app: &Application) -> Result<()> {
    app.script("document.querySelectorAll('.side-list .row')[2].click()").await?;
    app.click("compact-at-tokens").await?;
    app.fill("compact-tokens", "10000\n").await?;
    app.script("document.querySelector('.side-top button').click()").await?;
    Ok(())
}

/// The calls the table of models counts in all.
async fn calls(app: &Application) -> Result<u64> {
    let sum = "return [...document.querySelectorAll('[data-testid=usage-models] tbody td:nth-child(2)')] \
               .reduce((sum, cell) => sum + Number(cell.innerText), 0)";
    app.script(sum).await?.as_u64().context("a number of calls")
}

/// Whether a file below a folder holds a text.
fn holds(folder: &Path, text: &str) -> Result<bool> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let found = if path.is_dir() {
            holds(&path, text)?
        } else {
            path.is_file() && fs::read(&path)?.windows(text.len()).any(|part| part == text.as_bytes())
        };
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}
