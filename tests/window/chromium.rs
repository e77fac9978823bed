//! Chromium as its person would run it, on a separate screen.

use anyhow::{Context as _, Result};
use octo_browser::{
    Browser, BrowserEnvironment, BrowserTarget, HostSystem, cdp::browser_protocol::target::GetTargetsParams,
};
use octo_testkit::CHROMIUM_SWITCHES;
use octo_tests::{Application, Desktop};
use std::{
    fs,
    path::PathBuf,
    process::{Child, Stdio},
    time::Duration,
};

/// How its person allows access.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessMethod {
    /// It was started with a debugging port.
    Port,
    /// Its person ticked the box on its debugging page, and is asked each time.
    Question,
}

/// Dropping this kills it.
pub(crate) struct Chromium {
    process: Child,
    profile: PathBuf,
    /// Its screen, named as by [`Desktop::another_screen`].
    pub(crate) screen: String,
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ended = self.process.kill();
        let _reaped = self.process.wait();
    }
}

impl Chromium {
    /// Starts it on this screen with its person's page, in the profile Octo tries first.
    pub(crate) async fn start(
        desktop: &Desktop,
        app: &Application,
        screen: String,
        access: AccessMethod,
        own_url: &str,
    ) -> Result<Self> {
        let profile = desktop.home().join(".config/chromium");
        fs::create_dir_all(&profile)?;
        let ticked = serde_json::json!({ "user-enabled": access == AccessMethod::Question });
        let state = serde_json::json!({ "devtools": { "remote_debugging": ticked } });
        fs::write(profile.join("Local State"), state.to_string())?;
        let mut command = desktop.command("chromium");
        command
            .env("DISPLAY", &screen)
            .args(CHROMIUM_SWITCHES)
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(own_url)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if access == AccessMethod::Port {
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

    /// Returns the addresses of attached tabs, as reported to another client connected through its port.
    pub(crate) async fn attached(&self) -> Result<Vec<String>> {
        let environment = BrowserEnvironment::bare(HostSystem::Linux, self.profile.clone());
        let other_browser = Browser::new(environment, BrowserTarget::Folder(self.profile.clone()));
        let link = other_browser.connect().await?.link;
        let targets = link.call(None, GetTargetsParams::default(), Duration::from_secs(10)).await?;
        let pages =
            targets.target_infos.into_iter().filter(|target| target.r#type == "page" && target.attached);
        Ok(pages.map(|page| page.url).collect())
    }
}
