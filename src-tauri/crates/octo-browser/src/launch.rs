//! The fallback: a separate browser with Octo's own profile, controlled over a pipe. Opens no port.

use crate::Transport;
use std::{ffi::OsString, path::PathBuf, time::Duration};

/// True if Octo can start a separate browser on this system. The option is offered only then.
pub const CAN_LAUNCH: bool = cfg!(unix);

/// Launch parameters of a separate browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchOptions {
    /// The browser executable.
    pub program: PathBuf,
    /// The profile folder. It is kept, so the person's logins persist.
    pub profile: PathBuf,
    /// Arguments in addition to the required ones.
    pub arguments: Vec<OsString>,
}

/// The reason why a separate browser did not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// The executable could not be run.
    #[error("the browser could not be started: {0}")]
    Start(String),
    /// Octo connects to a separate browser by pipes, which it has on Unix only.
    #[error("a separate browser cannot be started on this system yet")]
    Unsupported,
}

/// Timeout for a browser to save its data and exit; after that it is killed. The shutdown of the app waits for
/// it no longer than this either.
const EXIT_TIMEOUT: Duration = Duration::from_secs(3);

/// A browser that Octo started. It is killed on drop, and exits when Octo does: the closed pipe tells the
/// browser to quit.
#[derive(Debug)]
pub struct BrowserProcess {
    #[cfg(unix)]
    process: tokio::sync::Mutex<tokio::process::Child>,
}

impl BrowserProcess {
    /// Waits for the browser, which was asked to exit. Kills it after [`EXIT_TIMEOUT`].
    pub(crate) async fn end(&self) {
        #[cfg(unix)]
        {
            let mut process = self.process.lock().await;
            if tokio::time::timeout(EXIT_TIMEOUT, process.wait()).await.is_err()
                && let Err(error) = process.start_kill()
            {
                tracing::debug!(%error, "the browser was not ended");
            }
        }
        #[cfg(not(unix))]
        let _unused = EXIT_TIMEOUT;
    }
}

#[cfg(unix)]
pub(crate) fn launch(
    options: &LaunchOptions,
) -> Result<(impl Transport + use<>, BrowserProcess), LaunchError> {
    use crate::Pipe;
    use std::process::Stdio;

    let mut profile = OsString::from("--user-data-dir=");
    profile.push(&options.profile);
    // The protocol uses descriptors 3 and 4. The system shell sets them up and then execs the browser: doing so
    // here would need code between fork and exec.
    let mut process = tokio::process::Command::new("/bin/sh")
        .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1"])
        .arg(&options.program)
        .args(["--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check"])
        .arg(profile)
        .args(&options.arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| LaunchError::Start(error.to_string()))?;
    let missing_pipe = || LaunchError::Start("its pipe is missing".to_owned());
    let writer = process.stdin.take().ok_or_else(missing_pipe)?;
    let reader = process.stdout.take().ok_or_else(missing_pipe)?;
    Ok((Pipe::new(reader, writer), BrowserProcess { process: process.into() }))
}

#[cfg(not(unix))]
pub(crate) fn launch(_options: &LaunchOptions) -> Result<(Box<dyn Transport>, BrowserProcess), LaunchError> {
    Err(LaunchError::Unsupported)
}
