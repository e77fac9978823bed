//! Skills, a sub-agent and a memory: called by a slash, proposed in words and accepted, remembered, deleted,
//! restored.

use crate::first_task::{runs, skip_the_rest};
use anyhow::{Context as _, Result};
use fantoccini::Locator;
use octo_protocol::{Language, words};
use octo_testkit::{ModelServer, Script, ServerOptions};
use octo_tests::{Application, Desktop, Theme};
use serde_json::json;
use std::{collections::BTreeMap, fs};

const KEY: &str = "sk-test-5f2c7d81e9a04b36";

const LOOK_OVER: &str = "---
name: look-over
description: Looks a page over and reports what is in it.
context: fork
argument-hint: what to look at
---

Look at $ARGUMENTS and report its headings.
";

/// Runs until it is stopped, and is unlike any other process.
const LONG: &str = "sleep 60417";

const HOUSE: &str = "---
name: house-style
description: The house's own style.
---

Write short sentences.
";

const PROPOSED: &str = "---
name: release-notes
description: Notes for a release, from what changed.
---

List what changed, one line each. This changed:

!`cat CHANGES.txt`
";

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn skills_are_called_proposed_and_accepted_in_light() -> Result<()> {
    called_and_accepted(Theme::Light, "light").await
}

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn skills_are_called_proposed_and_accepted_in_dark() -> Result<()> {
    called_and_accepted(Theme::Dark, "dark").await
}

async fn called_and_accepted(theme: Theme, theme_name: &str) -> Result<()> {
    let desktop = Desktop::start()?;
    let (home, work) = (desktop.folder().join("octo"), desktop.home().join("site"));
    for (folder, text) in
        [(home.join("skills/look-over"), LOOK_OVER), (work.join(".octo/skills/house-style"), HOUSE)]
    {
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("SKILL.md"), text)?;
    }
    fs::write(work.join("CHANGES.txt"), "The heron is drawn anew.\n")?;
    fs::write(work.join("index.html"), "<h1>One</h1><h1>Two</h1>\n")?;
    let propose =
        "octo skill propose draft/release-notes --reason 'The notes are written the same way each time.'";
    let save = "octo memory save --topic 'Release day' --description 'When releases go out' --body 'Releases go out on Tuesdays.'";
    let script = Script::new()
        // The sub-agent's two answers, then its parent's.
        .call("file_reader", json!({ "path": "index.html" }))
        .text("Two headings: One and Two.")
        .text("The page has two headings.")
        .call("write", json!({ "path": "draft/release-notes/SKILL.md", "content": PROPOSED }))
        .call("terminal", json!({ "command": propose }))
        .text("It is proposed.")
        .text("The heron is new since 0.9.")
        // The second sub-agent is stopped by the person; its parent goes on.
        .call("terminal", json!({ "command": LONG }))
        .text("It was stopped, so I leave that page.")
        .call("terminal", json!({ "command": save }))
        .text("I keep that in mind.")
        // Another session: a sub-agent, which may not write, recalls the memory.
        .call("invoke_skill", json!({ "skill_name": "recall-memory", "task": "the day releases go out" }))
        .call("terminal", json!({ "command": "octo memory list" }))
        .call("terminal", json!({ "command": "octo memory read release-day.md" }))
        .text("## Recalled Memories: the day releases go out\n### Release day\nTuesdays.")
        .text("On Tuesdays.");
    let server = ModelServer::start_with(
        script,
        ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() },
    );

    let app = Application::open(&desktop, &home, theme).await?;
    app.find("welcome").await?;
    app.click("model-provider-custom").await?;
    app.click("model-protocol-anthropic").await?;
    app.fill("model-url", &server.url()).await?;
    app.fill("model-name", "scripted-model").await?;
    app.fill("model-key", KEY).await?;
    app.click("model-save").await?;
    skip_the_rest(&app).await?;

    // A slash as the first words of a session: a sub-agent works, and its card opens to show its work.
    app.fill("new-folder", work.to_str().context("a path in Unicode")?).await?;
    app.choose("status-mode", &words::say(Language::En, "mode.autonomous", &BTreeMap::new())).await?;
    app.fill("composer", "/look-over index.html").await?;
    app.picture(&format!("slash-{theme_name}")).await?;
    app.click("send").await?;
    app.find("turn-end[data-end=finished]").await?;
    app.picture(&format!("sub-agent-{theme_name}")).await?;

    // The folder's skills wait for a review.
    app.click("open-skills").await?;
    open_row(&app, "skill-row[data-skill=house-style]").await?;
    app.find("skill-untrusted").await?;
    app.picture(&format!("skill-waits-{theme_name}")).await?;
    app.click("skill-accept").await?;
    app.until("it is accepted", async || Ok(app.all("skill-untrusted").await?.is_empty().then_some(())))
        .await?;
    app.picture(&format!("skills-{theme_name}")).await?;

    // Proposed in words, accepted by the person, used in the same session.
    app.click("session-row").await?;
    app.fill("composer", "Make a skill of how we write release notes").await?;
    app.click("send").await?;
    app.until("the second turn", async || Ok((app.all("turn-end").await?.len() >= 2).then_some(()))).await?;
    assert!(!home.join("skills/release-notes").exists(), "a proposal is nothing yet");
    app.click("open-skills").await?;
    open_row(&app, "suggestion-row").await?;
    app.find("suggestion-detail").await?;
    app.picture(&format!("suggestion-of-a-skill-{theme_name}")).await?;
    app.click("suggestion-accept").await?;
    app.find("skill-row[data-skill=release-notes]").await?;
    assert_eq!(fs::read_to_string(home.join("skills/release-notes/SKILL.md"))?, PROPOSED);
    app.click("session-row").await?;
    app.fill("composer", "/release-notes 0.9").await?;
    app.click("send").await?;
    app.until("the third turn", async || Ok((app.all("turn-end").await?.len() >= 3).then_some(()))).await?;
    // The command in its text ran before the model read it, and its card says so.
    let last_request = server.requests().pop().context("a request")?;
    assert!(
        String::from_utf8_lossy(&last_request.raw).contains("This changed:\\n\\nThe heron is drawn anew.")
    );
    app.script("[...document.querySelectorAll('[data-testid=step-row]')].at(-1).click()").await?;
    app.until("the command in the card", async || {
        Ok(app.texts("step-body").await?.iter().any(|text| text.contains("cat CHANGES.txt")).then_some(()))
    })
    .await?;
    app.picture(&format!("skill-command-{theme_name}")).await?;

    // The card shows a sub-agent's work, and can stop it: only that sub-agent ends.
    app.fill("composer", "/look-over the whole site").await?;
    app.click("send").await?;
    app.until("the command to run", async || Ok(runs(LONG)?.then_some(()))).await?;
    app.find("sub-agent[data-status=running]").await?;
    app.picture(&format!("sub-agent-works-{theme_name}")).await?;
    app.click("sub-agent-stop").await?;
    app.until("the fourth turn", async || Ok((app.all("turn-end").await?.len() >= 4).then_some(()))).await?;
    assert!(!runs(LONG)?, "its command ended with it");
    // Its card closed, and opens again.
    app.script("[...document.querySelectorAll('[data-testid=step-row]')].at(-1).click()").await?;
    app.find("sub-agent[data-status=stopped]").await?;
    // Its parent's answer appears below.
    let visibility = "const answer = [...document.querySelectorAll('[data-testid=answer]')].at(-1); \
                const { top, bottom } = answer.getBoundingClientRect(); \
                return top > 0 && bottom < innerHeight && answer.checkVisibility({ visibilityProperty: true })";
    app.until("the answer in view", async || Ok((app.script(visibility).await? == true).then_some(())))
        .await?;
    app.picture(&format!("sub-agent-stopped-{theme_name}")).await?;
    let end = "return [...document.querySelectorAll('[data-testid=turn-end]')].at(-1).dataset.end";
    assert_eq!(app.script(end).await?, "finished", "its parent was not stopped");
    assert!(app.texts("answer").await?.iter().any(|text| text.contains("I leave that page")));

    // A memory is written, found, deleted and restored.
    app.fill("composer", "Remember that releases go out on Tuesdays").await?;
    app.click("send").await?;
    app.until("the fifth turn", async || Ok((app.all("turn-end").await?.len() >= 5).then_some(()))).await?;
    app.picture(&format!("skill-used-{theme_name}")).await?;
    app.click("open-memory").await?;
    open_row(&app, "memory-row[data-file='release-day.md']").await?;
    app.find("memory-detail").await?;
    app.picture(&format!("memory-{theme_name}")).await?;
    // Notes about accepted items cover the corner until they are closed.
    app.script("document.querySelectorAll('[data-testid=toast] button').forEach((button) => button.click())")
        .await?;
    app.until("nothing in the way", async || Ok(app.all("toast").await?.is_empty().then_some(()))).await?;
    app.click("memory-delete").await?;
    app.until("it is gone", async || Ok((!home.join("memories/release-day.md").exists()).then_some(())))
        .await?;
    let toast = app.find("toast").await?;
    toast.find(Locator::Css("button")).await?.click().await?;
    app.until("it is back", async || Ok(home.join("memories/release-day.md").exists().then_some(()))).await?;

    // Recalled in a session that never received it.
    app.click("new-session").await?;
    app.find("new-folder").await?;
    app.choose("status-mode", &words::say(Language::En, "mode.autonomous", &BTreeMap::new())).await?;
    app.fill("composer", "When do we release?").await?;
    app.click("send").await?;
    app.find("turn-end[data-end=finished]").await?;
    assert!(app.texts("answer").await?.iter().any(|text| text.contains("On Tuesdays.")));
    app.picture(&format!("memory-recalled-{theme_name}")).await?;
    app.close().await?;

    server.assert_clean();
    assert_eq!(server.replies_left(), 0);
    let requests = server.requests();
    let last_body = &requests.last().context("a request")?.body;
    assert!(last_body.to_string().contains("Recalled Memories"), "the parent has what was recalled");
    let first_body = requests.iter().rev().nth(4).context("the session's first request")?.body.to_string();
    // Not the word alone: the prompt names the day of the week.
    assert!(!first_body.contains("Tuesdays"), "nothing of a memory is in a session's prompt");

    let instructions =
        requests.iter().any(|request| request.body.to_string().contains("List what changed, one line each."));
    assert!(instructions, "the accepted skill's instructions reached the model in the same session");
    Ok(())
}

/// Opens a row of a table: the driver does not click a `tr`, but the page's handler accepts the click all the
/// same.
async fn open_row(app: &Application, row: &str) -> Result<()> {
    app.find(row).await?;
    let (id, remaining) =
        row.split_once('[').map_or((row, String::new()), |(id, remaining)| (id, format!("[{remaining}")));
    app.script(&format!("document.querySelector(\"[data-testid={id}]{remaining}\").click()")).await?;
    Ok(())
}
