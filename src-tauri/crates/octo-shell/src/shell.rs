//! A session's commands. On Windows they run in a pseudo-console, in Git Bash or PowerShell ([`crate::language`]).

mod background;
mod carry;
mod commands;
#[cfg_attr(windows, path = "shell/windows/guard.rs")]
mod guard;
mod keys;
#[cfg_attr(windows, path = "shell/windows/place.rs")]
mod place;
#[cfg(any(windows, test))]
mod powershell;
#[cfg_attr(windows, path = "shell/windows/processes.rs")]
pub(crate) mod processes;
#[cfg_attr(windows, path = "shell/windows/task.rs")]
mod task;

#[cfg(test)]
#[cfg(unix)]
mod tests;

use crate::{Input, Listener, LoginEnvironment, Report, Run, ShellError};
use octo_protocol::{CallId, SessionId};
use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

/// How long a call waits for a command by default. Most commands are over by then; a longer one goes on in the
/// background, whatever its name.
pub const DEFAULT_WAIT: Duration = Duration::from_secs(60);

/// How long a call waits for a command that is meant for the background: one that fails at once is reported as
/// ended.
pub const START_WINDOW: Duration = Duration::from_secs(2);

/// How long a command may run in all. After that it is ended and reported as timed out.
pub const CEILING: Duration = Duration::from_secs(2 * 60 * 60);

/// What a session's commands are started with.
#[derive(Clone)]
pub struct ShellConfig {
    /// The session.
    pub session: SessionId,
    /// The session's own folder for what its commands leave: `carried.json`, `logs/`, `commands/`. Made when
    /// first needed.
    pub scratch: PathBuf,
    /// The person's login environment.
    pub login: LoginEnvironment,
    /// Variables commands must not see, besides all that begin with `OCTO_`.
    pub secret_variables: Vec<String>,
    /// Hears what becomes of commands that go on in the background. It must not block.
    pub news: Listener,
    /// How long a command may run; usually [`CEILING`].
    pub ceiling: Duration,
    /// What becomes of what the commands remove.
    pub removals: Removals,
}

impl fmt::Debug for ShellConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShellConfig").field("session", &self.session).finish_non_exhaustive()
    }
}

/// Removes the logs of sessions' commands that are older than a week, as [`octo_workspace::outlived`] counts. `shells` is the folder all sessions' scratch
/// folders are in. What cannot be read or removed is left.
pub fn prune_logs(shells: &Path) {
    place::prune_all(shells);
}

/// What becomes of what commands remove with `rm`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removals {
    /// It goes to the trash of this home: `<home>/bin` is first in every command's `PATH` (see
    /// [`octo_workspace::rm`]).
    Trash {
        /// The home.
        home: PathBuf,
    },
    /// The system's `rm` deletes it.
    System,
}

/// A session's commands. Clones are one; when the last is dropped, commands that still run are killed.
#[derive(Clone)]
pub struct Shell(Arc<Commands>);

use commands::Commands;
#[cfg(windows)]
pub(crate) use guard::kill_tree;

impl Shell {
    /// A session's commands; nothing is started or written yet.
    pub fn new(config: ShellConfig) -> Self {
        Self(Arc::new(Commands::new(config)))
    }

    /// Where the session's next command runs if its call names no folder: where the last one went, or `folder`,
    /// the session's own, while none went elsewhere and when that place is gone.
    pub fn current_dir(&self, folder: &Path) -> PathBuf {
        self.0.current_dir(folder)
    }

    /// Runs a command and waits until it ends, waits for input, or the time is over. In the latter two cases the
    /// report holds a handle, and the command goes on in the background until it ends, is ended, or has run for as
    /// long as a command may. When `cancel` is cancelled the command is ended, and the report says so within three
    /// seconds. Dropping the future ends the command too.
    ///
    /// # Errors
    ///
    /// [`ShellError`] when nothing was run. A command that fails is no error.
    pub async fn run(&self, run: Run) -> Result<Report, ShellError> {
        self.0.run(run).await
    }

    /// Types into a command that runs and waits again in the same way. Empty text only waits; for a command that
    /// ended meanwhile the report is its last. When `cancel` is cancelled, or the future dropped, the wait ends and
    /// the command goes on.
    ///
    /// # Errors
    ///
    /// [`ShellError::UnknownHandle`] for a handle that is not this session's, [`ShellError::Input`] when the
    /// program does not take the input.
    pub async fn input(&self, input: Input) -> Result<Report, ShellError> {
        self.0.input(input).await
    }

    /// Ends a command that runs for `call`. The report holds what it wrote since the last one.
    ///
    /// # Errors
    ///
    /// [`ShellError::UnknownHandle`] for a handle that is not this session's, or whose command's end was
    /// reported.
    pub async fn kill(&self, handle: &str, call: CallId) -> Result<Report, ShellError> {
        self.0.kill(handle, call).await
    }

    /// Ends a command that runs for somebody who is not told of its output: [`News::Ended`] follows.
    ///
    /// # Errors
    ///
    /// [`ShellError::UnknownHandle`] for a handle that is not this session's, or whose command's end was told.
    ///
    /// [`News::Ended`]: crate::News::Ended
    pub async fn stop(&self, handle: &str) -> Result<(), ShellError> {
        self.0.stop(handle).await
    }

    /// The command line and folder of a command that runs, for the person to see what a handle stands for.
    pub fn command_of(&self, handle: &str) -> Option<(String, PathBuf)> {
        self.0.command_of(handle)
    }

    /// Ends all commands of the session and what they left running, without news. Nothing can be run afterwards.
    pub async fn shutdown(&self) {
        self.0.shutdown().await;
    }
}

impl fmt::Debug for Shell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shell").field("session", &self.0.session()).finish_non_exhaustive()
    }
}
