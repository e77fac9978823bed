//! WebKit's driver, and the processes it starts.

use crate::{Desktop, Theme};
use anyhow::{Context as _, Result, anyhow, bail};
use std::{
    fs,
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::Path,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

/// How long it may take to listen on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// State of a process that has ended and was not reaped.
const ENDED: &str = "Z";

/// A process started by another one.
pub(crate) struct ChildProcess {
    pub(crate) id: u32,
    pub(crate) name: String,
    state: String,
}

/// The processes a process started.
pub(crate) fn children(parent: u32) -> Result<Vec<ChildProcess>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let Some(id) = entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // A process that ended meanwhile is skipped.
        let Ok(status) = fs::read_to_string(format!("/proc/{id}/stat")) else { continue };
        let malformed = || anyhow!("an odd line in /proc/{id}/stat");
        let (head, fields) = status.rsplit_once(')').ok_or_else(malformed)?;
        let (_, name) = head.split_once('(').ok_or_else(malformed)?;
        let mut fields = fields.split_whitespace();
        let (state, parent_field) =
            (fields.next().ok_or_else(malformed)?, fields.next().ok_or_else(malformed)?);
        if parent_field == parent.to_string() {
            found.push(ChildProcess { id, name: name.to_owned(), state: state.to_owned() });
        }
    }
    Ok(found)
}

/// WebKit's driver, which starts the application as its child.
#[derive(Debug)]
pub(crate) struct Driver {
    process: Child,
    /// Where it listens.
    pub(crate) port: u16,
}

impl Driver {
    pub(crate) fn start(desktop: &Desktop, home: Option<&Path>, theme: Theme) -> Result<Self> {
        // It does not accept port 0, so a free port is found for it.
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let mut command = desktop.command("WebKitWebDriver");
        command
            .arg(format!("--port={port}"))
            .envs([("TAURI_AUTOMATION", "true"), ("TAURI_WEBVIEW_AUTOMATION", "true")])
            .stdout(Stdio::null());
        if let Some(home) = home {
            command.env("OCTO_HOME", home);
        }
        if theme == Theme::Dark {
            command.env("GTK_THEME", "Adwaita:dark");
        }
        let process =
            command.spawn().context("WebKitWebDriver could not be started; cargo xtask test installs it")?;
        let mut driver = Self { process, port };
        let started = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if let Some(status) = driver.process.try_wait()? {
                bail!("WebKitWebDriver ended: {status}");
            }
            if started.elapsed() > PATIENCE {
                bail!("WebKitWebDriver did not come up");
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(driver)
    }

    /// The processes the driver started that still run.
    pub(crate) fn applications(&self) -> Result<Vec<u32>> {
        let started = children(self.process.id())?.into_iter();
        Ok(started.filter(|started| started.state != ENDED).map(|started| started.id).collect())
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Killed first, while its children can still be identified.
        for id in self.applications().unwrap_or_default() {
            let _ = std::process::Command::new("kill").args(["-KILL", &id.to_string()]).status();
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
