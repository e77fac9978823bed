//! A task from words to its history: the agent fills it in, the person confirms it with its next times, it runs
//! in the background, is reported, found again, deleted and restored.

use crate::first_task::{KEY, connect};
use anyhow::{Context as _, Result};
use octo_protocol::{Language, words};
use octo_testkit::{Gate, ModelServer, Reply, Script, ServerOptions};
use octo_tests::{Application, Desktop, Panel, Theme};
use serde_json::json;
use std::{collections::BTreeMap, fs};

const ADD: &str = "octo task add --name 'Morning count' --when 'weekdays at 08:30' --zone UTC \
                   --prompt 'Count the notes of this folder.' --tell all";

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn a_task_is_created_run_reported_deleted_and_restored() -> Result<()> {
    let desktop = Desktop::start()?;
    let panel = Panel::start(&desktop).await?;
    let (home, work) = (desktop.folder().join("octo"), desktop.home().join("notes"));
    fs::create_dir(&work)?;
    let gate = Gate::new();
    let server = ModelServer::start_with(
        Script::new()
            .text("ok")
            .call("terminal", json!({ "command": ADD }))
            .text("It is saved, and runs on Monday for the first time.")
            // The run, in a session of its own.
            .reply(Reply::text("There are **two notes**.").in_chunks(4).hold_after(2, &gate)),
        ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() },
    );
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    connect(&app, &server.url(), "tasks").await?;

    // In words: the page of tasks begins a session with the skill that writes them.
    app.click("open-tasks").await?;
    app.picture("tasks-none-light").await?;
    app.click("tasks-describe").await?;
    app.fill("new-folder", work.to_str().context("a path in Unicode")?).await?;
    app.type_into("composer", "every working day at half past eight, count my notes").await?;
    app.click("send").await?;
    let question = app.text_where("question", "the plan", |text| text.contains("Morning count")).await?;
    let times_line = question.lines().find(|times_line| times_line.starts_with("Next times:"));
    let times = times_line.with_context(|| format!("the next times in {question}"))?;
    assert_eq!(times.matches("08:30").count(), 3, "three times: {times}");
    let weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"];
    assert!(weekdays.iter().filter(|day| times.contains(**day)).count() == 3, "by their days: {times}");
    assert!(question.contains("Count the notes of this folder."), "with its words: {question}");
    app.picture("task-in-words-light").await?;
    assert!(!home.join("tasks/morning-count.md").exists(), "nothing is saved before the yes");
    app.click("question-once").await?;
    app.find("turn-end[data-end=finished]").await?;
    assert!(fs::read_to_string(home.join("tasks/morning-count.md"))?.contains("weekdays at 08:30"));

    // Run now, with the window closed meanwhile: the end is reported, and the notice opens the run.
    app.click("open-tasks").await?;
    show(&app).await?;
    let schedule = app.text("schedule").await?;
    assert_eq!(schedule.matches("08:30").count(), 4, "when it runs, and the next three times: {schedule}");
    app.click("schedule-run").await?;
    gate.reached().await;
    app.find("run[data-status=running]").await?;
    app.picture("task-runs-light").await?;
    app.press_close()?;
    app.click("closing-hide").await?;
    app.until("the window to go", async || Ok((app.windows_shown()? == 0).then_some(()))).await?;
    gate.open();
    let notice = panel.notice(&say("notice.finished")).await?;
    assert!(notice.body.contains("Morning count"), "it says which: {notice:?}");
    panel.click(&notice).await?;
    app.until("the window to come back", async || Ok((app.windows_shown()? == 1).then_some(()))).await?;
    app.text_where("answer", "what the run found", |text| text.contains("two notes")).await?;
    app.picture("task-run-session-light").await?;

    // Its history shows the outcome, and opens the session too.
    app.click("open-tasks").await?;
    show(&app).await?;
    app.text_where("run[data-status=finished]", "what it came to", |text| text.contains("two notes")).await?;
    app.picture("task-history-light").await?;
    // The driver treats text cut off by an ellipsis as hidden.
    app.script("document.querySelector('[data-testid=run-session]').click()").await?;
    app.text_where("answer", "the run again", |text| text.contains("two notes")).await?;

    // Deleted, it is in the trash and can be undone at once; restored from there it is unchanged.
    let file = home.join("tasks/morning-count.md");
    let contents = fs::read_to_string(&file)?;
    for method in ["undo", "trash"] {
        app.click("open-tasks").await?;
        show(&app).await?;
        app.choose("schedule-more", &say("tasks.delete")).await?;
        app.until("its file to go", async || Ok((!file.exists()).then_some(()))).await?;
        if method == "undo" {
            app.find("toast").await?;
            app.picture("task-deleted-light").await?;
            take_back(&app).await?;
        } else {
            app.click("open-trash").await?;
            app.click("trash-kind-task").await?;
            app.text_where("trash-row", "the task", |text| text.contains("morning-count")).await?;
            app.script("document.querySelector('[data-testid=trash-row] [role=checkbox]').click()").await?;
            app.picture("task-in-trash-light").await?;
            app.click("trash-restore").await?;
        }
        app.until("its file to come back", async || Ok(file.exists().then_some(()))).await?;
        assert_eq!(fs::read_to_string(&file)?, contents, "{method}");
    }
    panel.choose(&say("tray.quit")).await?;
    app.ended().await?;
    server.assert_clean();
    assert_eq!(server.replies_left(), 0);
    Ok(())
}

fn say(key: &str) -> String {
    words::say(Language::En, key, &BTreeMap::new())
}

/// Opens the task's row: the driver does not click a `tr`, but the name in it is a button.
async fn show(app: &Application) -> Result<()> {
    app.find("schedule-row[data-file=morning-count]").await?;
    app.script("document.querySelector('[data-file=morning-count] [data-row-open]').click()").await?;
    app.find("schedule[data-file=morning-count]").await?;
    Ok(())
}

/// Clicks the undo of a toast; other toasts may be visible too.
pub(crate) async fn take_back(app: &Application) -> Result<()> {
    let undo = "const undo = [...document.querySelectorAll('[data-testid=toast] button')] \
                .find((button) => button.textContent.trim() === 'Undo'); undo?.click(); return undo !== undefined";
    app.until("a way back", async || Ok((app.script(undo).await? == true).then_some(()))).await
}
