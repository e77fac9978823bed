//! The desktop's keychain: GNOME's, unlocked with a password that protects nothing.

use crate::Desktop;
use anyhow::{Context as _, Result, bail};
use std::{
    io::Write as _,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Timeout for taking its name on the bus.
const PATIENCE: Duration = Duration::from_secs(30);

/// Starts it, and returns when it accepts requests.
pub(crate) fn start(desktop: &Desktop) -> Result<Child> {
    let mut keychain = desktop
        .command("gnome-keyring-daemon")
        .args(["--foreground", "--unlock", "--components=secrets"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("gnome-keyring-daemon could not be started; cargo xtask test installs it")?;
    // The password ends with the input.
    keychain.stdin.take().context("its input")?.write_all(b"octo")?;
    let started = Instant::now();
    // The bus notifies only subscribers, so it is polled.
    while !is_there(desktop)? {
        if let Some(status) = keychain.try_wait()? {
            bail!("gnome-keyring-daemon ended: {status}");
        }
        if started.elapsed() > PATIENCE {
            let _ = keychain.kill();
            bail!("gnome-keyring-daemon did not come up");
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(keychain)
}

fn is_there(desktop: &Desktop) -> Result<bool> {
    let question = [
        "--session",
        "--print-reply",
        "--dest=org.freedesktop.DBus",
        "/org/freedesktop/DBus",
        "org.freedesktop.DBus.NameHasOwner",
        "string:org.freedesktop.secrets",
    ];
    let reply =
        desktop.command("dbus-send").args(question).output().context("dbus-send could not be started")?;
    Ok(String::from_utf8_lossy(&reply.stdout).contains("boolean true"))
}
