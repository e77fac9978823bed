//! The leading process of a command: its `bash`, its terminal, and the two threads that watch them.

use super::{
    process::{
        DRAIN_QUIET, LIVE_INTERVAL, LeaderEnd, LeaderStart, MAX_DRAIN, QUESTION_QUIET, TERMINAL_SIZE, failed,
        is_question, send_live,
    },
    processes::{self, ForegroundActivity},
    tree::CommandTree,
};
use crate::{ShellError, output::Transcript};
use nix::{
    errno::Errno,
    fcntl::{FcntlArg, OFlag, fcntl},
    poll::{PollFd, PollFlags, PollTimeout, poll},
    unistd::{self, tcgetpgrp},
};
use parking_lot::Mutex;
use portable_pty::{MasterPty, native_pty_system};
use std::{
    io::{self, PipeReader},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    thread,
    time::{Duration, Instant},
};

/// How often to check a terminal that no process has open.
const CLOSED_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How long a program may leave its terminal's input full.
const INPUT_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a program that reads its terminal must be silent before it counts as waiting for the person. A
/// shell loop that reads keys with short timeouts is not silent that long; a person does not type that fast.
const READER_QUIET: Duration = Duration::from_millis(1_200);

/// The leading process of a command: a `bash` with a terminal and a process group of its own.
pub(super) struct Leader {
    tree: CommandTree,
    terminal: PtyTerminal,
}

struct PtyTerminal {
    /// Our side, non-blocking.
    side: OwnedFd,
    /// The name of the command's side.
    name: String,
}

impl Leader {
    pub(super) fn start(start: LeaderStart<'_>) -> Result<Self, ShellError> {
        let pty = native_pty_system().openpty(TERMINAL_SIZE).map_err(|error| failed(&error))?;
        let terminal = PtyTerminal::new(pty.master.as_ref())?;
        let reader = terminal.side.try_clone().map_err(ShellError::Start)?;
        let tree = CommandTree::start(&start, pty)?;
        let started = Instant::now();
        let (stopped, stop) = io::pipe().map_err(ShellError::Start)?;
        let output = start.transcript;
        let pump = thread::Builder::new()
            .name(format!("output-{}", start.handle))
            .spawn(move || pump(&reader, &stopped, &output))
            .map_err(ShellError::Start);
        let (ended, waited) = (start.ended, tree.clone());
        let wait = move || {
            let state = waited.wait();
            let after = started.elapsed();
            drop(stop);
            if let Ok(pump) = pump {
                // A panic of the watcher does not affect the command; its end still counts.
                let _ = pump.join();
            }
            ended(LeaderEnd { state, after, survivors: waited.survivors() });
        };
        if let Err(error) = thread::Builder::new().name(format!("end-{}", start.handle)).spawn(wait) {
            tree.kill();
            return Err(ShellError::Start(error));
        }
        Ok(Self { tree, terminal })
    }

    /// Types bytes. Blocks for at most [`INPUT_TIMEOUT`].
    pub(super) fn write_input(&self, bytes: &[u8]) -> Result<(), ShellError> {
        let mut remaining = bytes;
        let deadline = Instant::now() + INPUT_TIMEOUT;
        while !remaining.is_empty() {
            match unistd::write(&self.terminal.side, remaining) {
                Ok(written) => remaining = remaining.get(written..).unwrap_or_default(),
                Err(Errno::EAGAIN) => {
                    let time_left = deadline.saturating_duration_since(Instant::now());
                    if time_left.is_zero() {
                        return Err(ShellError::Input(io::ErrorKind::TimedOut.into()));
                    }
                    let mut watched = [PollFd::new(self.terminal.side.as_fd(), PollFlags::POLLOUT)];
                    poll_ready(&mut watched, Some(time_left));
                }
                Err(Errno::EINTR) => {}
                Err(error) => return Err(ShellError::Input(error.into())),
            }
        }
        Ok(())
    }

    /// Whether the foreground program waits for the person to type, if the terminal was quiet for this long and
    /// `partial` is its last line.
    pub(super) fn waits_for_input(&self, quiet: Duration, partial: &str) -> bool {
        if quiet < READER_QUIET {
            return false;
        }
        let Ok(foreground) = tcgetpgrp(&self.terminal.side) else { return false };
        match processes::activity(self.tree.leader(), foreground.as_raw(), &self.terminal.name) {
            ForegroundActivity::ReadsTerminal => true,
            ForegroundActivity::Sleeping => quiet >= QUESTION_QUIET && is_question(partial),
            ForegroundActivity::Working => false,
        }
    }

    /// Asks its processes to end, and kills those that do not.
    pub(super) fn terminate(&self, _has_ended: &dyn Fn() -> bool) {
        self.tree.terminate();
    }

    /// Kills its processes at once.
    pub(super) fn kill(&self) {
        self.tree.kill();
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
        let descriptor =
            unsafe { BorrowedFd::borrow_raw(raw) }.try_clone_to_owned().map_err(ShellError::Start)?;
        fcntl(&descriptor, FcntlArg::F_SETFL(OFlag::O_RDWR | OFlag::O_NONBLOCK))
            .map_err(|error| ShellError::Start(error.into()))?;
        Ok(Self { side: descriptor, name })
    }
}

/// Reads the terminal until `stopped` is closed and no more output arrives.
fn pump(terminal: &OwnedFd, stopped: &PipeReader, transcript: &Mutex<Transcript>) {
    let mut buffer = vec![0; 64 * 1024];
    let (mut pending, mut sent) = (false, Instant::now());
    let mut drain_since: Option<Instant> = None;
    loop {
        let got = read(terminal, &mut buffer);
        if let ReadOutcome::Bytes(length) = got {
            transcript.lock().feed(buffer.get(..length).unwrap_or_default());
            pending = true;
        }
        if pending && sent.elapsed() >= LIVE_INTERVAL {
            send_live(transcript);
            (pending, sent) = (false, Instant::now());
        }
        let terminal = PollFd::new(terminal.as_fd(), PollFlags::POLLIN);
        let stopped = PollFd::new(stopped.as_fd(), PollFlags::POLLIN);
        match (got, drain_since) {
            (ReadOutcome::Bytes(_), None) => {
                // More output may be ready; the loop also checks for the end.
                let mut watched = [stopped];
                drain_since = poll_ready(&mut watched, Some(Duration::ZERO)).then(Instant::now);
            }
            (ReadOutcome::Bytes(_), Some(since)) if since.elapsed() < MAX_DRAIN => {}
            (ReadOutcome::Nothing, None) => {
                let mut watched = [terminal, stopped];
                poll_ready(&mut watched, pending.then(|| LIVE_INTERVAL.saturating_sub(sent.elapsed())));
                drain_since = watched[1].any().unwrap_or(true).then(Instant::now);
            }
            (ReadOutcome::Nothing, Some(since)) if since.elapsed() < MAX_DRAIN => {
                if !poll_ready(&mut [terminal], Some(DRAIN_QUIET)) {
                    break;
                }
            }
            // No process has it open now; another may open it while the command runs.
            (ReadOutcome::Closed, None) => {
                let mut watched = [stopped];
                drain_since = poll_ready(&mut watched, Some(CLOSED_POLL_INTERVAL)).then(Instant::now);
            }
            (_, Some(_)) => break,
        }
    }
    send_live(transcript);
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

/// Whether a descriptor becomes ready before the timeout. Without a timeout, waits indefinitely.
fn poll_ready(watched: &mut [PollFd<'_>], timeout: Option<Duration>) -> bool {
    let timeout = match timeout {
        Some(time) => PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX),
        None => PollTimeout::NONE,
    };
    poll(watched, timeout).is_ok_and(|ready| ready > 0)
}
