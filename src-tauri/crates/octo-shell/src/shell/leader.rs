//! The leading process of a command: its `bash`, its terminal, and the two threads that watch these.

use super::{
    process::{
        DRAIN_QUIET, LIVE_INTERVAL, LeaderEnd, LeaderStart, MAX_DRAIN, QUESTION_QUIET, TERMINAL_SIZE,
        is_question, send_live, start_error,
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

/// Interval between two checks of a terminal that no process has open.
const CLOSED_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Maximum time for which a program may leave its terminal's input full.
const INPUT_TIMEOUT: Duration = Duration::from_secs(2);

/// The time for which a program that reads its terminal must be silent before it counts as waiting for the person. A
/// shell loop that reads keys with short timeouts is not silent for that long, and no person types that fast.
const READER_QUIET: Duration = Duration::from_millis(1_200);

/// The leading process of a command: a `bash` with a terminal and a process group of its own.
pub(super) struct Leader {
    tree: CommandTree,
    terminal: PtyTerminal,
}

struct PtyTerminal {
    /// Octo's side of the terminal, non-blocking.
    descriptor: OwnedFd,
    /// The device name of the command's side.
    name: String,
}

impl Leader {
    pub(super) fn start(start: LeaderStart<'_>) -> Result<Self, ShellError> {
        let pty = native_pty_system().openpty(TERMINAL_SIZE).map_err(|error| start_error(&error))?;
        let terminal = PtyTerminal::new(pty.master.as_ref())?;
        let reader = terminal.descriptor.try_clone().map_err(ShellError::Start)?;
        let tree = CommandTree::start(&start, pty)?;
        let started = Instant::now();
        let (end_reader, end_writer) = io::pipe().map_err(ShellError::Start)?;
        let output = start.transcript;
        let pump = thread::Builder::new()
            .name(format!("output-{}", start.handle))
            .spawn(move || pump(&reader, &end_reader, &output))
            .map_err(ShellError::Start);
        let (on_end, waited_tree) = (start.on_end, tree.clone());
        let wait = move || {
            let state = waited_tree.wait();
            let after = started.elapsed();
            drop(end_writer);
            if let Ok(pump) = pump {
                // A panic of the thread does not affect the command, whose end still counts.
                let _ = pump.join();
            }
            on_end(LeaderEnd { state, after, survivors: waited_tree.survivors() });
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
            match unistd::write(&self.terminal.descriptor, remaining) {
                Ok(written) => remaining = remaining.get(written..).unwrap_or_default(),
                Err(Errno::EAGAIN) => {
                    let time_left = deadline.saturating_duration_since(Instant::now());
                    if time_left.is_zero() {
                        return Err(ShellError::Input(io::ErrorKind::TimedOut.into()));
                    }
                    let mut watched = [PollFd::new(self.terminal.descriptor.as_fd(), PollFlags::POLLOUT)];
                    poll_ready(&mut watched, Some(time_left));
                }
                Err(Errno::EINTR) => {}
                Err(error) => return Err(ShellError::Input(error.into())),
            }
        }
        Ok(())
    }

    /// Returns whether the foreground program waits for the person to type. `quiet` is the time since the last output
    /// or input, and `partial` the last line of the terminal.
    pub(super) fn waits_for_input(&self, quiet: Duration, partial: &str) -> bool {
        if quiet < READER_QUIET {
            return false;
        }
        let Ok(foreground) = tcgetpgrp(&self.terminal.descriptor) else { return false };
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
        let unsupported = || ShellError::Start(io::ErrorKind::Unsupported.into());
        let raw = master.as_raw_fd().ok_or_else(unsupported)?;
        let name = master.tty_name().ok_or_else(unsupported)?.to_string_lossy().into_owned();
        #[expect(
            unsafe_code,
            reason = "portable-pty shows its descriptor only as a number; polling needs it"
        )]
        // SAFETY: `master` owns the descriptor and outlives this borrow, which ends once the duplicate is made.
        let descriptor =
            unsafe { BorrowedFd::borrow_raw(raw) }.try_clone_to_owned().map_err(ShellError::Start)?;
        fcntl(&descriptor, FcntlArg::F_SETFL(OFlag::O_RDWR | OFlag::O_NONBLOCK))
            .map_err(|error| ShellError::Start(error.into()))?;
        Ok(Self { descriptor, name })
    }
}

/// Reads the terminal until the pipe of `end_reader` is closed and no more output arrives.
fn pump(terminal: &OwnedFd, end_reader: &PipeReader, transcript: &Mutex<Transcript>) {
    let mut buffer = vec![0; 64 * 1024];
    let (mut pending, mut last_sent) = (false, Instant::now());
    let mut drain_since: Option<Instant> = None;
    loop {
        let outcome = read(terminal, &mut buffer);
        if let ReadOutcome::Bytes(length) = outcome {
            transcript.lock().feed(buffer.get(..length).unwrap_or_default());
            pending = true;
        }
        if pending && last_sent.elapsed() >= LIVE_INTERVAL {
            send_live(transcript);
            (pending, last_sent) = (false, Instant::now());
        }
        let terminal = PollFd::new(terminal.as_fd(), PollFlags::POLLIN);
        let end_reader = PollFd::new(end_reader.as_fd(), PollFlags::POLLIN);
        match (outcome, drain_since) {
            (ReadOutcome::Bytes(_), None) => {
                // More output may be ready; the loop also checks for the end.
                let mut watched = [end_reader];
                drain_since = poll_ready(&mut watched, Some(Duration::ZERO)).then(Instant::now);
            }
            (ReadOutcome::Bytes(_), Some(since)) if since.elapsed() < MAX_DRAIN => {}
            (ReadOutcome::Nothing, None) => {
                let mut watched = [terminal, end_reader];
                poll_ready(&mut watched, pending.then(|| LIVE_INTERVAL.saturating_sub(last_sent.elapsed())));
                drain_since = watched[1].any().unwrap_or(true).then(Instant::now);
            }
            (ReadOutcome::Nothing, Some(since)) if since.elapsed() < MAX_DRAIN => {
                if !poll_ready(&mut [terminal], Some(DRAIN_QUIET)) {
                    break;
                }
            }
            // No process has the terminal open now, but one may open it while the command runs.
            (ReadOutcome::Closed, None) => {
                let mut watched = [end_reader];
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

/// Returns whether a descriptor becomes ready before the timeout. Without a timeout, waits indefinitely.
fn poll_ready(watched: &mut [PollFd<'_>], timeout: Option<Duration>) -> bool {
    let timeout = match timeout {
        Some(time) => PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX),
        None => PollTimeout::NONE,
    };
    poll(watched, timeout).is_ok_and(|ready| ready > 0)
}
