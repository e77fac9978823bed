//! The input and the result of a run.

use crate::Confinement;
use octo_protocol::{BackgroundCommand, CallId, CommandState};
use std::{any::Any, path::PathBuf, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// A callback for live output: cleaned text with colours as SGR escapes; each call appends.
pub type LiveSink = Arc<dyn Fn(&str) + Send + Sync>;

/// A callback for news of background commands, in order.
pub type NewsListener = Arc<dyn Fn(BackgroundNews) + Send + Sync>;

/// An event of a background command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackgroundNews {
    /// It continues, and its state changed. The first event of every such command.
    StateChanged(BackgroundCommand),
    /// It ended, and no call reports it: the session must be notified.
    Ended(BackgroundCommand),
    /// It ended, and the pending report of a call says so.
    Reported {
        /// The command.
        command: BackgroundCommand,
        /// The call.
        call: CallId,
    },
}

/// Something that lasts as long as a command runs.
pub type RunGuard = Arc<dyn Any + Send + Sync>;

/// A command to run.
#[derive(Clone)]
pub struct CommandRun {
    /// The call that starts it.
    pub call: CallId,
    /// The command line, given to `bash` exactly as it is.
    pub command: String,
    /// The session's folder: the directory of commands until one of them changes it.
    pub folder: PathBuf,
    /// The directory of this command; `None` for the session's current directory
    /// ([`crate::Shell::current_dir`]).
    pub cwd: Option<PathBuf>,
    /// Extra variables for this command only.
    pub env: Vec<(String, String)>,
    /// The state of earlier commands with which it starts.
    pub carry_scope: CarryScope,
    /// Receives live output.
    pub live: LiveSink,
    /// Cancels the wait and ends the command.
    pub cancel: CancellationToken,
    /// How long to wait for its end; see [`crate::DEFAULT_WAIT`] and [`crate::START_WINDOW`].
    pub wait: Duration,
    /// The intended way to run.
    pub mode: RunMode,
    /// The access the system allows; `None` for all of the person's own access.
    pub confinement: Option<Confinement>,
    /// Dropped when the command has ended.
    pub guard: Option<RunGuard>,
}

/// The intended way to run a command. Any command that outlives the wait continues in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunMode {
    /// The call waits for its end.
    Foreground,
    /// It should continue in the background.
    Background,
}

/// Input to a running command.
#[derive(Clone)]
pub struct ProcessInput {
    /// The call that sends it.
    pub call: CallId,
    /// The command.
    pub handle: String,
    /// The text to type; empty only waits. Newlines are sent as Enter; `\n`, `\r`, `\t`, `\e`, `\\`, `\xHH` and
    /// `\u{H…}` written out are decoded first.
    pub text: String,
    /// Receives live output.
    pub live: LiveSink,
    /// Cancels the wait. The command continues: it has outlived the call that started it.
    pub cancel: CancellationToken,
    /// How long to wait.
    pub wait: Duration,
}

/// The state of the session's earlier commands with which a command starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CarryScope {
    /// Directory, exported variables and functions: for a command the person approved.
    All,
    /// Only the directory, in an environment that cannot turn a command judged read-only into another one: for
    /// a command that runs without approval.
    FolderOnly,
}

/// The state of a command when a wait for it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandReport {
    /// Its outcome or current state.
    pub state: CommandState,
    /// New output for the model: cleaned, without colours, head and tail if long.
    pub output_model: String,
    /// New output for the person: cleaned, colours as SGR escapes, head and tail if very long.
    pub output_view: String,
    /// Whether `output_model` leaves part of it out; `log` has all of it.
    pub truncated: bool,
    /// Bytes of cleaned output since the last report.
    pub output_bytes: u64,
    /// The time since its start.
    pub duration: Duration,
    /// The command line, exactly as given.
    pub command: String,
    /// The file with the whole output, if `output_model` is incomplete.
    pub log: Option<PathBuf>,
    /// Its handle while it runs.
    pub handle: Option<String>,
    /// The directory it ran in.
    pub cwd: PathBuf,
    /// The directory of the session's next command.
    pub cwd_after: PathBuf,
    /// The directory in which the session stood and which is gone: the session returned to `cwd_after`, or to a
    /// directory from which the command went there.
    pub lost_dir: Option<PathBuf>,
}
