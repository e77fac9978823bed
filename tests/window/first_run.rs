//! The first thing a person sees.

use crate::first_task::{KEY, connect};
use anyhow::{Context as _, Result};
use fantoccini::Locator;
use octo_testkit::{ModelServer, Script, ServerOptions};
use octo_tests::{Application, Desktop, Theme};
use std::fs;

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn a_new_person_is_welcomed_in_light_and_dark() -> Result<()> {
    let desktop = Desktop::start()?;
    for (theme, name) in [(Theme::Light, "welcome-light"), (Theme::Dark, "welcome-dark")] {
        let app = Application::open(&desktop, &desktop.folder().join(name), theme).await?;
        app.find("welcome").await?;
        app.find("start-demo").await?;
        let dark = app.script("return matchMedia('(prefers-color-scheme: dark)').matches").await?;
        assert_eq!(dark, theme == Theme::Dark, "the page follows the desktop");
        app.picture(name).await?;
        app.close().await?;
    }
    Ok(())
}

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn an_unusable_home_is_reported_and_retried() -> Result<()> {
    let desktop = Desktop::start()?;
    let home = desktop.folder().join("octo");
    fs::write(&home, "a file is in the way")?;
    let app = Application::open(&desktop, &home, Theme::Dark).await?;
    app.find("start-failure").await?;
    app.picture("start-failure-dark").await?;
    app.close().await?;
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    app.find("start-failure").await?;
    app.picture("start-failure-light").await?;
    assert_eq!(fs::read_to_string(&home)?, "a file is in the way", "nothing was changed");

    fs::remove_file(&home)?;
    app.find("start-failure").await?.find(Locator::Css("button")).await?.click().await?;
    app.find("welcome").await?;
    app.close().await
}

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn a_damaged_database_is_replaced_by_a_backup_then_an_empty_one() -> Result<()> {
    let desktop = Desktop::start()?;
    let home = desktop.folder().join("octo");
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    app.find("welcome").await?;
    app.close().await?;
    let (file, backups) = (home.join("octo.db"), home.join("backups"));
    let intact = fs::read(&file)?;
    fs::create_dir_all(&backups)?;
    fs::write(backups.join("octo-1-1795443302000.db"), &intact)?;
    let asides = || -> Result<Vec<Vec<u8>>> {
        let names = fs::read_dir(&home)?.filter_map(|entry| Some(entry.ok()?.path()));
        // Without the logs next to it.
        let is_set_aside = |path: &std::path::PathBuf| {
            let name = path.to_string_lossy();
            name.contains("octo.db-damaged-") && !name.ends_with("-wal") && !name.ends_with("-shm")
        };
        Ok(names.filter(is_set_aside).map(fs::read).collect::<std::io::Result<_>>()?)
    };

    let broken = &intact[..intact.len() / 2 / 4096 * 4096];
    for (theme, name) in [(Theme::Light, "damaged-backup-light"), (Theme::Dark, "damaged-empty-dark")] {
        fs::write(&file, broken)?;
        let app = Application::open(&desktop, &home, theme).await?;
        app.find("start-failure").await?;
        app.click("damaged-replace").await?;
        app.find("damaged-confirm").await?;
        app.picture(name).await?;
        assert_eq!(fs::read(&file)?, broken, "nothing happens before the person confirms");
        app.click("damaged-confirm").await?;
        app.find("welcome").await?;
        app.close().await?;
        assert_ne!(fs::read(&file)?, broken);
        fs::remove_dir_all(&backups)?;
        fs::create_dir(&backups)?;
    }
    let set_aside = asides()?;
    assert!(
        set_aside.len() == 2 && set_aside.iter().all(|bytes| bytes == broken),
        "both are kept as they were"
    );
    Ok(())
}

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn without_a_keychain_the_key_lasts_until_exit() -> Result<()> {
    let desktop = Desktop::start_without_keychain()?;
    let (home, work) = (desktop.folder().join("octo"), desktop.home().join("work"));
    fs::create_dir(&work)?;
    let server = ModelServer::start_with(
        Script::new().text("ok").text("One.").text("Two."),
        ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() },
    );
    let key_state = async |app: &Application| {
        app.until("that there is no keychain", async || {
            let page_text = app.script("return document.body.innerText").await?;
            Ok(page_text
                .as_str()
                .is_some_and(|text| text.contains("No keychain on this system"))
                .then_some(()))
        })
        .await
    };
    let app = Application::open(&desktop, &home, Theme::Light).await?;
    app.find("welcome").await?;
    key_state(&app).await?;
    connect(&app, &server.url(), "no-keychain").await?;
    app.fill("new-folder", work.to_str().context("a path in Unicode")?).await?;
    app.fill("composer", "First").await?;
    app.click("send").await?;
    app.find("turn-end[data-end=finished]").await?;
    app.close().await?;
    for file in ["octo.db", "octo.db-wal"] {
        let bytes = fs::read(home.join(file)).unwrap_or_default();
        assert!(!bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes()), "{file} holds the key");
    }

    let app = Application::open(&desktop, &home, Theme::Dark).await?;
    app.click("session-row").await?;
    app.fill("composer", "Second").await?;
    app.click("send").await?;
    app.find("turn-error").await?;
    app.picture("no-keychain-later-dark").await?;
    app.click("open-settings").await?;
    app.click("settings-page[data-page=models]").await?;
    key_state(&app).await?;
    app.close().await
}

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn the_page_keeps_to_its_policy() -> Result<()> {
    let desktop = Desktop::start()?;
    let app = Application::open(&desktop, &desktop.folder().join("octo"), Theme::Light).await?;
    app.find("welcome").await?;
    // Each reports which rule refused it; a request that fails for another reason never answers.
    let violation = "const violation = (act) => new Promise((done) => { \
                     addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective), { once: true }); \
                     act(); });";
    for (script, refusal) in [
        ("try { return eval('1') } catch (error) { return error.name }", "EvalError"),
        ("return violation(() => fetch('https://example.org/').catch(() => 0))", "connect-src"),
        ("return violation(() => { new Image().src = 'https://example.org/a.png' })", "img-src"),
        (
            "return violation(() => document.head.append(Object.assign(document.createElement('script'), { text: '1' })))",
            "script-src-elem",
        ),
        (
            "return violation(() => document.body.append(Object.assign(document.createElement('iframe'), { src: 'https://example.org/' })))",
            "frame-src",
        ),
    ] {
        assert_eq!(app.script(&format!("{violation} {script}")).await?, refusal, "{script}");
    }
    for command in
        ["plugin:dialog|open", "plugin:opener|open_url", "plugin:event|emit", "plugin:window|close"]
    {
        let call = format!(
            "return window.__TAURI_INTERNALS__.invoke('{command}', {{}}).then(() => 'allowed', String)"
        );
        let reply = app.script(&call).await?;
        assert!(reply.as_str().is_some_and(|reply| reply.contains("not allowed")), "{command}: {reply}");
    }
    app.script("location.href = 'https://example.org/'").await?;
    app.find("welcome").await?;
    app.close().await
}
