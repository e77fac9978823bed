//! An update from its offer to the new program: checked on request, shown with its changes, refused under
//! another's signature, installed by one click.

use crate::{
    export_import::say,
    first_task::{KEY, connect},
};
use anyhow::{Context as _, Result, ensure};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use minisign::{KeyPair, SecretKey};
use octo_testkit::{ModelServer, Script, ServerOptions};
use octo_tests::{Application, Desktop, Panel, Theme, example};
use parking_lot::Mutex;
use serde_json::json;
use std::{
    fs,
    io::{BufRead as _, BufReader, Cursor, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

/// The version on offer.
const OFFERED: &str = "9.0.0";
/// Timeout for the start of the new program on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn an_update_is_offered_verified_and_installed_in_one_click() -> Result<()> {
    let desktop = Desktop::start()?;
    let panel = Panel::start(&desktop).await?;
    // A separate folder, as a person keeps a single-file program; the update replaces it.
    let folder = desktop.folder().join("programs");
    fs::create_dir(&folder)?;
    let program = folder.join("octo");
    // Stripped like released programs; reading and signing then handle a third of the data.
    let stripped =
        desktop.command("strip").arg("-o").arg(&program).arg(example("updating_window")?).status()?;
    ensure!(stripped.success(), "the program was not stripped");
    let old_program = fs::read(&program)?;
    // The same program in every other respect, so that it starts.
    let new_program = [old_program.as_slice(), b"\nnewer"].concat();

    let (own_key, other_key) =
        (KeyPair::generate_unencrypted_keypair()?, KeyPair::generate_unencrypted_keypair()?);
    let update_server =
        UpdateServer::start(signed(&new_program, &other_key.sk, OFFERED)?, new_program.clone())?;
    let updates = json!({
        "pubkey": BASE64.encode(own_key.pk.to_box()?.to_string()),
        "endpoints": [format!("{}/latest.json", update_server.url)],
        // As in a release.
        "requireSignedVersion": true,
    });
    let server = ModelServer::start_with(
        Script::new().text("ok"),
        ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() },
    );
    let home = desktop.folder().join("octo");
    let app =
        Application::open_with(&desktop, &program, &[format!("--updates={updates}")], &home, Theme::Light)
            .await?;
    connect(&app, &server.url(), "updates").await?;
    app.click("open-settings").await?;
    app.click("settings-page[data-page=about]").await?;
    app.find("update-check").await?;
    assert_eq!(update_server.asked(), Vec::<String>::new(), "nobody asked for it yet");

    // Shown with its changes, and only shown.
    app.click("update-check").await?;
    let offer = app.text_where("update-offer", "the offer", |text| text.contains("9.0.0")).await?;
    assert!(offer.contains("Herons are counted twice as fast."), "{offer}");
    app.picture("update-offered-light").await?;
    assert_eq!(update_server.asked(), ["/latest.json"]);

    // Another signature: nothing is installed, and this is reported.
    refused(&app).await?;
    app.picture("update-refused-light").await?;
    assert_eq!(update_server.asked(), ["/latest.json", "/octo"]);
    ensure!(fs::read(&program)? == old_program, "the program is as it was");

    // An older version signed by the makers that poses as a newer one.
    look_again(&app, &update_server, signed(&new_program, &own_key.sk, "0.9.0")?).await?;
    refused(&app).await?;
    ensure!(fs::read(&program)? == old_program, "the program is as it was");

    // The right one, by one click: the new program is installed, and runs.
    look_again(&app, &update_server, signed(&new_program, &own_key.sk, OFFERED)?).await?;
    let before = app.process()?;
    app.click("update-install").await?;
    let started = Instant::now();
    let after = loop {
        ensure!(started.elapsed() < PATIENCE, "no other process runs it");
        match of_program(&program)? {
            Some(process) if process != before => break process,
            _ => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    };
    ensure!(fs::read(&program)? == new_program, "the program is the new one");
    ensure!(fs::read_link(format!("/proc/{after}/exe"))? == program, "and no copy of the old");
    while app.windows_shown()? != 1 || !app.is_drawn()? {
        ensure!(started.elapsed() < PATIENCE, "its window shows nothing");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    app.screen("updated-light")?;
    panel.choose(&say("tray.quit")).await?;
    while of_program(&program)?.is_some() {
        ensure!(started.elapsed() < PATIENCE, "it does not end");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(update_server.asked(), ["/latest.json", "/octo"].repeat(3));
    Ok(())
}

/// The person installs it, and it is refused; they are told why.
async fn refused(app: &Application) -> Result<()> {
    app.click("update-install").await?;
    app.text_where("toast", "why it was not installed", |text| {
        text.contains("does not match what Octo's makers signed")
    })
    .await?;
    app.script("document.querySelector('[data-testid=toast] [data-kind=close]').click()").await?;
    let is_hidden = async || Ok(app.all("toast").await?.is_empty().then_some(()));
    app.until("the note to go", is_hidden).await
}

/// The server offers the same under another signature, and the person checks again until Octo has the answer.
async fn look_again(app: &Application, update_server: &UpdateServer, signature: String) -> Result<()> {
    update_server.sign(signature);
    let count = update_server.asked().len();
    app.click("update-check").await?;
    let answered = "return !document.querySelector('[data-testid=update-check]').disabled";
    app.until("the answer", async || {
        let is_answered = app.script(answered).await? == true;
        Ok((is_answered && update_server.asked().len() > count).then_some(()))
    })
    .await
}

/// Returns the signature of a version, as the updater reads it.
fn signed(program: &[u8], key: &SecretKey, version: &str) -> Result<String> {
    let comment = format!("timestamp:1795500000\tfile:octo\tversion:{version}");
    let signature = minisign::sign(None, key, Cursor::new(program), Some(&comment), None)?;
    Ok(BASE64.encode(signature.into_string()))
}

/// Returns the process that runs a program from this path, even after that was replaced.
fn of_program(program: &Path) -> Result<Option<u32>> {
    for entry in fs::read_dir("/proc")? {
        let entry = entry?;
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // A process that ended meanwhile runs nothing.
        let Ok(command) = fs::read(entry.path().join("cmdline")) else { continue };
        if command.split(|byte| *byte == 0).next() == Some(program.as_os_str().as_encoded_bytes()) {
            return Ok(Some(process));
        }
    }
    Ok(None)
}

/// The update server.
struct UpdateServer {
    url: String,
    state: Arc<Mutex<State>>,
}

struct State {
    signature: String,
    asked: Vec<String>,
}

impl UpdateServer {
    fn start(signature: String, program: Vec<u8>) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}", listener.local_addr()?);
        let state = Arc::new(Mutex::new(State { signature, asked: Vec::new() }));
        let (server_url, shared_state) = (url.clone(), Arc::clone(&state));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that disconnects does not matter.
                let _gone = answer(stream, &server_url, &shared_state, &program);
            }
        });
        Ok(Self { url, state })
    }

    fn sign(&self, signature: String) {
        self.state().signature = signature;
    }

    /// Returns the requested paths.
    fn asked(&self) -> Vec<String> {
        self.state().asked.clone()
    }

    fn state(&self) -> parking_lot::MutexGuard<'_, State> {
        self.state.lock()
    }
}

fn answer(mut stream: TcpStream, url: &str, state: &Mutex<State>, program: &[u8]) -> Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request_line = lines.next().context("a request")??;
    let path = request_line.split_whitespace().nth(1).context("a path")?.to_owned();
    // Up to the empty line that ends the head.
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let signature = {
        let mut state = state.lock();
        state.asked.push(path.clone());
        state.signature.clone()
    };
    let latest = json!({
        "version": "9.0.0",
        "notes": "Herons are counted **twice** as fast.",
        "pub_date": "2026-11-24T00:00:00Z",
        "platforms": {
            format!("linux-{}", std::env::consts::ARCH): { "signature": signature, "url": format!("{url}/octo") },
        },
    });
    let latest = latest.to_string().into_bytes();
    let body = if path == "/octo" { program } else { latest.as_slice() };
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len())?;
    Ok(stream.write_all(body)?)
}
