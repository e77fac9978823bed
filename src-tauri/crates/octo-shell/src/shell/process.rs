//! One command: its calls, its output and its end, as far as they are the same on all systems. The [`Leader`] runs it.

use super::{
    background::{CommandIdentity, ReportedState},
    keys,
    leader::Leader,
    tree::Survivors,
};
#[cfg(not(target_os = "linux"))]
use crate::network::NetworkNamespace;
use crate::{
    Confinement, LiveSink, ShellError, Supervision,
    output::{CommandStage, Excerpts, Transcript},
};
#[cfg(target_os = "linux")]
use octo_keeper::NetworkNamespace;
use octo_policy::Variables;
use octo_protocol::{CallId, CommandState, Millis};
use parking_lot::{Mutex, MutexGuard};
use portable_pty::PtySize;
use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::watch;

/// The size of the terminal: space for a table, with lines that a model reads easily.
pub(super) const TERMINAL_SIZE: PtySize = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };

/// Interval at which new output is passed to the listener.
pub(super) const LIVE_INTERVAL: Duration = Duration::from_millis(30);

/// The time for which the terminal must be silent, after the command's end, before reading stops. Background processes
/// may keep the terminal open.
pub(super) const DRAIN_QUIET: Duration = Duration::from_millis(60);

/// Maximum time of reading after the command's end, whatever background processes write.
pub(super) const MAX_DRAIN: Duration = Duration::from_millis(500);

/// The time for which a command with a question on its last line must be silent before it counts as waiting for the
/// person.
pub(super) const QUESTION_QUIET: Duration = Duration::from_secs(4);

/// The parameters of a command to start.
pub(super) struct ProcessStart<'a> {
    /// The command's handle.
    pub handle: String,
    /// The call that starts it.
    pub call: CallId,
    /// Its identity.
    pub identity: CommandIdentity,
    /// The session's folder.
    pub folder: PathBuf,
    /// The present time.
    pub started_at: Millis,
    /// The shell.
    pub program: &'a Path,
    /// The shell's arguments.
    pub arguments: &'a [String],
    /// Its whole environment.
    pub variables: &'a Variables,
    /// The destination of its output.
    pub transcript: Transcript,
    /// Called with the processes that outlived the command when it has ended, before any caller learns of its end.
    pub on_end: Box<dyn FnOnce(Option<Survivors>) + Send>,
    /// The access that the system allows the command; `None` for no limits.
    pub confinement: Option<Confinement>,
    /// How its processes are started and ended.
    pub supervision: &'a Supervision,
    /// The network namespace it runs in, or `None` for the machine's network.
    pub network: Option<Arc<NetworkNamespace>>,
}

/// A started command.
pub(super) struct ShellProcess {
    pub handle: String,
    pub call: CallId,
    pub identity: CommandIdentity,
    pub folder: PathBuf,
    pub started_at: Millis,
    /// The number of calls that observe it.
    pub observers: watch::Sender<usize>,
    reported: Mutex<ReportedState>,
    started: Instant,
    leader: Leader,
    transcript: Arc<Mutex<Transcript>>,
    /// The time of the last input.
    last_input: Mutex<Instant>,
    /// The state to report if the command was ended on request.
    requested_state: Mutex<Option<CommandState>>,
    end: watch::Receiver<Option<ProcessEnd>>,
}

/// The end of a command.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProcessEnd {
    /// Its final state.
    pub state: CommandState,
    /// Its total run time.
    pub after: Duration,
}

/// The parameters of a leader to start.
pub(super) struct LeaderStart<'a> {
    /// The command's handle.
    pub handle: &'a str,
    /// Its working directory.
    pub cwd: &'a Path,
    /// The shell.
    pub program: &'a Path,
    /// The shell's arguments.
    pub arguments: &'a [String],
    /// Its whole environment.
    pub variables: &'a Variables,
    /// The destination of its output.
    pub transcript: Arc<Mutex<Transcript>>,
    /// Called when it has ended and its output is read.
    pub on_end: Box<dyn FnOnce(LeaderEnd) + Send>,
    /// The access that the system allows the command; `None` for no limits.
    pub confinement: Option<Confinement>,
    /// How its processes are started and ended.
    #[cfg_attr(windows, expect(dead_code, reason = "a job object does it there"))]
    pub supervision: &'a Supervision,
    /// The network namespace it runs in, or `None` for the machine's network.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "there are none on other systems"))]
    pub network: Option<Arc<NetworkNamespace>>,
}

/// The end of a leader.
pub(super) struct LeaderEnd {
    /// Its final state.
    pub state: CommandState,
    /// Its total run time.
    pub after: Duration,
    /// The processes that outlived it, if there are any.
    pub survivors: Option<Survivors>,
}

impl ShellProcess {
    pub(super) fn start(start: ProcessStart<'_>) -> Result<Arc<Self>, ShellError> {
        let transcript = Arc::new(Mutex::new(start.transcript));
        let (end_sender, end) = watch::channel(None);
        let on_end = start.on_end;
        let leader = Leader::start(LeaderStart {
            handle: &start.handle,
            cwd: &start.identity.cwd,
            program: start.program,
            arguments: start.arguments,
            variables: start.variables,
            transcript: Arc::clone(&transcript),
            on_end: Box::new(move |LeaderEnd { state, after, survivors }| {
                on_end(survivors);
                end_sender.send_replace(Some(ProcessEnd { state, after }));
            }),
            confinement: start.confinement,
            supervision: start.supervision,
            network: start.network,
        })?;
        let started = Instant::now();
        Ok(Arc::new(Self {
            handle: start.handle,
            call: start.call,
            identity: start.identity,
            folder: start.folder,
            started_at: start.started_at,
            observers: watch::Sender::new(0),
            reported: Mutex::default(),
            started,
            leader,
            transcript,
            last_input: Mutex::new(started),
            requested_state: Mutex::new(None),
            end,
        }))
    }

    /// Returns a receiver of the command's end.
    pub(super) fn end(&self) -> watch::Receiver<Option<ProcessEnd>> {
        self.end.clone()
    }

    /// Returns the time since its start.
    pub(super) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns the final state: that of a request to end the command, or else that of its end.
    pub(super) fn ended_as(&self, end: ProcessEnd) -> CommandState {
        self.requested_state.lock().unwrap_or(end.state)
    }

    /// Locks and returns the registry's data about the command.
    pub(super) fn lock_reported(&self) -> MutexGuard<'_, ReportedState> {
        self.reported.lock()
    }

    /// Returns the file with its output, and creates it if necessary.
    pub(super) fn log(&self) -> Option<PathBuf> {
        self.transcript().log()
    }

    pub(super) fn transcript(&self) -> MutexGuard<'_, Transcript> {
        self.transcript.lock()
    }

    /// Sets the listener for live output from now on.
    pub(super) fn watch(&self, live: Option<LiveSink>) {
        self.transcript().watch(live);
    }

    /// Types a text. Blocks while the terminal accepts no input, up to the leader's own limit.
    pub(super) fn write_input(&self, text: &str) -> Result<(), ShellError> {
        *self.last_input.lock() = Instant::now();
        self.leader.write_input(&keys::bytes(text))?;
        *self.last_input.lock() = Instant::now();
        Ok(())
    }

    /// Returns whether the command appears to wait for the person to type.
    pub(super) fn waits_for_input(&self) -> bool {
        let (output, partial) = {
            let transcript = self.transcript();
            (transcript.last_output(), transcript.partial())
        };
        let quiet = output.max(*self.last_input.lock()).elapsed();
        self.leader.waits_for_input(quiet, &partial)
    }

    /// Asks the processes to end, and kills those that do not. Blocks for at most about a second and a half. The first
    /// requested state is kept; a command that has ended on its own keeps its own state.
    pub(super) fn terminate(&self, state: CommandState) {
        if self.has_ended() {
            return;
        }
        self.requested_state.lock().get_or_insert(state);
        self.leader.terminate(&|| self.has_ended());
    }

    /// Kills its processes at once.
    pub(super) fn kill(&self) {
        if !self.has_ended() {
            self.requested_state.lock().get_or_insert(CommandState::Killed);
            self.leader.kill();
        }
    }

    fn has_ended(&self) -> bool {
        self.end.borrow().is_some()
    }

    /// Passes pending output to the listener. The leader does so regularly; this is for the end of a wait.
    pub(super) fn send_live(&self) {
        send_live(&self.transcript);
    }

    /// Returns the output since the last report.
    pub(super) fn report(&self, stage: CommandStage) -> Excerpts {
        self.transcript().report(stage)
    }
}

/// Returns the error of a start that failed.
pub(super) fn start_error(error: &dyn std::fmt::Display) -> ShellError {
    ShellError::Start(io::Error::other(error.to_string()))
}

/// Passes pending output to the listener, which may be slow and is therefore called without the lock.
pub(super) fn send_live(transcript: &Mutex<Transcript>) {
    let due = transcript.lock().take_live();
    if let Some((live, text)) = due {
        live(&text);
    }
}

/// Returns whether a line looks like a question.
pub(super) fn is_question(line: &str) -> bool {
    line.trim_end().ends_with([':', '?', '>', ')', ']'])
}
