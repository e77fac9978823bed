//! A reaper: the process that starts one program, adopts its orphaned descendants, and ends all of them.

use super::{
    keeping::ProgramDescriptors,
    sweep::{self, EndedChildren},
    system,
    wire::{Demand, Description, NETWORK_DESCRIPTORS, Report},
};
use crate::grants;
use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::{signal::Signal, signalfd::SignalFd},
};
use rustix::process::{getpid, ioctl_tiocsctty, set_child_subreaper, setsid};
use std::{
    collections::BTreeSet,
    io::{self, Read, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// The exit status of a reaper without remaining processes.
const SUCCEEDED: i32 = 0;
/// The exit status of a reaper that could not do its work.
pub(super) const FAILED: i32 = 2;

/// The time between the request to end and the kill.
const GRACE_PERIOD: Duration = Duration::from_secs(1);

/// The error number reported if a confinement fails without an error of the system.
const NO_ERROR_NUMBER: i32 = 0;

/// A reaper whose program runs or has run.
struct Reaper<'a> {
    socket: UnixStream,
    signals: &'a SignalFd,
    /// The program, until its end is reported.
    program: Option<i32>,
    /// The time at which processes that were asked to end are killed; `None` if none was asked.
    deadline: Option<Instant>,
}

/// Why a program was not started.
struct StartFailure(Report);

/// Runs as a reaper until no process is left. Returns the exit status.
pub(super) fn serve(descriptors: ProgramDescriptors, signals: &SignalFd) -> i32 {
    let ProgramDescriptors { socket, streams, network } = descriptors;
    let mut socket = UnixStream::from(socket);
    let started = set_child_subreaper(Some(getpid())).map_err(io::Error::from).and_then(|()| {
        let reaper = system::own_pid();
        socket.write_all(&Report::Ready { reaper }.encode())?;
        Description::read(&socket)
    });
    // Octo is gone or broken.
    let Ok(description) = started else { return FAILED };
    match start(description, streams, network) {
        Ok(pid) => {
            // No other code collects the child, so the process table lists it even if it has ended.
            let started = crate::process_table::start_of(pid).unwrap_or(0);
            // If the report fails, Octo is gone, and the closed socket tells the loop so.
            let _ = socket.write_all(&Report::Started { pid, started }.encode());
            Reaper { socket, signals, program: i32::try_from(pid).ok(), deadline: None }.run()
        }
        Err(StartFailure(report)) => {
            let _ = socket.write_all(&report.encode());
            FAILED
        }
    }
}

/// Starts the program, confined, in a session of its own and in its network namespace.
fn start(
    description: Description,
    [input, output, errors]: [OwnedFd; 3],
    network: Option<[OwnedFd; NETWORK_DESCRIPTORS]>,
) -> Result<u32, StartFailure> {
    let number = |error: &io::Error| error.raw_os_error().unwrap_or(NO_ERROR_NUMBER);
    let Description { program, arguments, environment, folder, grants, has_terminal } = description;
    let not_confined = |error: io::Error| StartFailure(Report::NotConfined { error: number(&error) });
    let mut ruleset = match &grants {
        // A caller that asks for confinement has found it available.
        Some(grants) => Some(
            grants::ruleset(grants)
                .and_then(|ruleset| ruleset.ok_or(io::ErrorKind::Unsupported.into()))
                .map_err(not_confined)?,
        ),
        None => None,
    };
    let mut command = Command::new(&program);
    command.args(arguments).env_clear().envs(environment).current_dir(folder);
    command.stdin(Stdio::from(input)).stdout(Stdio::from(output)).stderr(Stdio::from(errors));
    system::prepare(&mut command, move || {
        setsid()?;
        if has_terminal {
            ioctl_tiocsctty(io::stdin())?;
        }
        if let Some([user, network]) = &network {
            system::enter_network(user, network)?;
        }
        if let Some(ruleset) = ruleset.take() {
            grants::restrict(ruleset).map_err(|_| io::Error::from(io::ErrorKind::PermissionDenied))?;
        }
        Ok(())
    });
    match command.spawn() {
        Ok(child) => Ok(child.id()),
        Err(error) => Err(StartFailure(Report::NotStarted { error: number(&error) })),
    }
}

impl Reaper<'_> {
    fn run(mut self) -> i32 {
        loop {
            let [has_demand, has_ended_child] = self.wait();
            let mut kill = false;
            let mut is_octo_gone = false;
            if has_ended_child {
                while let Ok(Some(_)) = self.signals.read_signal() {}
                let mut children = EndedChildren::default();
                children.collect();
                if self.report_ends(&children) {
                    return SUCCEEDED;
                }
            }
            if has_demand {
                match self.receive() {
                    Some(Demand::Terminate) => self.terminate(),
                    Some(Demand::Kill) => kill = true,
                    None => (kill, is_octo_gone) = (true, true),
                }
            }
            kill |= self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if kill {
                self.deadline = None;
                let mut children = EndedChildren::default();
                let unkillable = sweep::end_all(&BTreeSet::new(), &mut children);
                if self.report_ends(&children) {
                    return SUCCEEDED;
                }
                // The reaper continues unless Octo is gone, because these processes may end on their own.
                self.report(Report::Unkillable { count: u64::try_from(unkillable).unwrap_or(u64::MAX) });
                if is_octo_gone {
                    return FAILED;
                }
            }
        }
    }

    /// Waits for a demand, ended children, or the deadline. Returns whether there is a demand, and whether a child has
    /// ended.
    fn wait(&self) -> [bool; 2] {
        let timeout = match self.deadline {
            // Adds a millisecond, because timeouts are rounded down.
            Some(deadline) => {
                let time_left = deadline.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
                PollTimeout::try_from(time_left).unwrap_or(PollTimeout::MAX)
            }
            None => PollTimeout::NONE,
        };
        let mut watched = [
            PollFd::new(self.socket.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
        ];
        // After an interruption no descriptor is ready.
        let ready = poll(&mut watched, timeout).is_ok_and(|ready| ready > 0);
        watched.map(|one| ready && one.any().unwrap_or(true))
    }

    /// Returns the next demand, or `None` if Octo is gone.
    fn receive(&mut self) -> Option<Demand> {
        let mut byte = [0];
        match self.socket.read(&mut byte) {
            Ok(1) if byte == [Demand::Terminate as u8] => Some(Demand::Terminate),
            Ok(1) => Some(Demand::Kill),
            _ => None,
        }
    }

    fn terminate(&mut self) {
        let processes = sweep::descendants(&BTreeSet::new());
        sweep::signal(&processes, Signal::SIGTERM);
        // A stopped process receives the signal only when it continues.
        sweep::signal(&processes, Signal::SIGCONT);
        self.deadline.get_or_insert_with(|| Instant::now() + GRACE_PERIOD);
    }

    /// Reports the program's end if it is among the ended children, and whether no process is left. Returns the latter.
    fn report_ends(&mut self, children: &EndedChildren) -> bool {
        for (pid, status) in &children.ends {
            if self.program == Some(*pid) {
                self.program = None;
                self.report(match (status.exit_status(), status.terminating_signal()) {
                    (Some(code), _) => Report::Exited { code },
                    (None, signal) => Report::Signalled { signal: signal.unwrap_or(0) },
                });
            }
        }
        if children.childless {
            self.report(Report::Empty);
        }
        children.childless
    }

    /// Sends a report. If Octo is gone, the write fails, and the closed socket tells the loop so.
    fn report(&mut self, report: Report) {
        let _ = self.socket.write_all(&report.encode());
    }
}
