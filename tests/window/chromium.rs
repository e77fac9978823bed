//! Chromium as its person would have it running, on a screen of its own.

use anyhow::{Context as _, Result};
use octo_browser::{Browser, Environment, System, Wanted, cdp::browser_protocol::target::GetTargetsParams};
use octo_testkit::CHROMIUM_SWITCHES;
use octo_tests::{Application, Desktop};
use std::{
    fs,
    path::PathBuf,
    process::{Child, Stdio},
    time::Duration,
};

/// How its person lets others in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// It was started with a debugging port.
    Port,
    /// Its person ticked the box on its page for debugging, and is asked each time.
    Question,
}

/// It is killed with this.
pub(crate) struct Chromium {
    process: Child,
    profile: PathBuf,
    /// Its screen, as [`Desktop::another_screen`] called it.
    pub(crate) screen: String,
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ended = self.process.kill();
        let _reaped = self.process.wait();
    }
}

impl Chromium {
    /// Starts it on this screen with a page of its person's, in the profile where Octo looks first.
    pub(crate) async fn start(
        desktop: &Desktop,
        app: &Application,
        screen: String,
        door: Door,
        own: &str,
    ) -> Result<Self> {
        let profile = desktop.home().join(".config/chromium");
        fs::create_dir_all(&profile)?;
        let ticked = serde_json::json!({ "user-enabled": door == Door::Question });
        let state = serde_json::json!({ "devtools": { "remote_debugging": ticked } });
        fs::write(profile.join("Local State"), state.to_string())?;
        let mut command = desktop.command("chromium");
        command
            .env("DISPLAY", &screen)
            .args(CHROMIUM_SWITCHES)
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(own)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if door == Door::Port {
            command.arg("--remote-debugging-port=0");
        }
        let process =
            command.spawn().context("Chromium could not be started; cargo xtask test installs it")?;
        let port = profile.join("DevToolsActivePort");
        let browser = Self { process, profile, screen };
        app.until("Chromium to listen", async || {
            Ok(fs::read_to_string(&port).is_ok_and(|text| text.lines().count() == 2).then_some(()))
        })
        .await?;
        Ok(browser)
    }

    /// The addresses of the tabs that somebody is attached to, told to another one who came by its port.
    pub(crate) async fn attached(&self) -> Result<Vec<String>> {
        let environment = Environment::bare(System::Linux, self.profile.clone());
        let other = Browser::new(environment, Wanted::Folder(self.profile.clone()));
        let line = other.connect().await?.link;
        let targets = line.call(None, GetTargetsParams::default(), Duration::from_secs(10)).await?;
        let pages =
            targets.target_infos.into_iter().filter(|target| target.r#type == "page" && target.attached);
        Ok(pages.map(|page| page.url).collect())
    }
}
