//! The main job, from the first start to the second: connect a model, ask, watch, approve, stop, close, open.

use anyhow::{Context as _, Result};
use octo_protocol::{Language, words};
use octo_testkit::{Gate, ModelServer, Reply, Script, ServerOptions};
use octo_tests::{Application, Desktop, Theme};
use serde_json::json;
use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    time::{Duration, Instant},
};

pub(crate) const KEY: &str = "sk-test-5f2c7d81e9a04b36";

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn the_main_job_in_light() -> Result<()> {
    the_main_job(Theme::Light, "light").await
}

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn the_main_job_in_dark() -> Result<()> {
    the_main_job(Theme::Dark, "dark").await
}

async fn the_main_job(theme: Theme, theme_name: &str) -> Result<()> {
    let desktop = Desktop::start()?;
    let home = desktop.folder().join("octo");
    let work = desktop.home().join("notes");
    let list_file = work.join("list.md");
    fs::create_dir(&work)?;
    fs::write(&list_file, "# List\n\n- bread\n- mlik\n- apples\n")?;

    // No other program on the machine sleeps for exactly this long.
    let sleep = format!("sleep 86397.{}", std::process::id());
    let gate = Gate::new();
    let server = ModelServer::start_with(
        Script::new()
            // The test of the model asks for one word.
            .text("ok")
            .reply(
                Reply::text("I read the list first. The third line has a **typing error**, and nothing else is wrong.")
                    .in_chunks(8)
                    .hold_after(4, &gate)
                    .and_call("file_reader", json!({ "path": "list.md" })),
            )
            .call("edit", json!({ "path": "list.md", "old_string": "mlik", "new_string": "milk" }))
            .text("The list now says `milk`.")
            .call("terminal", json!({ "command": format!("echo counting; {sleep}") }))
            .text("You are welcome."),
        ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() },
    );

    let app = Application::open(&desktop, &home, theme).await?;
    connect(&app, &server.url(), theme_name).await?;

    // A first message, and an answer that visibly grows.
    app.fill("new-folder", work.to_str().context("a path in Unicode")?).await?;
    app.choose("status-mode", &words::say(Language::En, "mode.ask", &BTreeMap::new())).await?;
    app.fill("composer", "Please correct list.md").await?;
    app.picture(&format!("new-session-{theme_name}")).await?;
    app.click("send").await?;
    gate.reached().await;
    let half_answer =
        app.text_where("answer", "the first half of the answer", |text| text.contains("I read")).await?;
    assert!(!half_answer.contains("nothing else is wrong"), "the rest has not been sent yet: {half_answer}");
    app.picture(&format!("streaming-{theme_name}")).await?;
    gate.open();
    app.text_where("answer", "the whole answer", |text| text.contains("nothing else is wrong")).await?;

    // An edit, approved from its diff.
    let question =
        app.text_where("question", "the change to be asked about", |text| text.contains("milk")).await?;
    assert!(question.contains("mlik"), "the question shows what goes and what comes: {question}");
    assert!(fs::read_to_string(&list_file)?.contains("mlik"), "nothing is changed before the answer");
    app.picture(&format!("question-edit-{theme_name}")).await?;
    app.click("question-once").await?;
    app.find("turn-end[data-end=finished]").await?;
    assert_eq!(fs::read_to_string(&list_file)?, "# List\n\n- bread\n- milk\n- apples\n");
    app.picture(&format!("edited-{theme_name}")).await?;

    // A command, stopped half-way.
    app.fill("composer", "Now count to ten").await?;
    app.click("send").await?;
    app.text_where("question", "the command to be asked about", |text| text.contains(&sleep)).await?;
    app.picture(&format!("question-command-{theme_name}")).await?;
    app.click("question-once").await?;
    app.until("the command's output", async || {
        let bodies = app.texts("step-body").await?;
        Ok(bodies.iter().any(|text| text.contains("counting")).then_some(()))
    })
    .await?;
    assert!(runs(&sleep)?, "the command runs");
    app.picture(&format!("running-{theme_name}")).await?;
    let started = Instant::now();
    app.click("stop").await?;
    app.find("turn-end[data-end=stopped]").await?;
    assert!(started.elapsed() < Duration::from_secs(3), "a stop takes {:?}", started.elapsed());
    assert!(!runs(&sleep)?, "the command ended with its turn");
    app.picture(&format!("stopped-{theme_name}")).await?;
    // Its card closes, with the output up to then in it.
    let stopped = app.all("step-row").await?.pop().context("the command's card")?;
    stopped.click().await?;
    app.until("what the stopped command wrote", async || {
        Ok(app.texts("step-body").await?.iter().any(|text| text.contains("counting")).then_some(()))
    })
    .await?;
    stopped.click().await?;

    // Closed and opened: everything is unchanged.
    let before = transcript(&app).await?;
    assert!(before.len() >= 8, "two messages, their answers, cards and ends: {before:#?}");
    app.close().await?;
    let app = Application::open(&desktop, &home, theme).await?;
    app.click("session-row").await?;
    app.find("turn-end[data-end=stopped]").await?;
    assert_eq!(transcript(&app).await?, before);
    app.picture(&format!("opened-again-{theme_name}")).await?;

    // The key was read from the keychain again: the server accepts no request without it.
    app.fill("composer", "Thank you").await?;
    app.click("send").await?;
    app.until("the last answer", async || {
        Ok(app.texts("answer").await?.iter().any(|text| text.contains("You are welcome.")).then_some(()))
    })
    .await?;
    settings(&app, theme_name).await?;
    app.close().await?;

    server.assert_clean();
    assert_eq!(server.replies_left(), 0);
    assert_eq!(holding(&home, KEY)?, Vec::<String>::new(), "the key is nowhere in the home");
    assert_eq!(holding(&work, KEY)?, Vec::<String>::new());
    Ok(())
}

/// Fills in the first screen, tests the model and saves it.
pub(crate) async fn connect(app: &Application, url: &str, theme_name: &str) -> Result<()> {
    app.find("welcome").await?;
    app.click("model-provider-custom").await?;
    app.click("model-protocol-anthropic").await?;
    app.fill("model-url", url).await?;
    app.fill("model-name", "scripted-model").await?;
    app.fill("model-key", KEY).await?;
    app.picture(&format!("first-run-{theme_name}")).await?;
    app.click("model-test").await?;
    skip_the_rest(app).await
}

/// Skips the rest of the first run once its model is saved.
pub(crate) async fn skip_the_rest(app: &Application) -> Result<()> {
    app.find("welcome[data-step=persona]").await?;
    app.click("onboarding-skip-rest").await?;
    app.find("new-folder").await?;
    Ok(())
}

/// Checks that the settings show the end of the key, and no more of it.
async fn settings(app: &Application, theme_name: &str) -> Result<()> {
    app.click("open-settings").await?;
    app.find("settings").await?;
    app.picture(&format!("settings-{theme_name}")).await?;
    let page = app.script("return document.documentElement.outerHTML").await?;
    assert!(!page.as_str().context("the page")?.contains(KEY), "the key is not in the page");

    // The list of this build's packages is part of it: crates and the page's own packages.
    app.script("document.querySelector('[data-page=about]').click()").await?;
    app.click("notices-open").await?;
    for part in ["serde_json", "svelte"] {
        app.fill("notices-search", part).await?;
        app.click("notices-part").await?;
        app.text_where("notices-text", "its licence", |text| text.contains("Permission is hereby granted"))
            .await?;
        app.picture(&format!("licence-of-{part}-{theme_name}")).await?;
        app.click("notices-back").await?;
    }
    Ok(())
}

/// Returns the transcript's texts, piece by piece.
async fn transcript(app: &Application) -> Result<Vec<String>> {
    let mut parts = Vec::new();
    for id in ["user-message", "answer", "step-row", "step-body", "turn-end"] {
        parts.extend(app.texts(id).await?.into_iter().map(|text| format!("{id}: {text}")));
    }
    Ok(parts)
}

/// Returns whether a process runs whose command line contains this.
pub(crate) fn runs(command: &str) -> Result<bool> {
    for entry in fs::read_dir("/proc")? {
        let arguments = fs::read(entry?.path().join("cmdline")).unwrap_or_default();
        let command_line = String::from_utf8_lossy(&arguments).replace('\0', " ");
        if command_line.trim_end() == command {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the files below a folder that contain a text.
pub(crate) fn holding(folder: &Path, text: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next)? {
            let path = entry?.path();
            if path.is_symlink() {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.is_file()
                && fs::read(&path)?.windows(text.len()).any(|part| part == text.as_bytes())
            {
                found.push(path.display().to_string());
            }
        }
    }
    Ok(found)
}
