//! Attaching to a browser: to a browser that asks its person, who cancels, declines and allows; and to a
//! browser with Octo's own profile, chosen in the settings.

use crate::{
    browser::{KEY, press, serve},
    chromium::{AccessMethod, Chromium},
    first_task::connect,
};
use anyhow::{Context as _, Result};
use octo_testkit::{CHROMIUM_SWITCHES, ModelServer, Reply, Script, ServerOptions, chromium_program};
use octo_tests::{Application, Desktop, Theme};
use serde_json::json;
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

/// A point of the page, below the browser's prompts. They darken the page behind them.
const MIDDLE: (i16, i16) = (560, 700);

/// A browser that asks its person.
struct PromptingChromium(Chromium);

impl PromptingChromium {
    async fn start(desktop: &mut Desktop, app: &Application, own_url: &str) -> Result<Self> {
        let screen = desktop.another_screen()?;
        let manager = desktop.command("openbox").env("DISPLAY", &screen).stderr(Stdio::null()).spawn();
        desktop.own_child(manager.context("openbox could not be started; cargo xtask test installs it")?);
        let browser = Self(Chromium::start(desktop, app, screen, AccessMethod::Question, own_url).await?);
        app.until("its page", async || Ok((browser.shade(desktop)? >= 0xf0).then_some(()))).await?;
        Ok(browser)
    }

    fn shade(&self, desktop: &Desktop) -> Result<u8> {
        desktop.shade(&self.0.screen, MIDDLE)
    }

    /// Waits until the browser asks.
    async fn question(&self, desktop: &Desktop, app: &Application) -> Result<()> {
        app.until("the browser's question", async || {
            Ok((0x30..0xc0).contains(&self.shade(desktop)?).then_some(()))
        })
        .await
    }

    async fn key(&self, desktop: &Desktop, key: &str) -> Result<()> {
        let mut press = desktop.command("xdotool");
        press.env("DISPLAY", &self.0.screen).args(["key", key]).status().context("xdotool is installed")?;
        tokio::time::sleep(Duration::from_millis(300)).await;
        Ok(())
    }

    /// Closes a prompt that is no longer needed.
    async fn close_question(&self, desktop: &Desktop, app: &Application) -> Result<()> {
        app.until("the question to be closed", async || {
            if self.shade(desktop)? >= 0xf0 {
                return Ok(Some(()));
            }
            self.key(desktop, "Escape").await?;
            Ok(None)
        })
        .await
    }

    /// Presses keys in the browser until its question is answered. It takes no answer in its first moments.
    async fn answer(
        &self,
        desktop: &Desktop,
        app: &Application,
        first_answer: &str,
        second_answer: &str,
    ) -> Result<()> {
        if !first_answer.is_empty() {
            self.key(desktop, first_answer).await?;
        }
        app.until("its answer", async || {
            if app.all("browser-waiting").await?.is_empty() {
                return Ok(Some(()));
            }
            self.key(desktop, second_answer).await?;
            Ok(None)
        })
        .await
    }
}

/// Starts a model that opens a page on every message, and reports the result.
fn opening(url: String) -> ModelServer {
    let script = Script::from_fn(move |request| {
        let last_message = request.messages().last().map(ToString::to_string).unwrap_or_default();
        if last_message.contains("tool_result") {
            return Reply::text(if last_message.contains("You are registered") {
                "I see it."
            } else {
                "I do not see it."
            });
        }
        match last_message.contains("Look at it") {
            true => Reply::call("browser", json!({ "action": "open", "url": url })),
            false => Reply::text("ok"),
        }
    });
    ModelServer::start_with(script, ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() })
}

async fn say(app: &Application) -> Result<()> {
    app.fill("composer", "Look at it").await?;
    app.click("send").await
}

/// Waits for this many ended turns, the last with this text.
async fn answered(app: &Application, turns: usize, with: &str) -> Result<()> {
    app.until(&format!("answer {turns}: {with}"), async || {
        let answers = app.texts("answer").await?;
        Ok((answers.len() == turns && answers.last().is_some_and(|text| text.contains(with))).then_some(()))
    })
    .await
}

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn a_browsers_permission_prompt_is_awaited() -> Result<()> {
    let mut desktop = Desktop::start()?;
    let (home, work) = (desktop.folder().join("octo"), desktop.home().join("trip"));
    fs::create_dir(&work)?;
    let (port, requests) = serve()?;
    let (own_url, expected_url) =
        (format!("http://127.0.0.1:{port}/two?own"), format!("http://127.0.0.1:{port}/done"));
    let server = opening(expected_url);
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    let browser = PromptingChromium::start(&mut desktop, &app, &own_url).await?;
    connect(&app, &server.url(), "attaching").await?;
    app.fill("new-folder", work.to_str().context("a path in Unicode")?).await?;

    // Cancelled in Octo: the call ends. The browser's prompt stays until the person closes it, and grants no
    // access.
    say(&app).await?;
    browser.question(&desktop, &app).await?;
    app.text_where("browser-waiting", "what it waits for", |text| text.contains("press Allow in Chromium"))
        .await?;
    app.text_where("turn-progress", "the same in the transcript", |text| {
        text.contains("press Allow in Chromium")
    })
    .await?;
    app.picture("browser-allow").await?;
    app.click("browser-cancel").await?;
    answered(&app, 1, "I do not see it.").await?;
    app.text_where("browser-lost", "what to do with it", |text| text.contains("press Cancel there")).await?;
    browser.close_question(&desktop, &app).await?;

    // The check-up names the pending prompt, and its button ends that too.
    say(&app).await?;
    browser.question(&desktop, &app).await?;
    app.click("open-settings").await?;
    app.click("settings-page[data-page=browser]").await?;
    app.find("browser-run-checks").await?;
    // Not by position: results that arrive meanwhile move it.
    app.script("document.querySelector('[data-testid=browser-run-checks]').click()").await?;
    app.text_where("browser-check-attached", "the line", |text| text.contains("press Allow there")).await?;
    app.picture("browser-check-waiting").await?;
    let button =
        "document.querySelector('[data-testid=browser-check-attached] [data-testid=browser-repair]').click()";
    app.script(button).await?;
    app.text_where("browser-check-attached", "looked at again", |text| text.contains("press Cancel there"))
        .await?;
    app.click("settings-back").await?;
    answered(&app, 2, "I do not see it.").await?;
    browser.close_question(&desktop, &app).await?;

    // Declined in the browser.
    say(&app).await?;
    browser.question(&desktop, &app).await?;
    browser.answer(&desktop, &app, "", "Escape").await?;
    answered(&app, 3, "I do not see it.").await?;

    // Allowed: it continues at once, to the question about the site.
    say(&app).await?;
    browser.question(&desktop, &app).await?;
    browser.answer(&desktop, &app, "Tab", "Return").await?;
    app.find("question").await?;
    assert!(
        !requests.lock().expect("the list").iter().any(|path| path == "/done"),
        "not before it is granted"
    );
    press(&app, "question-once").await?;
    answered(&app, 4, "I see it.").await?;

    // The connection is kept: there is no further prompt.
    say(&app).await?;
    press(&app, "question-once").await?;
    answered(&app, 5, "I see it.").await?;
    app.close().await?;
    let requests = requests.lock().expect("the list").clone();
    assert_eq!(
        requests.iter().filter(|path| path.ends_with("?own")).count(),
        1,
        "the person's own tab was left alone"
    );
    Ok(())
}

/// Returns a program that becomes Chromium on another screen.
fn wrapper(folder: &Path, screen: &str) -> Result<PathBuf> {
    let chromium = chromium_program().context("Chromium is not installed; cargo xtask test installs it")?;
    fs::create_dir_all(folder)?;
    let script = folder.join("chromium");
    let arguments = CHROMIUM_SWITCHES.join(" ");
    fs::write(
        &script,
        format!("#!/bin/sh\nDISPLAY={screen} exec '{}' {arguments} \"$@\"\n", chromium.display()),
    )?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    Ok(folder.to_owned())
}

/// Counts the processes that were started with this in their arguments.
fn running(argument: &str) -> Result<usize> {
    let processes = fs::read_dir("/proc")?.flatten();
    let lines = processes.filter_map(|it| fs::read(it.path().join("cmdline")).ok());
    Ok(lines.filter(|line| String::from_utf8_lossy(line).contains(argument)).count())
}

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn octos_own_profile_is_chosen_and_closed_with_octo() -> Result<()> {
    let mut desktop = Desktop::start()?;
    let (home, work) = (desktop.folder().join("octo"), desktop.home().join("trip"));
    fs::create_dir(&work)?;
    let screen = desktop.another_screen()?;
    let wrapper_path = wrapper(&desktop.folder().join("bin"), &screen)?;
    desktop.prepend_path(&wrapper_path)?;
    let (port, requests) = serve()?;
    let server = opening(format!("http://127.0.0.1:{port}/done"));
    let app = Application::open(&desktop, &home, Theme::Dark).await?;
    connect(&app, &server.url(), "own-profile").await?;
    app.click("open-settings").await?;
    app.click("settings-page[data-page=browser]").await?;
    app.click("browser-choice-own").await?;
    app.picture("browser-own-chosen").await?;
    app.click("settings-back").await?;
    app.fill("new-folder", work.to_str().context("a path in Unicode")?).await?;
    say(&app).await?;
    press(&app, "question-once").await?;
    answered(&app, 1, "I see it.").await?;
    app.picture("browser-own").await?;
    assert!(requests.lock().expect("the list").iter().any(|path| path == "/done"));
    let profile = home.join("browser");
    assert!(running(&profile.display().to_string())? > 0, "it runs in a profile of Octo's home");
    assert!(!profile.join("DevToolsActivePort").exists(), "no port was opened");
    app.close().await?;
    let started = std::time::Instant::now();
    while running(&profile.display().to_string())? > 0 {
        assert!(started.elapsed() < Duration::from_secs(30), "the browser ends with Octo");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}
