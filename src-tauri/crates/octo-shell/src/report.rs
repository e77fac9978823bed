//! What goes into a run and what comes out of it.

use crate::Confinement;
use octo_protocol::{BackgroundCommand, CallId, CommandState};
use std::{path::PathBuf, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// Takes output as it comes: cleaned text with colours as SGR escapes; each call appends.
pub type Live = Arc<dyn Fn(&str) + Send + Sync>;

/// Takes what becomes of commands that went on in the background, in the order in which it happens.
pub type Listener = Arc<dyn Fn(News) + Send + Sync>;

/// What becomes of a command that went on in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// It goes on, and how it stands changed. The first news of every such command.
    Stands(BackgroundCommand),
    /// It ended, and no call reports it: somebody has to be told.
    Ended(BackgroundCommand),
    /// It ended, and the report a call is about to get says so.
    Reported {
        /// The command.
        command: BackgroundCommand,
        /// The call.
        by: CallId,
    },
}

/// A command to run.
#[derive(Clone)]
pub struct Run {
    /// The call that starts it.
    pub call: CallId,
    /// The command line, given to `bash` exactly as it is.
    pub command: String,
    /// The session's folder: where commands begin before any of them went elsewhere.
    pub folder: PathBuf,
    /// Where this command runs; none for where the session's commands stand ([`crate::Shell::current_dir`]).
    pub cwd: Option<PathBuf>,
    /// Extra variables for this command only.
    pub env: Vec<(String, String)>,
    /// What of the session's earlier commands it begins with.
    pub carried: Carried,
    /// Takes its output as it comes.
    pub live: Live,
    /// Ends the wait and the command.
    pub cancel: CancellationToken,
    /// How long to wait for its end; see [`crate::DEFAULT_WAIT`] and [`crate::START_WINDOW`].
    pub wait: Duration,
    /// Where it is meant to run.
    pub pace: Pace,
    /// What the system lets it touch; none for everything the person may.
    pub confinement: Option<Confinement>,
}

/// Where a command is meant to run. Any that runs on after the wait goes on in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Its end is waited for.
    Foreground,
    /// It is meant to go on.
    Background,
}

/// Input to a command that runs already.
#[derive(Clone)]
pub struct Input {
    /// The call that asks.
    pub call: CallId,
    /// The command.
    pub handle: String,
    /// What is typed; empty only waits. Newlines are sent as Enter; `\n`, `\r`, `\t`, `\e`, `\\`, `\xHH` and
    /// `\u{H…}` written out are decoded first.
    pub text: String,
    /// Takes its output as it comes.
    pub live: Live,
    /// Ends the wait. The command goes on: it has outlived the call that started it.
    pub cancel: CancellationToken,
    /// How long to wait.
    pub wait: Duration,
}

/// What a command begins with of what the session's earlier commands left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// Directory, exported variables and functions: for a command the person said yes to.
    All,
    /// The directory alone, in an environment in which a command found to only read cannot be turned into
    /// another one: for a command nobody was asked about.
    FolderOnly,
}

/// What is known of a command when a wait for it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// How it ended or stands.
    pub state: CommandState,
    /// New output for the model: cleaned, without colours, head and tail when long.
    pub output_model: String,
    /// New output for the person: cleaned, colours as SGR escapes, head and tail when very long.
    pub output_view: String,
    /// Whether something was left out of `output_model`; the whole is in `log`.
    pub truncated: bool,
    /// Bytes of cleaned output since the last report.
    pub output_bytes: u64,
    /// Since it was started.
    pub duration: Duration,
    /// The command line, exactly as it was given.
    pub command: String,
    /// The file with the whole output, when `output_model` is not all of it.
    pub log: Option<PathBuf>,
    /// By which it is reached, while it runs.
    pub handle: Option<String>,
    /// Where the command ran.
    pub cwd: PathBuf,
    /// Where the session's next command runs.
    pub cwd_after: PathBuf,
}
