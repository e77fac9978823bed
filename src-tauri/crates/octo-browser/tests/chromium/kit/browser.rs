//! The real browser.

use super::{TestDisplay, until};
use octo_browser::{Browser, BrowserEnvironment, BrowserTarget, HostSystem, TransportWrapper};
use octo_testkit::{CHROMIUM_SWITCHES, chromium_program};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// The way in which debugging is enabled in the browser.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DebuggingMode {
    /// It was started with a debugging port.
    Flag,
    /// The person switched it on in the browser.
    Approval,
}

/// A running browser. Dropping this kills it.
pub(crate) struct RealChromium {
    process: Child,
    profile: PathBuf,
}

impl RealChromium {
    pub(crate) async fn start(display: &TestDisplay, mode: DebuggingMode, arguments: &[&str]) -> Self {
        let program = chromium_program().expect("asked before");
        let profile = display.profile();
        let previous_port_file = fs::read_to_string(profile.join("DevToolsActivePort")).ok();
        prepare_profile(&profile, mode);
        let mut command: Command = display.command(program);
        command.args(CHROMIUM_SWITCHES).arg(format!("--user-data-dir={}", profile.display())).args(arguments);
        if mode == DebuggingMode::Flag {
            command.arg("--remote-debugging-port=0");
        }
        let process = command.stderr(Stdio::null()).spawn().expect("Chromium");
        let browser = Self { process, profile };
        until("its port", async || {
            let current = fs::read_to_string(browser.profile.join("DevToolsActivePort")).ok()?;
            (current.lines().count() == 2 && Some(current) != previous_port_file).then_some(())
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

    pub(crate) fn recorded(display: &TestDisplay, wrapper: TransportWrapper) -> Browser {
        Browser::with_wrapper(Self::environment(display), BrowserTarget::Folder(display.profile()), wrapper)
    }

    /// Kills the browser, as a power cut would.
    pub(crate) fn kill(mut self) {
        self.process.kill().expect("killed");
        self.process.wait().expect("the task ends");
        // Remove the locks of the profile, whose process no longer runs.
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
fn prepare_profile(profile: &Path, mode: DebuggingMode) {
    fs::create_dir_all(profile).expect("a profile");
    let path = profile.join("Local State");
    let previous = fs::read_to_string(&path).ok();
    let mut state: serde_json::Value =
        previous.map_or_else(Default::default, |text| serde_json::from_str(&text).expect("JSON"));
    state["devtools"]["remote_debugging"]["user-enabled"] = (mode == DebuggingMode::Approval).into();
    state["internal_only_uis_enabled"] = true.into();
    fs::write(path, state.to_string()).expect("written");
}
