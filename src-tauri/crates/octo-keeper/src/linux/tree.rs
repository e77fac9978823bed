//! Octo's side of a reaper: a running program and everything it started.

use super::wire::{Demand, REPORT_BYTES, Report};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::{
    io::{self, Read, Write},
    os::{fd::AsFd, unix::net::UnixStream},
    time::{Duration, Instant},
};

/// How long to wait for killed processes: longer than a reaper tries.
const KILL_WAIT: Duration = Duration::from_secs(3);

/// How long to wait for processes that were asked to end: their time to do so, and [`KILL_WAIT`].
const TERMINATE_WAIT: Duration = Duration::from_secs(4);

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramEnd {
    /// It exited.
    Exited {
        /// Its exit status.
        code: i32,
    },
    /// A signal ended it.
    Signalled {
        /// The signal's number.
        signal: i32,
    },
    /// Unknown: its reaper was killed. The keeper, unless it was killed too, ends what is left; the caller
    /// should end what it can find.
    Lost,
}

/// A running program and everything it started. Dropping it kills all of them.
#[derive(Debug)]
pub struct ProcessTree {
    pid: u32,
    started: u64,
    reaper: i32,
    socket: UnixStream,
    progress: Mutex<Progress>,
    changed: Condvar,
}

/// The reports of the reaper so far.
#[derive(Debug, Default)]
struct Progress {
    end: Option<ProgramEnd>,
    /// Whether no process is left, or the reaper is gone.
    is_over: bool,
    /// Whether the last attempt to kill left some.
    has_unkillable: bool,
    /// Whether a thread reads the socket.
    is_read: bool,
    /// The bytes of an unfinished report.
    partial: Vec<u8>,
}

impl ProcessTree {
    pub(super) fn new(socket: UnixStream, reaper: i32, pid: u32, started: u64) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self { pid, started, reaper, socket, progress: Mutex::default(), changed: Condvar::new() })
    }

    /// Returns the program's process, which leads a session and a group of its own.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns the start time of the program's process; see [`crate::process_table::Process::started`].
    pub fn started(&self) -> u64 {
        self.started
    }

    /// Waits until the program has ended. Its descendants may continue.
    pub fn wait(&self) -> ProgramEnd {
        self.wait_until(None, |progress| progress.end).unwrap_or(ProgramEnd::Lost)
    }

    /// Returns whether no process is left, as reported so far.
    pub fn is_over(&self) -> bool {
        self.wait_until(Some(Instant::now()), |progress| progress.is_over.then_some(())).is_some()
    }

    /// Asks all processes to end, and kills those that do not. Takes at most about a second, and three more if
    /// some cannot be killed.
    pub fn terminate(&self) {
        self.end(Demand::Terminate, TERMINATE_WAIT);
    }

    /// Kills all processes. Takes a moment, and at most three seconds if some cannot be killed.
    pub fn kill(&self) {
        self.end(Demand::Kill, KILL_WAIT);
    }

    /// Demands that all processes are killed, without waiting for it.
    pub fn request_kill(&self) {
        self.demand(Demand::Kill);
    }

    fn end(&self, demand: Demand, wait: Duration) {
        self.progress.lock().has_unkillable = false;
        self.demand(demand);
        let deadline = Some(Instant::now() + wait);
        let over = |progress: &Progress| progress.is_over || progress.has_unkillable;
        if self.wait_until(deadline, |progress| over(progress).then_some(())).is_none() {
            // A program can stop or block its reaper; the keeper ends what a killed one leaves.
            tracing::warn!(
                pid = self.pid,
                "a command's processes are ended without its reaper, which does not answer"
            );
            if let Some(reaper) = rustix::process::Pid::from_raw(self.reaper) {
                let _ = rustix::process::kill_process(reaper, rustix::process::Signal::KILL);
            }
            let deadline = Some(Instant::now() + KILL_WAIT);
            self.wait_until(deadline, |progress| progress.is_over.then_some(()));
        } else if !self.progress.lock().is_over {
            tracing::warn!(pid = self.pid, "some processes of a command could not be ended");
        }
    }

    /// Sends a demand. A reaper that is gone has nothing to end.
    fn demand(&self, demand: Demand) {
        let _ = (&self.socket).write(&[demand as u8]);
    }

    /// Waits until `answer` returns something, or until the deadline. One of the waiting threads reads the
    /// socket.
    fn wait_until<T>(
        &self,
        deadline: Option<Instant>,
        mut answer: impl FnMut(&Progress) -> Option<T>,
    ) -> Option<T> {
        let mut progress = self.progress.lock();
        if !progress.is_read {
            self.read(&mut progress);
        }
        loop {
            if let Some(answer) = answer(&progress) {
                return Some(answer);
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) || (progress.is_over && !progress.is_read) {
                return None;
            }
            if progress.is_read {
                match left {
                    Some(left) => drop(self.changed.wait_for(&mut progress, left)),
                    None => self.changed.wait(&mut progress),
                }
                continue;
            }
            progress.is_read = true;
            MutexGuard::unlocked(&mut progress, || super::client::wait_readable(self.socket.as_fd(), left));
            progress.is_read = false;
            self.read(&mut progress);
            self.changed.notify_all();
        }
    }

    /// Reads what is there.
    fn read(&self, progress: &mut Progress) {
        let mut buffer = [0; 8 * REPORT_BYTES];
        while !progress.is_over {
            match (&self.socket).read(&mut buffer) {
                Ok(length @ 1..) => {
                    progress.partial.extend_from_slice(buffer.get(..length).unwrap_or_default());
                    progress.take_reports();
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The reaper ended without reporting that nothing is left.
                Ok(0) | Err(_) => {
                    progress.end.get_or_insert(ProgramEnd::Lost);
                    progress.is_over = true;
                }
            }
        }
    }
}

impl Progress {
    fn take_reports(&mut self) {
        while let Some((bytes, rest)) = self.partial.split_first_chunk::<REPORT_BYTES>() {
            let report = Report::decode(bytes);
            let rest = rest.to_vec();
            match report {
                Ok(Report::Exited { code }) => self.end = Some(ProgramEnd::Exited { code }),
                Ok(Report::Signalled { signal }) => self.end = Some(ProgramEnd::Signalled { signal }),
                Ok(Report::Unkillable { .. }) => self.has_unkillable = true,
                Ok(Report::Empty) => self.is_over = true,
                // A reaper sends nothing else.
                Ok(_) | Err(_) => {}
            }
            self.partial = rest;
        }
    }
}
