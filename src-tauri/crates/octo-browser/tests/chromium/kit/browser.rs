//! The real browser.

use super::{TestDisplay, until};
use octo_browser::{Browser, BrowserEnvironment, BrowserTarget, HostSystem, TransportWrapper};
use octo_testkit::{CHROMIUM_SWITCHES, chromium_program};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// How the browser can be reached.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DebuggingMode {
    /// It was started with a debugging port.
    Flag,
    /// Its person switched debugging on.
    Approval,
}

/// A running browser. Dropping this kills it.
pub(crate) struct RealChromium {
    process: Child,
    profile: PathBuf,
}

impl RealChromium {
    pub(crate) async fn start(display: &TestDisplay, start: DebuggingMode, arguments: &[&str]) -> Self {
        let program = chromium_program().expect("asked before");
        let profile = display.profile();
        let former = fs::read_to_string(profile.join("DevToolsActivePort")).ok();
        prepare(&profile, start);
        let mut command: Command = display.command(program);
        command.args(CHROMIUM_SWITCHES).arg(format!("--user-data-dir={}", profile.display())).args(arguments);
        if start == DebuggingMode::Flag {
            command.arg("--remote-debugging-port=0");
        }
        let process = command.stderr(Stdio::null()).spawn().expect("Chromium");
        let browser = Self { process, profile };
        until("its port", async || {
            let current = fs::read_to_string(browser.profile.join("DevToolsActivePort")).ok()?;
            (current.lines().count() == 2 && Some(current) != former).then_some(())
        })
        .await;
        browser
    }

    /// Returns an environment in which nothing of this machine is found.
    pub(crate) fn environment(display: &TestDisplay) -> BrowserEnvironment {
        BrowserEnvironment::bare(HostSystem::Linux, display.home())
    }

    /// Returns a browser that is not connected yet.
    pub(crate) fn browser(display: &TestDisplay) -> Browser {
        Browser::new(Self::environment(display), BrowserTarget::Folder(display.profile()))
    }

    pub(crate) fn watched(display: &TestDisplay, wrap: TransportWrapper) -> Browser {
        Browser::with_wrapper(Self::environment(display), BrowserTarget::Folder(display.profile()), wrap)
    }

    /// Kills the browser, as a power cut would.
    pub(crate) fn kill(mut self) {
        self.process.kill().expect("killed");
        self.process.wait().expect("its end");
        // Its profile locks, which no longer belong to a running process.
        for name in ["SingletonLock", "SingletonSocket", "SingletonCookie"] {
            let _ = fs::remove_file(self.profile.join(name));
        }
    }
}

impl Drop for RealChromium {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Writes the setting the browser itself writes when the person ticks the box on its page, and enables its
/// internal testing pages (one of them puts tabs to sleep).
fn prepare(profile: &Path, start: DebuggingMode) {
    fs::create_dir_all(profile).expect("a profile");
    let path = profile.join("Local State");
    let previous = fs::read_to_string(&path).ok();
    let mut state: serde_json::Value =
        previous.map_or_else(Default::default, |text| serde_json::from_str(&text).expect("JSON"));
    state["devtools"]["remote_debugging"]["user-enabled"] = (start == DebuggingMode::Approval).into();
    state["internal_only_uis_enabled"] = true.into();
    fs::write(path, state.to_string()).expect("written");
}
