//! One command: its shell, its pseudo-console, and the threads that watch them.
//!
//! A pseudo-console never ends on its own: it is closed when the shell has ended and was quiet for a moment.
//! The reason why a program waits is not visible here; only a last line that looks like a question counts as
//! waiting for input.

use super::{
    background::{CommandIdentity, ReportedState},
    guard::{self, GuardRegistration},
    keys,
    processes::Process,
};
use crate::{
    Confinement, LiveSink, ShellError,
    output::{CommandStage, Transcript},
};
use octo_policy::Variables;
use octo_protocol::{CallId, CommandState, Millis};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use std::{
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};
use tokio::sync::watch;

/// The terminal's size: space for a table, and lines a model reads easily.
const SIZE: PtySize = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };

/// How often new output is passed to the listener.
const LIVE_EVERY: Duration = Duration::from_millis(30);

/// How long the terminal must be quiet, after the command's end, before reading stops.
const LAST_WORDS: Duration = Duration::from_millis(60);

/// The upper limit of that time, whatever arrives.
const LAST_WORDS_MOST: Duration = Duration::from_millis(500);

/// How long a command with a question on its last line must be silent before it counts as waiting for the
/// person.
const ASKS_QUIET: Duration = Duration::from_secs(4);

/// How long a command has between Ctrl+C and its end.
const GRACE: Duration = Duration::from_secs(1);

/// How often to check whether it has ended.
const LOOK: Duration = Duration::from_millis(20);

/// The answer to the console's initial query for the cursor position, for which it waits: the top-left corner.
const CURSOR: &[u8] = b"\x1b[1;1R";

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
    /// Called when it has ended, with the processes it left and their guard, before any caller learns of its
    /// end.
    pub ended: Box<dyn FnOnce(Vec<Process>, Option<GuardRegistration>) + Send>,
    /// The access the system allows it. Windows has no means for it, so this is never set.
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
    leader: Option<u32>,
    /// The guard, which ends all of the command's processes when it is dropped.
    guarded: Arc<Mutex<Option<GuardRegistration>>>,
    keyboard: Arc<Mutex<Option<Box<dyn Write + Send>>>>,
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

impl ShellProcess {
    pub(super) fn start(start: ProcessStart<'_>) -> Result<Arc<Self>, ShellError> {
        let failed = |error: &dyn std::fmt::Display| ShellError::Start(io::Error::other(error.to_string()));
        if start.confinement.is_some() {
            // It would not be confined: refusing to start it is safer than a false belief.
            return Err(failed(&"this system cannot hold a command to what was allowed"));
        }
        let pty = native_pty_system().openpty(SIZE).map_err(|error| failed(&error))?;
        let mut builder = CommandBuilder::new(start.program);
        builder.args(start.arguments);
        builder.cwd(&start.identity.cwd);
        builder.env_clear();
        for (name, value) in start.variables {
            builder.env(name, value);
        }
        let reader = pty.master.try_clone_reader().map_err(|error| failed(&error))?;
        let mut writer = pty.master.take_writer().map_err(|error| failed(&error))?;
        writer.write_all(CURSOR).map_err(ShellError::Start)?;
        let mut child = pty.slave.spawn_command(builder).map_err(|error| failed(&error))?;
        drop(pty.slave);
        let leader = child.process_id();
        let guarded = child
            .as_raw_handle()
            .ok_or_else(|| "no process".to_owned())
            .and_then(|process| guard::guard(process as isize).map_err(|error| error.to_string()))
            .inspect_err(|error| tracing::warn!(%error, "a command is not ended with Octo if it is killed"))
            .ok();
        let guarded = Arc::new(Mutex::new(guarded));
        let keyboard = Arc::new(Mutex::new(Some(writer)));
        let transcript = Arc::new(Mutex::new(start.transcript));
        let (ending, end) = watch::channel(None);
        let started = Instant::now();

        let name = |kind: &str| format!("{kind}-{}", start.handle);
        let (pieces, came) = mpsc::channel();
        let output = Arc::clone(&transcript);
        let started_threads = thread::Builder::new()
            .name(name("reads"))
            .spawn(move || read(reader, &pieces))
            .and_then(|_| thread::Builder::new().name(name("output")).spawn(move || pump(&came, &output)));
        let (ended, output, jobs, keys) =
            (start.ended, Arc::clone(&transcript), Arc::clone(&guarded), Arc::clone(&keyboard));
        let master = pty.master;
        let wait = move || {
            let status = child.wait();
            let after = started.elapsed();
            let since = Instant::now();
            while since.elapsed() < LAST_WORDS_MOST && locked(&output).last_output().elapsed() < LAST_WORDS {
                thread::sleep(LOOK);
            }
            // Closing the console ends the reading.
            drop(locked(&keys).take());
            drop(master);
            if let Ok(pump) = started_threads {
                // A panic of the watcher does not affect the command; its end still counts.
                let _ = pump.join();
            }
            let guarded = locked(&jobs).take();
            let left = guarded.as_ref().map(GuardRegistration::members).unwrap_or_default();
            ended(left.into_iter().map(|pid| Process { pid }).collect(), guarded);
            let state = match status {
                // The system's codes fill all 32 bits.
                Ok(status) => CommandState::Exited { code: status.exit_code().cast_signed() },
                Err(error) => {
                    tracing::error!(%error, "a command's end could not be learned");
                    CommandState::Signalled { signal: 0 }
                }
            };
            ending.send_replace(Some(ProcessEnd { state, after }));
        };
        if let Err(error) = thread::Builder::new().name(name("end")).spawn(wait) {
            drop(locked(&guarded).take());
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
            guarded,
            keyboard,
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

    /// Types text.
    pub(super) fn type_in(&self, text: &str) -> Result<(), ShellError> {
        let closed = || ShellError::Input(io::ErrorKind::BrokenPipe.into());
        *locked(&self.typed) = Instant::now();
        locked(&self.keyboard)
            .as_mut()
            .ok_or_else(closed)?
            .write_all(&keys::bytes(text))
            .map_err(ShellError::Input)?;
        *locked(&self.typed) = Instant::now();
        Ok(())
    }

    /// Whether it seems to wait for the person to type.
    pub(super) fn waits_for_input(&self) -> bool {
        let (output, partial) = {
            let transcript = self.transcript();
            (transcript.last_output(), transcript.partial())
        };
        let quiet = output.max(*locked(&self.typed)).elapsed();
        quiet >= ASKS_QUIET && partial.trim_end().ends_with([':', '?', '>', ')', ']'])
    }

    /// Asks its processes to end, and kills those that do not. Blocks for at most about a second and a half.
    /// The first reason given is kept; a command that ended on its own keeps its own result.
    pub(super) fn terminate(&self, why: CommandState) {
        if self.end.borrow().is_some() {
            return;
        }
        locked(&self.ended_as).get_or_insert(why);
        // Ctrl+C; a command that ignores it is killed.
        let _ = self.type_in("\x03");
        let deadline = Instant::now() + GRACE;
        while Instant::now() < deadline {
            if self.end.borrow().is_some() {
                return;
            }
            thread::sleep(LOOK);
        }
        self.end_tree();
    }

    /// Kills its processes at once.
    pub(super) fn kill(&self) {
        if self.end.borrow().is_none() {
            locked(&self.ended_as).get_or_insert(CommandState::Killed);
            self.end_tree();
        }
    }

    fn end_tree(&self) {
        if let Some(leader) = self.leader {
            guard::kill_tree(leader);
        }
        drop(locked(&self.guarded).take());
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

/// Reads the console until it is closed. It blocks, so another thread handles timing.
fn read(mut console: Box<dyn Read + Send>, pieces: &mpsc::Sender<Vec<u8>>) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = console.read(&mut buffer) {
        if pieces.send(buffer.get(..length).unwrap_or_default().to_vec()).is_err() {
            return;
        }
    }
}

/// Passes the read output on, in batches.
fn pump(came: &mpsc::Receiver<Vec<u8>>, transcript: &Mutex<Transcript>) {
    let mut pending: Option<Instant> = None;
    loop {
        let piece = match pending {
            None => came.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(since) => came.recv_timeout(LIVE_EVERY.saturating_sub(since.elapsed())),
        };
        match piece {
            Ok(piece) => {
                locked(transcript).feed(&piece);
                pending.get_or_insert_with(Instant::now);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if pending.is_some_and(|since| since.elapsed() >= LIVE_EVERY) {
            hand_on(transcript);
            pending = None;
        }
    }
    hand_on(transcript);
}

fn hand_on(transcript: &Mutex<Transcript>) {
    // Without the lock: the listener may be slow.
    let due = locked(transcript).take_live();
    if let Some((live, text)) = due {
        live(&text);
    }
}

/// Locks a value that stays valid even if its last holder panicked.
pub(super) fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
