//! A session's commands. On Windows they run in a pseudo-console, in Git Bash or PowerShell ([`crate::interpreter`]).

mod background;
mod carry;
mod commands;
mod current_dir;
#[cfg(windows)]
#[path = "shell/windows/guard.rs"]
mod guard;
mod keys;
#[cfg_attr(windows, path = "shell/windows/leader.rs")]
mod leader;
mod persistent_state;
#[cfg_attr(windows, path = "shell/windows/place.rs")]
mod place;
#[cfg(any(windows, test))]
mod powershell;
mod process;
#[cfg(unix)]
pub(crate) mod processes;
#[cfg(unix)]
mod temporary;
#[cfg_attr(windows, path = "shell/windows/tree.rs")]
mod tree;

#[cfg(test)]
#[cfg(unix)]
mod tests;

use crate::{
    CommandReport, CommandRun, LoginEnvironment, NetworkGate, NewsListener, ProcessInput, ShellError,
};
use octo_keeper::Supervision;
use octo_protocol::{CallId, SessionId};
use octo_workspace::TemporaryFolder;
use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

/// The time that a call waits for a command by default. Most commands end within it; a longer one continues in the
/// background, whatever its name.
pub const DEFAULT_WAIT: Duration = Duration::from_secs(60);

/// The time that a call waits for a command intended for the background, so that it can report an immediate failure.
pub const START_WINDOW: Duration = Duration::from_secs(2);

/// The time limit of a command. After it Octo ends the command and reports it as timed out.
pub const COMMAND_TIME_LIMIT: Duration = Duration::from_secs(2 * 60 * 60);

/// The configuration of a session's commands.
#[derive(Clone)]
pub struct ShellConfig {
    /// The session.
    pub session: SessionId,
    /// The session's own folder for the files of its commands: `carried.json`, `logs/`, `commands/`. Created on
    /// first use.
    pub scratch: PathBuf,
    /// The folder that `TMPDIR` names for commands. On Windows they keep the system's.
    pub temporary: TemporaryFolder,
    /// The person's login environment.
    pub login: LoginEnvironment,
    /// Variables hidden from commands, in addition to all that begin with `OCTO_`.
    pub secret_variables: Vec<String>,
    /// Receives the events of background commands. It must not block.
    pub news: NewsListener,
    /// The time limit of a command; usually [`COMMAND_TIME_LIMIT`].
    pub time_limit: Duration,
    /// The handling of files that commands remove.
    pub removals: Removals,
    /// How processes are started and ended.
    pub supervision: Supervision,
    /// The folders in which no command is left standing.
    pub closed_folders: ClosedFolders,
    /// Decides on connections of commands; `None` leaves them the machine's network.
    pub network: Option<Arc<dyn NetworkGate>>,
}

impl fmt::Debug for ShellConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShellConfig").field("session", &self.session).finish_non_exhaustive()
    }
}

/// Removes the logs of all sessions' commands that are older than a week, as counted by
/// [`octo_workspace::expired_files`]. `shells` is the folder with the scratch folders of all sessions. Failures to
/// read or remove are ignored.
pub fn prune_logs(shells: &Path) {
    place::prune_all(shells);
}

/// The handling of files that commands remove with `rm`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removals {
    /// The files move to the trash of this home: `<home>/bin` is first in every command's `PATH` (see
    /// [`octo_workspace::rm`]).
    Trash {
        /// The home.
        home: PathBuf,
    },
    /// The system's `rm` deletes them.
    System,
}

/// A session's commands. Clones share them; when the last clone is dropped, running commands are killed.
#[derive(Clone)]
pub struct Shell(Arc<Commands>);

use commands::Commands;
pub use current_dir::ClosedFolders;
#[cfg(windows)]
pub(crate) use guard::kill_tree;
#[cfg(unix)]
pub(crate) use place::interpreter;
#[cfg(unix)]
pub(crate) use tree::spawn_confined;

impl Shell {
    /// Creates a session's shell. Starts and writes nothing.
    pub fn new(config: ShellConfig) -> Self {
        Self(Arc::new(Commands::new(config)))
    }

    /// Returns the directory of the session's next command if its call names none: the directory of the last
    /// command, or `folder`, the session's own, if no command changed it. A directory that is gone, was replaced by
    /// a link, or is one of the [`ClosedFolders`] is replaced by the nearest folder above it in `folder`.
    pub fn current_dir(&self, folder: &Path) -> PathBuf {
        self.0.current_dir(folder)
    }

    /// Runs a command and waits until it ends, waits for input, or the time is up. In the latter two cases the
    /// report contains a handle, and the command continues in the background until it ends, is ended, or
    /// reaches its time limit. When `cancel` is cancelled, the command is ended, and the report says so within
    /// three seconds. Dropping the future ends the command too.
    ///
    /// # Errors
    ///
    /// [`ShellError`] if no command was run. A command that fails is not an error.
    pub async fn run(&self, run: CommandRun) -> Result<CommandReport, ShellError> {
        self.0.run(run).await
    }

    /// Types into a running command and waits as [`Self::run`] does. With an empty text it only waits. For a command
    /// that has ended, the report is its last. When `cancel` is cancelled or the future is dropped, the wait ends and
    /// the command continues.
    ///
    /// # Errors
    ///
    /// [`ShellError::UnknownHandle`] for a handle that is not this session's, [`ShellError::ProcessInput`] when the
    /// program does not take the input.
    pub async fn input(&self, input: ProcessInput) -> Result<CommandReport, ShellError> {
        self.0.input(input).await
    }

    /// Ends a running command for `call`. The report contains its output since the last one.
    ///
    /// # Errors
    ///
    /// [`ShellError::UnknownHandle`] for a handle that is not this session's, or whose command's end was
    /// reported.
    pub async fn kill(&self, handle: &str, call: CallId) -> Result<CommandReport, ShellError> {
        self.0.kill(handle, call).await
    }

    /// Ends a running command for a caller that does not receive its output: [`BackgroundNews::Ended`] follows.
    ///
    /// # Errors
    ///
    /// [`ShellError::UnknownHandle`] for a handle that is not this session's, or whose command's end was
    /// reported.
    ///
    /// [`BackgroundNews::Ended`]: crate::BackgroundNews::Ended
    pub async fn stop(&self, handle: &str) -> Result<(), ShellError> {
        self.0.stop(handle).await
    }

    /// Returns the command line and folder of a running command, to show the person which command a handle
    /// belongs to.
    pub fn command_of(&self, handle: &str) -> Option<(String, PathBuf)> {
        self.0.command_of(handle)
    }

    /// Ends all commands of the session and the processes they left, without news. No command can run
    /// afterwards.
    pub async fn shutdown(&self) {
        self.0.shutdown().await;
    }
}

impl fmt::Debug for Shell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shell").field("session", &self.0.session()).finish_non_exhaustive()
    }
}
