//! One command: what its calls, its output and its end have in common on all systems. The [`Leader`] runs it.

use super::{
    background::{CommandIdentity, ReportedState},
    keys,
    leader::Leader,
    tree::Survivors,
};
use crate::{
    Confinement, LiveSink, ShellError, Supervision,
    output::{CommandStage, Excerpts, Transcript},
};
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

/// The terminal's size: space for a table, and lines a model reads easily.
pub(super) const TERMINAL_SIZE: PtySize = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };

/// How often new output is passed to the listener.
pub(super) const LIVE_INTERVAL: Duration = Duration::from_millis(30);

/// How long the terminal must be quiet, after the command's end, before reading stops: background processes may
/// keep it open.
pub(super) const DRAIN_QUIET: Duration = Duration::from_millis(60);

/// The upper limit of that time, whatever they write.
pub(super) const MAX_DRAIN: Duration = Duration::from_millis(500);

/// How long a command with a question on its last line must be silent before it counts as waiting for the
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
    /// Called when it has ended, with the processes it left, before any caller learns of its end.
    pub ended: Box<dyn FnOnce(Option<Survivors>) + Send>,
    /// The access the system allows it.
    pub confinement: Option<Confinement>,
    /// How its processes are started and ended.
    pub supervision: &'a Supervision,
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
    typed: Mutex<Instant>,
    /// The state to report if it was ended on request.
    ended_as: Mutex<Option<CommandState>>,
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
    pub ended: Box<dyn FnOnce(LeaderEnd) + Send>,
    /// The access the system allows it.
    pub confinement: Option<Confinement>,
    /// How its processes are started and ended.
    #[cfg_attr(windows, expect(dead_code, reason = "a job object does it there"))]
    pub supervision: &'a Supervision,
}

/// The end of a leader.
pub(super) struct LeaderEnd {
    /// Its final state.
    pub state: CommandState,
    /// Its total run time.
    pub after: Duration,
    /// The processes it left, if there are some.
    pub survivors: Option<Survivors>,
}

impl ShellProcess {
    pub(super) fn start(start: ProcessStart<'_>) -> Result<Arc<Self>, ShellError> {
        let transcript = Arc::new(Mutex::new(start.transcript));
        let (ending, end) = watch::channel(None);
        let ended = start.ended;
        let leader = Leader::start(LeaderStart {
            handle: &start.handle,
            cwd: &start.identity.cwd,
            program: start.program,
            arguments: start.arguments,
            variables: start.variables,
            transcript: Arc::clone(&transcript),
            ended: Box::new(move |LeaderEnd { state, after, survivors }| {
                ended(survivors);
                ending.send_replace(Some(ProcessEnd { state, after }));
            }),
            confinement: start.confinement,
            supervision: start.supervision,
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
            typed: Mutex::new(started),
            ended_as: Mutex::new(None),
            end,
        }))
    }

    /// Returns the command's end, once it has ended.
    pub(super) fn end(&self) -> watch::Receiver<Option<ProcessEnd>> {
        self.end.clone()
    }

    /// Returns the time since its start.
    pub(super) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns its final state, considering a request to end it.
    pub(super) fn ended_as(&self, end: ProcessEnd) -> CommandState {
        self.ended_as.lock().unwrap_or(end.state)
    }

    /// Returns the registry's data about it.
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

    /// Types text. Blocks while the terminal accepts none, up to the leader's own limit.
    pub(super) fn write_input(&self, text: &str) -> Result<(), ShellError> {
        *self.typed.lock() = Instant::now();
        self.leader.write_input(&keys::bytes(text))?;
        *self.typed.lock() = Instant::now();
        Ok(())
    }

    /// Returns whether the command appears to wait for the person to type.
    pub(super) fn waits_for_input(&self) -> bool {
        let (output, partial) = {
            let transcript = self.transcript();
            (transcript.last_output(), transcript.partial())
        };
        let quiet = output.max(*self.typed.lock()).elapsed();
        self.leader.waits_for_input(quiet, &partial)
    }

    /// Asks its processes to end, and kills those that do not. Blocks for at most about a second and a half.
    /// The first reason given is kept; a command that ended on its own keeps its own result.
    pub(super) fn terminate(&self, state: CommandState) {
        if self.has_ended() {
            return;
        }
        self.ended_as.lock().get_or_insert(state);
        self.leader.terminate(&|| self.has_ended());
    }

    /// Kills its processes at once.
    pub(super) fn kill(&self) {
        if !self.has_ended() {
            self.ended_as.lock().get_or_insert(CommandState::Killed);
            self.leader.kill();
        }
    }

    fn has_ended(&self) -> bool {
        self.end.borrow().is_some()
    }

    /// Passes pending output to the listener. The leader does so on its own; this is for the moment a wait ends.
    pub(super) fn send_live(&self) {
        send_live(&self.transcript);
    }

    /// Returns the output since the last report.
    pub(super) fn report(&self, stage: CommandStage) -> Excerpts {
        self.transcript().report(stage)
    }
}

/// Returns the error of a start that failed.
pub(super) fn failed(error: &dyn std::fmt::Display) -> ShellError {
    ShellError::Start(io::Error::other(error.to_string()))
}

/// Passes pending output to the listener, which may be slow and is therefore called without the lock.
pub(super) fn send_live(transcript: &Mutex<Transcript>) {
    let due = transcript.lock().take_live();
    if let Some((live, text)) = due {
        live(&text);
    }
}

/// Whether a line looks like a question.
pub(super) fn is_question(line: &str) -> bool {
    line.trim_end().ends_with([':', '?', '>', ')', ']'])
}
