//! One command: its `bash`, its terminal, and the two threads that watch them.

use super::{
    background::{CommandIdentity, ReportedState},
    guard::{self, GuardRegistration},
    keys,
    processes::{self, ForegroundActivity, Process},
};
use crate::{
    Confinement, LiveSink, ShellError,
    output::{CommandStage, Transcript},
};
use nix::{
    errno::Errno,
    fcntl::{FcntlArg, OFlag, fcntl},
    poll::{PollFd, PollFlags, PollTimeout, poll},
    unistd::{self, tcgetpgrp},
};
use octo_policy::Variables;
use octo_protocol::{CallId, CommandState, Millis};
use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::{
    io::{self, PipeReader},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::process::ExitStatusExt,
    },
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};
use tokio::sync::watch;

/// The terminal's size: space for a table, and lines a model reads easily.
const SIZE: PtySize = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };

/// How often new output is passed to the listener.
const LIVE_INTERVAL: Duration = Duration::from_millis(30);

/// How long the terminal must be quiet, after the command's end, before reading stops: background processes may
/// keep it open.
const DRAIN_QUIET: Duration = Duration::from_millis(60);

/// The upper limit of that time, whatever they write.
const MAX_DRAIN: Duration = Duration::from_millis(500);

/// How often to check a terminal that no process has open.
const CLOSED_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How long a program may leave its terminal's input full.
const INPUT_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a program that reads its terminal must be silent before it counts as waiting for the person. A
/// shell loop that reads keys with short timeouts is not silent that long; a person does not type that fast.
const READER_QUIET: Duration = Duration::from_millis(1_200);

/// How long a sleeping process with a question on its last line must be silent before it counts as waiting for
/// the person.
const QUESTION_QUIET: Duration = Duration::from_secs(4);

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
    /// `bash`.
    pub program: &'a Path,
    /// The arguments of `bash`.
    pub arguments: &'a [String],
    /// Its whole environment.
    pub variables: &'a Variables,
    /// The destination of its output.
    pub transcript: Transcript,
    /// Called when it has ended, with the processes it left and their guard, before any caller learns of its
    /// end.
    pub ended: Box<dyn FnOnce(Vec<Process>, Option<GuardRegistration>) + Send>,
    /// The access the system allows it.
    pub confinement: Option<Confinement>,
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
    standing: Mutex<ReportedState>,
    started: Instant,
    leader: u32,
    terminal: PtyTerminal,
    transcript: Arc<Mutex<Transcript>>,
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

struct PtyTerminal {
    /// Our side, non-blocking.
    side: OwnedFd,
    /// The name of the command's side.
    name: String,
}

impl ShellProcess {
    pub(super) fn start(start: ProcessStart<'_>) -> Result<Arc<Self>, ShellError> {
        let failed = |error: &dyn std::fmt::Display| ShellError::Start(io::Error::other(error.to_string()));
        let pty = native_pty_system().openpty(SIZE).map_err(|error| failed(&error))?;
        let holder = match &start.confinement {
            Some(confinement) => confinement.holder().map_err(ShellError::Start)?,
            None => None,
        };
        let mut builder = match holder {
            None => CommandBuilder::new(start.program),
            Some(holder) => {
                let mut builder = CommandBuilder::new(holder.program);
                builder.args(holder.arguments);
                builder.arg(start.program);
                builder
            }
        };
        builder.args(start.arguments);
        builder.cwd(&start.identity.cwd);
        builder.env_clear();
        for (name, value) in start.variables {
            builder.env(name, value);
        }
        let terminal = PtyTerminal::new(pty.master.as_ref())?;
        let reader = terminal.side.try_clone().map_err(ShellError::Start)?;
        // Only our own side of the terminal stays open here.
        let slave = pty.slave;
        drop(pty.master);
        let spawn = move || slave.spawn_command(builder).map_err(|error| failed(&error));
        let child = match start.confinement {
            None => spawn()?,
            // A separate thread that ends right after: its child processes inherit the confinement, and it
            // cannot be removed.
            Some(confinement) => thread::scope(|scope| {
                let held = scope.spawn(move || {
                    confinement.enforce().map_err(ShellError::Start)?;
                    spawn()
                });
                held.join().unwrap_or_else(|_| Err(failed(&"the command's thread broke")))
            })?,
        };
        let child: Box<dyn portable_pty::Child> = child;
        let mut child = child.downcast::<std::process::Child>().map_err(|_| failed(&"no process"))?;
        let leader = child.id();
        let guarded = guard::guard(leader);

        let transcript = Arc::new(Mutex::new(start.transcript));
        let (ending, end) = watch::channel(None);
        let started = Instant::now();
        let (stopped, stop) = io::pipe().map_err(ShellError::Start)?;
        let output = Arc::clone(&transcript);
        let pump = thread::Builder::new()
            .name(format!("output-{}", start.handle))
            .spawn(move || pump(&reader, &stopped, &output))
            .map_err(ShellError::Start);
        let ended = start.ended;
        let wait = move || {
            let status = child.wait();
            let after = started.elapsed();
            drop(stop);
            if let Ok(pump) = pump {
                // A panic of the watcher does not affect the command; its end still counts.
                let _ = pump.join();
            }
            ended(processes::members(leader), guarded);
            let state = match status {
                Ok(status) => match (status.code(), status.signal()) {
                    (Some(code), _) => CommandState::Exited { code },
                    (None, signal) => CommandState::Signalled { signal: signal.unwrap_or(0) },
                },
                Err(error) => {
                    tracing::error!(%error, "a command's end could not be learned");
                    CommandState::Signalled { signal: 0 }
                }
            };
            ending.send_replace(Some(ProcessEnd { state, after }));
        };
        if let Err(error) = thread::Builder::new().name(format!("end-{}", start.handle)).spawn(wait) {
            processes::kill_now(leader);
            return Err(ShellError::Start(error));
        }
        Ok(Arc::new(Self {
            handle: start.handle,
            call: start.call,
            identity: start.identity,
            folder: start.folder,
            started_at: start.started_at,
            observers: watch::Sender::new(0),
            standing: Mutex::default(),
            started,
            leader,
            terminal,
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
        locked(&self.ended_as).unwrap_or(end.state)
    }

    /// Returns the registry's data about it.
    pub(super) fn standing(&self) -> MutexGuard<'_, ReportedState> {
        locked(&self.standing)
    }

    /// Returns the file with its output, and creates it if necessary.
    pub(super) fn log(&self) -> Option<PathBuf> {
        self.transcript().log()
    }

    pub(super) fn transcript(&self) -> MutexGuard<'_, Transcript> {
        locked(&self.transcript)
    }

    /// Sets the listener for live output from now on.
    pub(super) fn watch(&self, live: Option<LiveSink>) {
        self.transcript().watch(live);
    }

    /// Types text. Blocks for at most [`INPUT_TIMEOUT`].
    pub(super) fn type_in(&self, text: &str) -> Result<(), ShellError> {
        let bytes = keys::bytes(text);
        let mut rest = bytes.as_slice();
        let deadline = Instant::now() + INPUT_TIMEOUT;
        *locked(&self.typed) = Instant::now();
        while !rest.is_empty() {
            match unistd::write(&self.terminal.side, rest) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(Errno::EAGAIN) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Err(ShellError::Input(io::ErrorKind::TimedOut.into()));
                    }
                    wait(&mut [PollFd::new(self.terminal.side.as_fd(), PollFlags::POLLOUT)], Some(left));
                }
                Err(Errno::EINTR) => {}
                Err(error) => return Err(ShellError::Input(error.into())),
            }
        }
        *locked(&self.typed) = Instant::now();
        Ok(())
    }

    /// Whether it waits for the person to type.
    pub(super) fn waits_for_input(&self) -> bool {
        let (output, partial) = {
            let transcript = self.transcript();
            (transcript.last_output(), transcript.partial())
        };
        let quiet = output.max(*locked(&self.typed)).elapsed();
        if quiet < READER_QUIET {
            return false;
        }
        let Ok(foreground) = tcgetpgrp(&self.terminal.side) else { return false };
        match processes::attention(self.leader, foreground.as_raw(), &self.terminal.name) {
            ForegroundActivity::Reads => true,
            ForegroundActivity::Sleeps => quiet >= QUESTION_QUIET && is_question(&partial),
            ForegroundActivity::Works => false,
        }
    }

    /// Asks its processes to end, and kills those that do not. Blocks for at most about a second and a half.
    /// The first reason given is kept; a command that ended on its own keeps its own result.
    pub(super) fn terminate(&self, why: CommandState) {
        if self.end.borrow().is_none() {
            locked(&self.ended_as).get_or_insert(why);
            processes::terminate(self.leader);
        }
    }

    /// Kills its processes at once.
    pub(super) fn kill(&self) {
        if self.end.borrow().is_none() {
            locked(&self.ended_as).get_or_insert(CommandState::Killed);
            processes::kill_now(self.leader);
        }
    }

    /// Passes pending output to the listener. The pump does so on its own; this is for the moment a wait ends.
    pub(super) fn hand_on(&self) {
        hand_on(&self.transcript);
    }

    /// Returns the output since the last report.
    pub(super) fn report(&self, stage: CommandStage) -> crate::output::Excerpts {
        self.transcript().report(stage)
    }
}

impl PtyTerminal {
    fn new(master: &dyn MasterPty) -> Result<Self, ShellError> {
        let unknown = || ShellError::Start(io::ErrorKind::Unsupported.into());
        let raw = master.as_raw_fd().ok_or_else(unknown)?;
        let name = master.tty_name().ok_or_else(unknown)?.to_string_lossy().into_owned();
        #[expect(
            unsafe_code,
            reason = "portable-pty shows its descriptor only as a number; polling needs it"
        )]
        // SAFETY: `master` owns the descriptor and outlives this borrow, which ends once the duplicate is made.
        let side = unsafe { BorrowedFd::borrow_raw(raw) }.try_clone_to_owned().map_err(ShellError::Start)?;
        fcntl(&side, FcntlArg::F_SETFL(OFlag::O_RDWR | OFlag::O_NONBLOCK))
            .map_err(|error| ShellError::Start(error.into()))?;
        Ok(Self { side, name })
    }
}

/// Whether a line looks like a question. Only used for a program that sleeps.
fn is_question(line: &str) -> bool {
    line.trim_end().ends_with([':', '?', '>', ')', ']'])
}

/// Reads the terminal until `stopped` is closed and no more output arrives.
fn pump(terminal: &OwnedFd, stopped: &PipeReader, transcript: &Mutex<Transcript>) {
    let mut buffer = vec![0; 64 * 1024];
    let (mut pending, mut handed_on) = (false, Instant::now());
    let mut last_words: Option<Instant> = None;
    loop {
        let got = read(terminal, &mut buffer);
        if let ReadOutcome::Bytes(length) = got {
            locked(transcript).feed(buffer.get(..length).unwrap_or_default());
            pending = true;
        }
        if pending && handed_on.elapsed() >= LIVE_INTERVAL {
            hand_on(transcript);
            (pending, handed_on) = (false, Instant::now());
        }
        let terminal = PollFd::new(terminal.as_fd(), PollFlags::POLLIN);
        let stopped = PollFd::new(stopped.as_fd(), PollFlags::POLLIN);
        match (got, last_words) {
            (ReadOutcome::Bytes(_), None) => {
                // More output may be ready; the loop also checks for the end.
                let mut watched = [stopped];
                last_words = wait(&mut watched, Some(Duration::ZERO)).then(Instant::now);
            }
            (ReadOutcome::Bytes(_), Some(since)) if since.elapsed() < MAX_DRAIN => {}
            (ReadOutcome::Nothing, None) => {
                let mut watched = [terminal, stopped];
                wait(&mut watched, pending.then(|| LIVE_INTERVAL.saturating_sub(handed_on.elapsed())));
                last_words = watched[1].any().unwrap_or(true).then(Instant::now);
            }
            (ReadOutcome::Nothing, Some(since)) if since.elapsed() < MAX_DRAIN => {
                if !wait(&mut [terminal], Some(DRAIN_QUIET)) {
                    break;
                }
            }
            // No process has it open now; another may open it while the command runs.
            (ReadOutcome::Closed, None) => {
                let mut watched = [stopped];
                last_words = wait(&mut watched, Some(CLOSED_POLL_INTERVAL)).then(Instant::now);
            }
            (_, Some(_)) => break,
        }
    }
    hand_on(transcript);
}

/// The result of a read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadOutcome {
    Bytes(usize),
    Nothing,
    /// The command's side is closed.
    Closed,
}

fn read(terminal: &OwnedFd, buffer: &mut [u8]) -> ReadOutcome {
    match unistd::read(terminal, buffer) {
        Ok(length @ 1..) => ReadOutcome::Bytes(length),
        Err(Errno::EAGAIN | Errno::EINTR) => ReadOutcome::Nothing,
        // Linux reports a closed terminal as an I/O error.
        Ok(0) | Err(_) => ReadOutcome::Closed,
    }
}

fn hand_on(transcript: &Mutex<Transcript>) {
    // Without the lock: the listener may be slow.
    let due = locked(transcript).take_live();
    if let Some((live, text)) = due {
        live(&text);
    }
}

/// Whether a descriptor becomes ready before the timeout. Without a timeout, waits indefinitely.
fn wait(watched: &mut [PollFd<'_>], timeout: Option<Duration>) -> bool {
    let timeout = match timeout {
        Some(time) => PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX),
        None => PollTimeout::NONE,
    };
    poll(watched, timeout).is_ok_and(|ready| ready > 0)
}

/// Locks a value that stays valid even if its last holder panicked.
pub(super) fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
