//! The fallback: a separate browser with a profile of Octo's, over a pipe. No port is opened.

use crate::Transport;
use std::{ffi::OsString, path::PathBuf, time::Duration};

/// Whether a separate browser can be started on this system: what leads to one is offered only then.
pub const CAN_LAUNCH: bool = cfg!(unix);

/// What a separate browser is started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The browser's program.
    pub program: PathBuf,
    /// The folder for its profile, which stays: what its person logs in to there is kept.
    pub profile: PathBuf,
    /// Arguments beside those that are needed.
    pub arguments: Vec<OsString>,
}

/// Why a separate browser did not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// Its program could not be run.
    #[error("the browser could not be started: {0}")]
    Start(String),
    /// Pipes to a browser are not made on this system yet.
    #[error("a separate browser cannot be started on this system yet")]
    Unsupported,
}

/// How long a browser may take to write out what it holds and to end, before it is killed. It is as long as the app's own
/// end may wait for it.
const ENDING: Duration = Duration::from_secs(3);

/// A browser that Octo started. It is killed when this is dropped, and ends when Octo itself does: the end of its pipe is
/// a browser's sign to quit.
#[derive(Debug)]
pub struct Running {
    #[cfg(unix)]
    process: tokio::sync::Mutex<tokio::process::Child>,
}

impl Running {
    /// Waits until it has ended by itself, which it was told to; one that takes too long is killed.
    pub(crate) async fn end(&self) {
        #[cfg(unix)]
        {
            let mut process = self.process.lock().await;
            if tokio::time::timeout(ENDING, process.wait()).await.is_err()
                && let Err(error) = process.start_kill()
            {
                tracing::debug!(%error, "the browser was not ended");
            }
        }
        #[cfg(not(unix))]
        let _none_is_started = ENDING;
    }
}

#[cfg(unix)]
pub(crate) fn launch(config: &Launch) -> Result<(impl Transport + use<>, Running), LaunchError> {
    use crate::Pipe;
    use std::process::Stdio;

    let mut profile = OsString::from("--user-data-dir=");
    profile.push(&config.profile);
    // The protocol is spoken on descriptors 3 and 4. The system's shell puts them there and then becomes the
    // browser: doing it here would take code that runs between fork and exec.
    let mut process = tokio::process::Command::new("/bin/sh")
        .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1"])
        .arg(&config.program)
        .args(["--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check"])
        .arg(profile)
        .args(&config.arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| LaunchError::Start(error.to_string()))?;
    let missing = || LaunchError::Start("its pipe is missing".to_owned());
    let writer = process.stdin.take().ok_or_else(missing)?;
    let reader = process.stdout.take().ok_or_else(missing)?;
    Ok((Pipe::new(reader, writer), Running { process: process.into() }))
}

#[cfg(not(unix))]
pub(crate) fn launch(_config: &Launch) -> Result<(Box<dyn Transport>, Running), LaunchError> {
    Err(LaunchError::Unsupported)
}
