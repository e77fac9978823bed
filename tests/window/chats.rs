//! A phone writes to Octo: a form stores the token in the keychain, no person's messages are accepted before
//! their code was typed, the window shows the chat's messages, and after a lost connection, a closed window and
//! a restart a chat continues its session and no message is answered twice.

use crate::first_task::{KEY, connect, holding};
use anyhow::{Context as _, Result};
use octo_testkit::{Gate, ModelServer, Reply, Script, ServerOptions, TelegramPost, TelegramServer};
use octo_tests::{Application, Desktop, Theme};
use std::fs;

const ADA: i64 = 7;

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn a_phone_is_paired_answered_and_kept_over_a_restart() -> Result<()> {
    let desktop = Desktop::start()?;
    let (home, work) = (desktop.folder().join("octo"), desktop.home().join("notes"));
    fs::create_dir(&work)?;
    let (telegram, gate) = (TelegramServer::start(), Gate::new());
    let server = ModelServer::start_with(
        Script::new()
            .text("ok")
            .text("First answer.")
            .text("Second answer.")
            // Cut off by the kill, and requested again by the next start.
            .reply(Reply::text("Third answer.").hold_after(1, &gate))
            .text("Third answer.")
            .text("Fourth answer."),
        ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() },
    );
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    connect(&app, &server.url(), "chats").await?;

    // The form: an unknown token is refused with a reason, then the right one.
    page(&app).await?;
    app.click("chat-add").await?;
    app.script("document.querySelector('.chat-form details').open = true").await?;
    app.fill("chat-server", &telegram.url()).await?;
    app.fill("chat-folder", work.to_str().context("a path in Unicode")?).await?;
    app.fill("chat-token", "4242:wrong").await?;
    app.click("chat-test").await?;
    app.find("chat-save-anyway").await?;
    app.picture("chat-wrong-light").await?;
    assert!(!page_text(&app).await?.contains("octo_test_bot"));
    app.fill("chat-token", telegram.token()).await?;
    app.click("chat-save").await?;
    app.find("chat-status[data-state=connected]").await?;
    assert!(page_text(&app).await?.contains("octo_test_bot"));
    assert!(!page_text(&app).await?.contains(telegram.token()));

    // A stranger gets a code, and only that.
    telegram.send_text(ADA, "let me in");
    let code_post = wait(&telegram, "code", |post| post.person == "7").await?;
    let code = code_post.text.split_whitespace().find(|word| word.len() == 9 && word.contains('-'));
    app.fill("chat-code", code.context("a code")?).await?;
    app.click("chat-pair").await?;
    app.find("chat-person").await?;
    app.picture("chat-paired-light").await?;

    // A message in the chat appears as a session of the window, marked as such.
    telegram.send_text(ADA, "Say something");
    let post_answer = wait(&telegram, "answer", |post| post.text == "First answer.").await?;
    assert_eq!(post_answer.person, "7");
    app.click("settings-back").await?;
    app.click("session-row").await?;
    app.text_where("answer", "the answer", |text| text.contains("First answer.")).await?;
    app.text_where("user-message", "where it was written", |text| {
        text.contains("Telegram") && text.contains("Say something")
    })
    .await?;
    app.picture("chat-session-light").await?;

    // The connection drops: this is shown, and messages sent meanwhile are answered once it is back.
    telegram.stop_service();
    page(&app).await?;
    app.find("chat-status[data-state=reconnecting]").await?;
    app.picture("chat-lost-light").await?;
    telegram.send_text(ADA, "And more");
    telegram.resume_service();
    wait(&telegram, "second answer", |post| post.text == "Second answer.").await?;
    app.find("chat-status[data-state=connected]").await?;

    // Killed while it answers, with a message sent while it is gone; the token is read from the keychain again.
    telegram.send_text(ADA, "Still there?");
    gate.reached().await;
    app.kill().await?;
    telegram.send_text(ADA, "Are you back?");
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    wait(&telegram, "third answer", |post| post.text == "Third answer.").await?;
    wait(&telegram, "fourth answer", |post| post.text == "Fourth answer.").await?;
    app.until("one session", async || Ok((app.all("session-row").await?.len() == 1).then_some(()))).await?;
    app.click("session-row").await?;
    app.until("all four answers", async || {
        let answers = app.texts("answer").await?;
        let expected = ["First", "Second", "Third", "Fourth"]
            .iter()
            .all(|one| answers.iter().any(|text| text.contains(one)));
        Ok(expected.then_some(()))
    })
    .await?;
    let messages = app.texts("user-message").await?;
    assert_eq!(messages.iter().filter(|text| text.contains("Still there?")).count(), 1, "{messages:?}");
    app.close().await?;

    let answers = telegram.posts().into_iter().filter(|post| post.text.ends_with("answer.")).count();
    assert_eq!(answers, 4, "each is sent once");
    server.assert_clean();
    assert_eq!(server.replies_left(), 0);
    assert_eq!(holding(&home, telegram.token())?, Vec::<String>::new(), "the token is nowhere in the home");
    Ok(())
}

async fn page(app: &Application) -> Result<()> {
    app.click("open-settings").await?;
    app.click("settings-page[data-page=chats]").await
}

/// Returns all text in the window.
async fn page_text(app: &Application) -> Result<String> {
    let text = app.script("return document.body.innerText").await?;
    Ok(text.as_str().unwrap_or_default().to_owned())
}

/// Waits on another thread, so that the driver continues meanwhile.
async fn wait(
    telegram: &TelegramServer,
    expectation: &'static str,
    fits: fn(&TelegramPost) -> bool,
) -> Result<TelegramPost> {
    let telegram = telegram.clone();
    Ok(tokio::task::spawn_blocking(move || telegram.wait_for_post(expectation, fits)).await?)
}
