//! The first run, step by step, closed halfway and resumed: language, a model that first refuses its key, the
//! assistant's manner, the browser, skills of another agent, the folder, and a first session.

use crate::first_task::{KEY, holding};
use anyhow::{Context as _, Result};
use octo_protocol::{Language, words};
use octo_testkit::{ModelServer, Script, ServerOptions};
use octo_tests::{Application, Desktop, Theme};
use std::{collections::BTreeMap, fs};

const HAIKU: &str = "---
name: haiku
description: Writes a haiku about what changed.
---

Three lines: five, seven and five syllables.
";

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn the_first_run_resumes_where_it_was_closed() -> Result<()> {
    let desktop = Desktop::start()?;
    let (home, work) = (desktop.folder().join("octo"), desktop.home().join("notes"));
    fs::create_dir(&work)?;
    let other_skill = desktop.home().join(".claude/skills/haiku");
    fs::create_dir_all(&other_skill)?;
    fs::write(other_skill.join("SKILL.md"), HAIKU)?;
    let server = ModelServer::start_with(
        Script::new().text("ok").text("It is a folder of notes. Begin with the newest."),
        ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() },
    );

    // The language, at once.
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    app.find("welcome").await?;
    app.click("onboarding-step-language").await?;
    app.click("language-zh").await?;
    app.text_where("welcome", "it in Chinese", |text| text.contains("选择语言")).await?;
    app.picture("wizard-language-zh").await?;
    app.click("language-en").await?;
    app.text_where("welcome", "it in English", |text| text.contains("Choose a language")).await?;
    app.click("onboarding-next").await?;

    // A refused key: reported with helpful words, and the test saves nothing.
    app.find("welcome[data-step=model]").await?;
    app.click("model-provider-custom").await?;
    app.click("model-protocol-anthropic").await?;
    app.fill("model-url", &server.url()).await?;
    app.fill("model-name", "scripted-model").await?;
    app.fill("model-key", "sk-test-wrong-0000").await?;
    app.click("model-test").await?;
    let message = app.text("model-result[data-check=fails]").await?;
    assert!(message.contains(&say("model.fails")), "{message}");
    assert!(message.contains(&say("error.model.test.auth")), "{message}");
    assert!(!message.contains("message was kept"), "no message was sent: {message}");
    app.picture("wizard-key-refused").await?;
    app.fill("model-key", KEY).await?;
    app.click("model-test").await?;

    // It works, so it continues automatically: the key is in the keychain, and in no file.
    app.find("welcome[data-step=persona]").await?;
    app.picture("wizard-model-works").await?;
    assert_eq!(holding(&home, KEY)?, Vec::<String>::new(), "the key is nowhere in the home");

    // The manner, with a preview of the two files. Closed halfway, it continues there.
    app.fill("onboarding-name", "Juno").await?;
    app.click("onboarding-manner-concise").await?;
    app.fill("onboarding-about", "I keep bees.").await?;
    // Typed text is saved once typing pauses.
    let script = "const done = arguments[0]; window.__TAURI_INTERNALS__.invoke('request', { request: { domain: 'app', \
                call: { type: 'get_settings' } } }).then((reply) => done(reply.settings.onboarding.about), String)";
    app.until("the answers to be kept", async || {
        Ok((app.script_async(script).await? == "I keep bees.").then_some(()))
    })
    .await?;
    app.close().await?;
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    app.find("welcome[data-step=persona]").await?;
    let value = |id: &str| format!("return document.querySelector('[data-testid={id}]').value");
    assert_eq!(app.script(&value("onboarding-name")).await?, "Juno");
    let soul = app.script(&value("onboarding-file-soul")).await?;
    let soul = soul.as_str().context("SOUL.md as it will be")?.to_owned();
    assert!(
        soul.starts_with("Your name is Juno.") && soul.contains("Be as short as the matter allows"),
        "{soul}"
    );
    assert_eq!(app.script(&value("onboarding-file-user")).await?, "I keep bees.");
    app.picture("wizard-manner").await?;
    assert!(!fs::read_to_string(home.join("agents/SOUL.md")).unwrap_or_default().contains("Juno"));
    app.click("onboarding-save").await?;
    app.find("welcome[data-step=browser]").await?;
    assert!(fs::read_to_string(home.join("agents/SOUL.md"))?.contains("Juno"));
    assert!(fs::read_to_string(home.join("agents/USER.md"))?.contains("I keep bees."));

    // The browser: the available ones, and that none is needed.
    app.until("what there is", async || {
        let count =
            app.all("onboarding-no-browser").await?.len() + app.all("browser-choice-own").await?.len();
        Ok((count > 0).then_some(()))
    })
    .await?;
    app.picture("wizard-browser").await?;
    app.click("onboarding-next").await?;

    // Another agent's skill, copied; its own folder stays unchanged.
    app.find("other-source[data-agent=claude]").await?;
    app.script(
        "document.querySelector('[data-testid=other-skill][data-skill=haiku] [role=checkbox]').click()",
    )
    .await?;
    app.picture("wizard-skills").await?;
    app.click("other-import").await?;
    app.until("the copy", async || Ok(home.join("skills/haiku/SKILL.md").exists().then_some(()))).await?;
    assert_eq!(fs::read_to_string(home.join("skills/haiku/SKILL.md"))?, HAIKU);
    assert!(other_skill.join("SKILL.md").exists());
    app.text_where("welcome", "that it is there", |text| text.contains("1 skill imported.")).await?;
    app.picture("wizard-skill-imported").await?;
    app.click("onboarding-next").await?;

    // The folder and the mode, then a first session by one click.
    app.find("welcome[data-step=place]").await?;
    app.fill("onboarding-folder", work.to_str().context("a path in Unicode")?).await?;
    app.click("default-mode-ask").await?;
    app.picture("wizard-place").await?;
    app.click("onboarding-next").await?;
    app.find("welcome[data-step=first]").await?;
    app.picture("wizard-first").await?;
    app.click("onboarding-try-explain").await?;
    app.text_where("answer", "the first answer", |text| text.contains("Begin with the newest")).await?;
    assert_eq!(app.text("status-mode").await?.trim(), say("mode.ask"));
    app.picture("wizard-first-session").await?;
    app.close().await?;

    // Its settings are in effect, and it does not start again.
    let requests = server.requests();
    let first_request = requests.last().context("the first session's request")?;
    assert!(first_request.user_text().contains(&say("new.try.explain")));
    assert!(first_request.body.to_string().contains("Your name is Juno."));
    let app = Application::open(&desktop, &home, Theme::Dark).await?;
    app.find("session-row").await?;
    assert!(app.all("welcome").await?.is_empty());
    app.close().await?;
    server.assert_clean();
    assert_eq!(server.replies_left(), 0);
    Ok(())
}

fn say(key: &str) -> String {
    words::say(Language::En, key, &BTreeMap::new())
}
