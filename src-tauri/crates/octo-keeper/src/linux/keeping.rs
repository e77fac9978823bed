//! The keeper's process: it forks a reaper for each program, and ends the descendants of killed reapers.

use super::{
    network, reaper,
    sweep::{self, EndedChildren},
    system,
    wire::{self, MAX_DESCRIPTORS, NETWORK_DESCRIPTORS, PROGRAM_DESCRIPTORS},
};
use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::signalfd::SignalFd,
};
use rustix::{
    fs::{Mode, OFlags, open},
    io::{DupFlags, dup3},
    net::{RecvAncillaryBuffer, RecvFlags, recvmsg},
    process::{Pid, PidfdFlags, getpid, pidfd_open, set_child_subreaper, setsid},
    stdio::dup2_stdin,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, OwnedFd},
    process::ExitCode,
};

/// The state of the keeper's process.
struct KeeperProcess {
    /// The socket to Octo.
    control: OwnedFd,
    /// A descriptor for the reapers, which is readable when a child has ended.
    signals: SignalFd,
    /// The uncollected reapers and makers of namespaces by process ID, each with a descriptor that is readable when it
    /// has ended (from Linux 5.3). A signal would not suffice, because a thread that a library started before `main`
    /// could receive it.
    reapers: BTreeMap<i32, Option<OwnedFd>>,
}

/// A packet from Octo.
enum Packet {
    /// The descriptors of a new reaper.
    Program(ProgramDescriptors),
    /// The socket over which a new network namespace is sent.
    Network(OwnedFd),
    /// Anything else.
    Unknown,
    /// Octo is gone.
    Closed,
}

/// The descriptors of a program to start.
pub(super) struct ProgramDescriptors {
    /// The socket to Octo.
    pub(super) socket: OwnedFd,
    /// The program's standard streams.
    pub(super) streams: [OwnedFd; 3],
    /// Its network namespace: the user namespace and the network namespace.
    pub(super) network: Option<[OwnedFd; NETWORK_DESCRIPTORS]>,
}

/// Runs as the keeper until Octo closes the socket, which is the standard input. Then ends all processes. The process
/// must have a single thread.
pub fn serve() -> ExitCode {
    match KeeperProcess::set_up() {
        Ok(mut keeper) => {
            keeper.run();
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::from(2),
    }
}

impl KeeperProcess {
    fn set_up() -> io::Result<Self> {
        system::close_inherited_in_programs();
        system::reset_signals();
        system::ignore_requests_to_end();
        let signals = system::block_signals()?;
        set_child_subreaper(Some(getpid()))?;
        // It fails for the leader of a group, which has no controlling terminal anyway.
        let _ = setsid();
        let control = io::stdin().as_fd().try_clone_to_owned()?;
        dup2_stdin(open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)?;
        Ok(Self { control, signals, reapers: BTreeMap::new() })
    }

    fn run(&mut self) {
        loop {
            let watch = |descriptor| PollFd::new(descriptor, PollFlags::POLLIN);
            let mut watched = vec![watch(self.control.as_fd())];
            watched.extend(self.reapers.values().flatten().map(|reaper| watch(reaper.as_fd())));
            if poll(&mut watched, PollTimeout::NONE).is_err() {
                continue;
            }
            let mut ready = watched.iter().map(|one| one.any().unwrap_or(true));
            let has_packet = ready.next().unwrap_or(true);
            if ready.any(|ended| ended) {
                self.collect();
            }
            if !has_packet {
                continue;
            }
            match receive(&self.control) {
                Ok(Packet::Program(descriptors)) => {
                    self.fork(|signals| reaper::serve(descriptors, signals));
                }
                Ok(Packet::Network(socket)) => self.fork(|_| network::serve(socket)),
                Ok(Packet::Unknown) => {}
                Ok(Packet::Closed) | Err(_) => break,
            }
        }
        // Reapers notice the end of Octo themselves, except for a stopped one.
        sweep::end_all(&BTreeSet::new(), &mut EndedChildren::default());
    }

    /// Forks a process that does this work: a reaper, or one that makes a network namespace.
    fn fork(&mut self, work: impl FnOnce(&SignalFd) -> i32) {
        let forked = system::fork_child(|| {
            // It has no use for the socket to Octo.
            self.reapers.clear();
            if dup3(io::stdin(), &mut self.control, DupFlags::CLOEXEC).is_err() {
                return reaper::FAILED;
            }
            work(&self.signals)
        });
        // If the fork fails, the process's socket closes, which tells Octo so.
        let Some(process) = forked.ok().and_then(Pid::from_raw) else { return };
        let end = pidfd_open(process, PidfdFlags::empty()).ok();
        self.reapers.insert(process.as_raw_nonzero().get(), end);
    }

    /// Collects ended children, and ends the descendants of killed reapers, which the keeper has adopted.
    fn collect(&mut self) {
        let mut ended = EndedChildren::default();
        ended.collect();
        loop {
            let mut has_killed_reaper = false;
            for (pid, status) in ended.ends.drain(..) {
                has_killed_reaper |= self.reapers.remove(&pid).is_some() && status.signaled();
            }
            if !has_killed_reaper {
                return;
            }
            let alive = self.reapers.keys().copied().collect();
            sweep::end_all(&alive, &mut ended);
        }
    }
}

fn receive(control: &OwnedFd) -> io::Result<Packet> {
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(&mut byte)];
    let received = recvmsg(control, &mut parts, &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    if received.bytes == 0 {
        return Ok(Packet::Closed);
    }
    let descriptors = wire::take_descriptors(&mut ancillary);
    Ok(packet(descriptors).unwrap_or(Packet::Unknown))
}

/// Returns the packet with these descriptors, if there is one.
fn packet(descriptors: Vec<OwnedFd>) -> Option<Packet> {
    let count = descriptors.len();
    let mut descriptors = descriptors.into_iter();
    let socket = descriptors.next()?;
    if count == 1 {
        return Some(Packet::Network(socket));
    }
    let streams = [descriptors.next()?, descriptors.next()?, descriptors.next()?];
    let network = match count {
        PROGRAM_DESCRIPTORS => None,
        MAX_DESCRIPTORS => Some([descriptors.next()?, descriptors.next()?]),
        _ => return None,
    };
    Some(Packet::Program(ProgramDescriptors { socket, streams, network }))
}
