//! A small project broken over three turns by edits and a script, and restored: undone one by one, branched,
//! redone; and the script's removals, in the trash.

use crate::first_task::connect;
use anyhow::{Context as _, Result};
use fantoccini::Locator;
use octo_protocol::{Language, words};
use octo_testkit::{ModelServer, Script, ServerOptions};
use octo_tests::{Application, Desktop, Theme};
use serde_json::json;
use std::{collections::BTreeMap, fs, path::Path};

/// The key that opens a row's menu, as WebDriver writes it.
const F2: &str = "\u{e032}";
const KEY: &str = "sk-test-5f2c7d81e9a04b36";

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn a_broken_project_is_restored_in_light() -> Result<()> {
    taken_back(Theme::Light, "light").await
}

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn a_broken_project_is_restored_in_dark() -> Result<()> {
    taken_back(Theme::Dark, "dark").await
}

/// Every file of the project, by its name there.
fn project(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        files.insert(entry.file_name().to_string_lossy().into_owned(), fs::read_to_string(entry.path())?);
    }
    Ok(files)
}

async fn taken_back(theme: Theme, theme_name: &str) -> Result<()> {
    let desktop = Desktop::start()?;
    let (home, work) = (desktop.folder().join("octo"), desktop.home().join("shop"));
    fs::create_dir(&work)?;
    fs::write(work.join("price.py"), "def price(n):\n    return n * 2\n")?;
    fs::write(work.join("test.py"), "assert price(2) == 4\n")?;
    let script = Script::new()
        .text("ok")
        .call("edit", json!({ "path": "price.py", "old_string": "n * 2", "new_string": "n * 3" }))
        .text("The price is three times the number now.")
        .call(
            "terminal",
            json!({ "command": "sed -i 's/4/6/' test.py; rm -f notes.txt; printf 'x\\n' > built.txt" }),
        )
        .text("The test expects that.")
        .call(
            "terminal",
            json!({ "command": "sh -c 'rm test.py; echo broken > price.py'; git push origin main" }),
        )
        .text("I have cleaned up.")
        .call("write", json!({ "path": "price.py", "content": "def price(n):\n    return n * 5\n" }))
        .text("Now it is five times.");
    let server = ModelServer::start_with(
        script,
        ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() },
    );
    server.allow_steps_back();
    let app = Application::open(&desktop, &home, theme).await?;
    connect(&app, &server.url(), &format!("time-{theme_name}")).await?;
    app.fill("new-folder", work.to_str().context("a path in Unicode")?).await?;
    app.choose("status-mode", &words::say(Language::En, "mode.autonomous", &BTreeMap::new())).await?;
    let mut states = vec![project(&work)?];
    for text in ["Make the price three times the number", "Let the test expect that", "Clean up"] {
        let before = app.all("turn-end").await?.len();
        app.fill("composer", text).await?;
        app.click("send").await?;
        app.until("the task's end", async || Ok((app.all("turn-end").await?.len() > before).then_some(())))
            .await?;
        states.push(project(&work)?);
    }
    assert!(!work.join("test.py").exists(), "it is broken");

    // Undone one by one, with shortcuts; each preview shows the changes first.
    app.click("time-open").await?;
    app.until("the tree", async || Ok((app.all("time-step").await?.len() >= 4).then_some(()))).await?;
    app.click("time-step[data-task=\"3\"]").await?;
    app.find("comparison").await?;
    // Effects no undo reverts are listed with the turn, and again before it is undone.
    app.text_where("irreversible-effects", "what stays of the task", |text| {
        text.contains("cannot be undone")
    })
    .await?;
    app.picture(&format!("time-machine-{theme_name}")).await?;
    app.click("time-step[data-task=\"2\"]").await?;
    app.click("restore-open").await?;
    app.text_where("irreversible-effects", "what does not come back", |text| text.contains("effect remains"))
        .await?;
    app.picture(&format!("proposal-{theme_name}")).await?;
    app.click("restore-cancel").await?;
    for task in [2, 1, 0] {
        go_to(&app, task).await?;
        app.until("the files", async || Ok((project(&work)? == states[task]).then_some(()))).await?;
    }
    return_to_conversation(&app).await?;
    app.find("show-undone").await?;
    app.picture(&format!("undone-{theme_name}")).await?;

    // A second branch from the first turn on, next to the earlier one.
    go_to(&app, 1).await?;
    app.until("the files", async || Ok((project(&work)? == states[1]).then_some(()))).await?;
    return_to_conversation(&app).await?;
    app.fill("composer", "Make it five times instead").await?;
    app.click("send").await?;
    app.until("the branch", async || {
        Ok(fs::read_to_string(work.join("price.py"))?.contains("n * 5").then_some(()))
    })
    .await?;
    app.until("rest", async || Ok(app.all("stop").await?.is_empty().then_some(()))).await?;

    // One file of the first branch alone, then all of it.
    app.click("time-open").await?;
    app.until("the tree", async || Ok((app.all("time-step").await?.len() >= 5).then_some(()))).await?;
    app.picture(&format!("branches-{theme_name}")).await?;
    let branch = project(&work)?;
    app.click("time-step[data-task=\"2\"]").await?;
    app.click(&format!("time-file-check[data-path=\"{}\"]", work.join("test.py").display())).await?;
    app.click("restore-chosen").await?;
    confirm(&app).await?;
    let mut one = branch;
    one.insert("test.py".to_owned(), states[2]["test.py"].clone());
    app.until("the one file", async || Ok((project(&work)? == one).then_some(()))).await?;
    go_to(&app, 2).await?;
    app.until("the files", async || Ok((project(&work)? == states[2]).then_some(()))).await?;
    return_to_conversation(&app).await?;
    app.close().await?;

    // The script's removals are in the trash, and so is the session once the person deletes it.
    let app = Application::open(&desktop, &home, theme).await?;
    app.find("session-row").await?;
    app.type_into("session-row", F2).await?;
    app.pick(&words::say(Language::En, "session.delete", &BTreeMap::new())).await?;
    app.until("the row to go", async || Ok(app.all("session-row").await?.is_empty().then_some(()))).await?;
    app.click("open-trash").await?;
    app.find("trash-row").await?;
    app.picture(&format!("trash-{theme_name}")).await?;
    app.click("trash-kind-session").await?;
    app.until("the session alone", async || Ok((app.all("trash-row").await?.len() == 1).then_some(())))
        .await?;
    app.find("trash-row").await?.find(Locator::Css("[role=checkbox]")).await?.click().await?;
    app.click("trash-restore").await?;
    app.find("session-row").await?.click().await?;
    app.text_where("answer", "the conversation as it was", |text| text.contains("three times")).await?;
    app.close().await?;
    server.assert_clean();
    assert_eq!(project(&work)?, states[2], "as it was left");
    Ok(())
}

/// Restores the end of a turn, files and conversation, from the open timeline.
async fn go_to(app: &Application, task: usize) -> Result<()> {
    if app.all("time").await?.is_empty() {
        app.click("time-open").await?;
    }
    app.click(&format!("time-step[data-task=\"{task}\"]")).await?;
    app.click("restore-open").await?;
    confirm(app).await
}

/// Confirms the plan, once it is computed.
async fn confirm(app: &Application) -> Result<()> {
    app.find("restore-preview").await?;
    app.until("the preview to be ready", async || {
        let ready =
            app.script("return !document.querySelector('[data-testid=restore-confirm]')?.disabled").await?;
        Ok((ready == true).then_some(()))
    })
    .await?;
    app.click("restore-confirm").await?;
    app.until("the timeline again", async || Ok(app.all("restore-preview").await?.is_empty().then_some(())))
        .await
}

/// Returns to the conversation, if the restore did not lead there already.
async fn return_to_conversation(app: &Application) -> Result<()> {
    if !app.all("time").await?.is_empty() {
        app.click("time-close").await?;
    }
    Ok(())
}
