//! Octo's side of a reaper: a running program and everything it started.

use super::wire::{Demand, REPORT_BYTES, Report};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::{
    io::{self, Read, Write},
    os::{fd::AsFd, unix::net::UnixStream},
    time::{Duration, Instant},
};

/// Maximum time to wait for killed processes, which is longer than a reaper tries.
const KILL_TIMEOUT: Duration = Duration::from_secs(3);

/// Maximum time to wait for processes that were asked to end: the reaper's grace period and [`KILL_TIMEOUT`].
const TERMINATE_TIMEOUT: Duration = Duration::from_secs(4);

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
    /// Unknown, because its reaper was killed. The keeper, unless it was killed too, ends the remaining processes. The
    /// caller should end the processes it can find.
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
    /// Whether some processes survived the last attempt to kill them.
    has_unkillable: bool,
    /// Whether a thread reads the socket.
    has_reader: bool,
    /// The bytes of an unfinished report.
    partial: Vec<u8>,
}

impl ProcessTree {
    pub(super) fn new(socket: UnixStream, reaper: i32, pid: u32, started: u64) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self { pid, started, reaper, socket, progress: Mutex::default(), changed: Condvar::new() })
    }

    /// Returns the process ID of the program, which leads its own session and process group.
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

    /// Returns whether no process is left, according to the reports so far.
    pub fn is_over(&self) -> bool {
        self.wait_until(Some(Instant::now()), |progress| progress.is_over.then_some(())).is_some()
    }

    /// Asks all processes to end, and kills those that do not. Takes at most about a second, and three seconds more if
    /// some cannot be killed.
    pub fn terminate(&self) {
        self.end(Demand::Terminate, TERMINATE_TIMEOUT);
    }

    /// Kills all processes. Usually takes milliseconds, and at most three seconds if some cannot be killed.
    pub fn kill(&self) {
        self.end(Demand::Kill, KILL_TIMEOUT);
    }

    /// Demands that the reaper kill all processes, and does not wait for it.
    pub fn request_kill(&self) {
        self.demand(Demand::Kill);
    }

    fn end(&self, demand: Demand, timeout: Duration) {
        self.progress.lock().has_unkillable = false;
        self.demand(demand);
        let deadline = Some(Instant::now() + timeout);
        let has_result = |progress: &Progress| progress.is_over || progress.has_unkillable;
        if self.wait_until(deadline, |progress| has_result(progress).then_some(())).is_none() {
            // A program can stop or block its reaper. The keeper ends the descendants of a killed reaper.
            tracing::warn!(
                pid = self.pid,
                "a command's processes are ended without its reaper, which does not answer"
            );
            if let Some(reaper) = rustix::process::Pid::from_raw(self.reaper) {
                let _ = rustix::process::kill_process(reaper, rustix::process::Signal::KILL);
            }
            let deadline = Some(Instant::now() + KILL_TIMEOUT);
            self.wait_until(deadline, |progress| progress.is_over.then_some(()));
        } else if !self.progress.lock().is_over {
            tracing::warn!(pid = self.pid, "some processes of a command could not be ended");
        }
    }

    /// Sends a demand. If the reaper is gone, no process is left to end.
    fn demand(&self, demand: Demand) {
        let _ = (&self.socket).write(&[demand as u8]);
    }

    /// Waits until `answer` returns a value, or until the deadline, without which it waits indefinitely. One of the
    /// waiting threads reads the socket.
    fn wait_until<T>(
        &self,
        deadline: Option<Instant>,
        mut answer: impl FnMut(&Progress) -> Option<T>,
    ) -> Option<T> {
        let mut progress = self.progress.lock();
        if !progress.has_reader {
            self.read(&mut progress);
        }
        loop {
            if let Some(answer) = answer(&progress) {
                return Some(answer);
            }
            let time_left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if time_left.is_some_and(|time_left| time_left.is_zero())
                || (progress.is_over && !progress.has_reader)
            {
                return None;
            }
            if progress.has_reader {
                match time_left {
                    Some(time_left) => drop(self.changed.wait_for(&mut progress, time_left)),
                    None => self.changed.wait(&mut progress),
                }
                continue;
            }
            progress.has_reader = true;
            MutexGuard::unlocked(&mut progress, || {
                super::client::wait_readable(self.socket.as_fd(), time_left)
            });
            progress.has_reader = false;
            self.read(&mut progress);
            self.changed.notify_all();
        }
    }

    /// Reads the available reports.
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
                // The reaper ended without the report that no process is left.
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
