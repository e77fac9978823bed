//! A fresh headless browser with one tab, and a second connection to it that measures nothing and only queries
//! the observer script.

use anyhow::{Context as _, Result, ensure};
use octo_browser::{
    Browser, BrowserConnection, BrowserEnvironment, BrowserTarget, HostSystem, Page,
    cdp::js_protocol::runtime::EvaluateParams,
};
use octo_testkit::{CHROMIUM_HEADLESS_SWITCHES, CHROMIUM_SWITCHES, chromium_program};
use serde_json::Value;
use std::{
    fs,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// How long anything may take before it hangs.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A running browser with its own profile. Dropping this ends it.
pub struct Chromium {
    process: Child,
    profile: tempfile::TempDir,
    /// The port that controls it.
    pub port: u16,
}

impl Chromium {
    /// Starts it with one tab.
    ///
    /// # Errors
    /// When it is not on `PATH`, or does not start.
    pub async fn start(url: &str) -> Result<Self> {
        let program = chromium_program().context("Chromium (package chromium) is not on the path")?;
        let profile = tempfile::tempdir()?;
        let process = Command::new(program)
            .args(CHROMIUM_SWITCHES)
            .args(CHROMIUM_HEADLESS_SWITCHES)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg(url)
            .env("HOME", profile.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("Chromium")?;
        let mut browser = Self { process, profile, port: 0 };
        let started = Instant::now();
        let port_file = browser.folder().join("DevToolsActivePort");
        while browser.port == 0 {
            ensure!(started.elapsed() < PATIENCE, "Chromium never listened");
            tokio::time::sleep(Duration::from_millis(20)).await;
            let contents = fs::read_to_string(&port_file).unwrap_or_default();
            if contents.lines().count() == 2 {
                browser.port = contents.lines().next().unwrap_or_default().parse().context("a port")?;
            }
        }
        Ok(browser)
    }

    /// Returns its data folder.
    pub fn folder(&self) -> PathBuf {
        self.profile.path().to_owned()
    }

    /// Returns a browser that is not connected yet.
    pub fn browser(&self) -> Browser {
        let environment = BrowserEnvironment::bare(HostSystem::Linux, self.folder());
        Browser::new(environment, BrowserTarget::Folder(self.folder()))
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Attaches to the tab that shows this title.
///
/// # Errors
/// When it does not come.
pub async fn attach(connected: &BrowserConnection, title: &str) -> Result<Page> {
    let started = Instant::now();
    loop {
        let tabs = connected.tabs.list().await?;
        if let Some(tab) = tabs.into_iter().find(|tab| tab.title == title) {
            return Ok(Page::attach(&connected.link, &tab.target).await?);
        }
        ensure!(started.elapsed() < PATIENCE, "no tab shows {title}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Returns the result of the page's own script.
///
/// # Errors
/// When the page does not answer.
pub async fn script_result(page: &Page, script: &str) -> Result<Value> {
    let params = EvaluateParams {
        return_by_value: Some(true),
        await_promise: Some(true),
        ..EvaluateParams::new(script)
    };
    Ok(page.call(params, PATIENCE).await?.result.value.unwrap_or_default())
}

/// The observer's counts, over all frames and shadow roots.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    /// Number of visible elements that can be clicked or filled in.
    pub present: usize,
    /// Number of these with a handle from a tool.
    pub marked: usize,
    /// The first elements without a handle.
    pub missed: Vec<String>,
}

/// Returns the observer's counts of elements and marks.
///
/// # Errors
/// When it does not answer.
pub async fn targets(page: &Page) -> Result<Targets> {
    let reply = script_result(page, "witness.whole()").await?;
    let number = |name: &str| {
        let number = reply[name].as_u64().and_then(|number| usize::try_from(number).ok());
        number.with_context(|| format!("the witness says {reply}"))
    };
    let missed = reply["missed"].as_array().into_iter().flatten();
    let missed = missed.filter_map(|one| one.as_str().map(str::to_owned)).collect();
    Ok(Targets { present: number("present")?, marked: number("marked")?, missed })
}

/// Returns when the page received an input of this kind, in milliseconds since 1970; `None` if it has not since
/// the last reset.
///
/// # Errors
/// When it does not answer.
pub async fn input_time(page: &Page, kind: &str) -> Result<Option<f64>> {
    Ok(script_result(page, &format!("witness.felt.{kind}")).await?.as_f64())
}

/// Returns the current time in the page's units.
pub fn wall_clock() -> f64 {
    let elapsed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    elapsed.as_secs_f64() * 1e3
}
