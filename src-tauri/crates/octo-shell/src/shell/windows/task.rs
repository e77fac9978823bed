//! One command: its shell, its pseudo-console, and the threads that watch them.
//!
//! A pseudo-console never ends by itself: it is closed when the shell has ended and was quiet for a moment. What a
//! program waits for cannot be seen here, so that only a line that looks like a question counts as one.

use super::{
    background::{Identity, Standing},
    guard::{self, Guarded},
    keys,
    processes::Process,
};
use crate::{
    Confinement, Live, ShellError,
    environment::Variables,
    output::{Stage, Transcript},
};
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

/// The terminal's size: room for a table, and lines a model reads without trouble.
const SIZE: PtySize = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };

/// How often new output is handed to who watches.
const LIVE_EVERY: Duration = Duration::from_millis(30);

/// After the command's end its terminal is read until it has been quiet for this long.
const LAST_WORDS: Duration = Duration::from_millis(60);

/// And not longer than this, whatever comes.
const LAST_WORDS_MOST: Duration = Duration::from_millis(500);

/// Quiet after which a command with a question on its last line waits for the person.
const ASKS_QUIET: Duration = Duration::from_secs(4);

/// How long a command gets between Ctrl+C and its end.
const GRACE: Duration = Duration::from_secs(1);

/// How often a look is taken whether it has ended.
const LOOK: Duration = Duration::from_millis(20);

/// The console asks at its beginning where the cursor is and waits for the answer: in the corner.
const CURSOR: &[u8] = b"\x1b[1;1R";

/// What to start.
pub(super) struct Start<'a> {
    /// By which the command is reached.
    pub handle: String,
    /// The call that starts it.
    pub call: CallId,
    /// What it is.
    pub identity: Identity,
    /// The session's folder.
    pub folder: PathBuf,
    /// Now.
    pub started_at: Millis,
    /// The shell.
    pub program: &'a Path,
    /// What the shell is given.
    pub arguments: &'a [String],
    /// All variables.
    pub variables: &'a Variables,
    /// Where its output goes.
    pub transcript: Transcript,
    /// Called when it is over, with the processes it left behind and what guards them, before anyone learns of its
    /// end.
    pub ended: Box<dyn FnOnce(Vec<Process>, Option<Guarded>) + Send>,
    /// What the system lets it touch. There are no means for it here, and none is ever given.
    pub confinement: Option<Confinement>,
}

/// A command that was started.
pub(super) struct Task {
    pub handle: String,
    pub call: CallId,
    pub identity: Identity,
    pub folder: PathBuf,
    pub started_at: Millis,
    /// How many calls observe it.
    pub observers: watch::Sender<usize>,
    standing: Mutex<Standing>,
    started: Instant,
    leader: Option<u32>,
    /// Ends all of it when it is let go of.
    guarded: Arc<Mutex<Option<Guarded>>>,
    keyboard: Arc<Mutex<Option<Box<dyn Write + Send>>>>,
    transcript: Arc<Mutex<Transcript>>,
    typed: Mutex<Instant>,
    /// As what it was ended on request.
    ended_as: Mutex<Option<CommandState>>,
    end: watch::Receiver<Option<End>>,
}

/// How a command ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    /// How.
    pub state: CommandState,
    /// After what time.
    pub after: Duration,
}

impl Task {
    pub(super) fn start(start: Start<'_>) -> Result<Arc<Self>, ShellError> {
        let failed = |error: &dyn std::fmt::Display| ShellError::Start(io::Error::other(error.to_string()));
        if start.confinement.is_some() {
            // It would not be held: better not started than believed to be.
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
            // Closing the console is what ends the reading.
            drop(locked(&keys).take());
            drop(master);
            if let Ok(pump) = started_threads {
                // A watcher that panics is the watcher's fault; the command's end still counts.
                let _ = pump.join();
            }
            let guarded = locked(&jobs).take();
            let left = guarded.as_ref().map(Guarded::members).unwrap_or_default();
            ended(left.into_iter().map(|pid| Process { pid }).collect(), guarded);
            let state = match status {
                // The system's codes fill all 32 bits.
                Ok(status) => CommandState::Exited { code: status.exit_code().cast_signed() },
                Err(error) => {
                    tracing::error!(%error, "a command's end could not be learned");
                    CommandState::Signalled { signal: 0 }
                }
            };
            ending.send_replace(Some(End { state, after }));
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

    /// The command's end, once it came.
    pub(super) fn end(&self) -> watch::Receiver<Option<End>> {
        self.end.clone()
    }

    /// Since it was started.
    pub(super) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// How it ended, a request to end it included.
    pub(super) fn ended_as(&self, end: End) -> CommandState {
        locked(&self.ended_as).unwrap_or(end.state)
    }

    /// What the registry knows of it.
    pub(super) fn standing(&self) -> MutexGuard<'_, Standing> {
        locked(&self.standing)
    }

    /// The file with its output, made now if there is none yet.
    pub(super) fn log(&self) -> Option<PathBuf> {
        self.transcript().log()
    }

    pub(super) fn transcript(&self) -> MutexGuard<'_, Transcript> {
        locked(&self.transcript)
    }

    /// Who takes its output as it comes from now on.
    pub(super) fn watch(&self, live: Option<Live>) {
        self.transcript().watch(live);
    }

    /// Types.
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

    /// Whether it seems to wait for the person to type something.
    pub(super) fn waits_for_input(&self) -> bool {
        let (output, partial) = {
            let transcript = self.transcript();
            (transcript.last_output(), transcript.partial())
        };
        let quiet = output.max(*locked(&self.typed)).elapsed();
        quiet >= ASKS_QUIET && partial.trim_end().ends_with([':', '?', '>', ')', ']'])
    }

    /// Asks its processes to end, and ends those that do not. Blocks for at most about a second and a half. The first
    /// reason given stays the reason; a command that ended by itself did that.
    pub(super) fn terminate(&self, why: CommandState) {
        if self.end.borrow().is_some() {
            return;
        }
        locked(&self.ended_as).get_or_insert(why);
        // Ctrl+C; one that does not hear is ended.
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

    /// Ends its processes at once.
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

    /// Hands what came to who watches. The pump does so by itself; this is for the moment a wait ends.
    pub(super) fn hand_on(&self) {
        hand_on(&self.transcript);
    }

    /// What came since the last report.
    pub(super) fn report(&self, stage: Stage) -> crate::output::Excerpts {
        self.transcript().report(stage)
    }
}

/// Reads the console until it is closed. It blocks, so that somebody else keeps the time.
fn read(mut console: Box<dyn Read + Send>, pieces: &mpsc::Sender<Vec<u8>>) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = console.read(&mut buffer) {
        if pieces.send(buffer.get(..length).unwrap_or_default().to_vec()).is_err() {
            return;
        }
    }
}

/// Takes what was read and hands it on, in bundles.
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
    // Not while holding the lock: the watcher may take its time.
    let due = locked(transcript).take_live();
    if let Some((live, text)) = due {
        live(&text);
    }
}

/// The lock of a value that is whole whatever happened to its last holder.
pub(super) fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
