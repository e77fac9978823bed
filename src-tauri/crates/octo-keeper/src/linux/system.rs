//! The system calls that no safe function offers.

use nix::{
    libc,
    sys::{
        signal::{SigSet, Signal},
        signalfd::{SfdFlags, SignalFd},
    },
    unistd::{ForkResult, Pid, fork},
};
use std::{
    fs, io,
    net::{Ipv4Addr, UdpSocket},
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::process::CommandExt,
    },
    process::Command,
};

/// Forks this process, in which only the calling thread may run code of Octo's. The child runs `work` and exits with
/// the status it returns.
///
/// No destructor and no exit handler of the parent runs in the child.
#[expect(unsafe_code, reason = "forking without a new executable is what makes a reaper cheap")]
pub(crate) fn fork_child(work: impl FnOnce() -> i32) -> io::Result<i32> {
    // SAFETY: threads that libraries start before `main` wait and hold no lock of the standard library, and the
    // C library keeps its own locks usable in the child.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => Ok(child.as_raw()),
        ForkResult::Child => {
            let status = work();
            // SAFETY: the call ends the process and does not return.
            unsafe { libc::_exit(status) }
        }
    }
}

/// Ignores the signals that ask a process to end. To block them would not suffice, because a library's thread would
/// receive them.
#[expect(unsafe_code, reason = "a handler could be unsafe; ignoring a signal is not")]
pub(crate) fn ignore_requests_to_end() {
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGPIPE] {
        // SAFETY: no handler is installed.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Marks the descriptors that this process inherited, so that they are closed in the programs it starts.
#[expect(unsafe_code, reason = "no safe function changes descriptors that have no owner")]
pub(crate) fn close_inherited_in_programs() {
    // SAFETY: setting the flag closes nothing in this process.
    let done = unsafe { libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if done == 0 {
        return;
    }
    // Before Linux 5.11.
    let entries = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    for number in entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()) {
        if number > 2 {
            // SAFETY: as above; the folder's own descriptor has the flag already.
            unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
}

/// Resets the handling of each signal to the system's default. Octo may have been started with ignored signals, and a
/// process that ignores `SIGCHLD` cannot wait for its children.
#[expect(unsafe_code, reason = "a handler could be unsafe; the system's default is not")]
pub(crate) fn reset_signals() {
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: no handler is installed. The kernel refuses the two signals that cannot be changed.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Blocks all signals that can be blocked, and returns a descriptor that is readable when a child has ended.
pub(crate) fn block_signals() -> io::Result<SignalFd> {
    SigSet::all().thread_block()?;
    let mut children = SigSet::empty();
    children.add(Signal::SIGCHLD);
    Ok(SignalFd::with_flags(&children, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?)
}

/// Makes a command call `prepare` in its new process, right before the new executable runs.
#[expect(unsafe_code, reason = "a new session and its confinement can only be set up there")]
pub(crate) fn prepare(
    command: &mut Command,
    mut prepare: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) {
    let prepare = move || {
        reset_signals();
        SigSet::empty().thread_set_mask()?;
        prepare()
    };
    // SAFETY: the starting process has one thread, so the new process may run any code.
    unsafe { command.pre_exec(prepare) };
}

/// Moves this process, which must have a single thread, into a new user namespace and a network namespace that belongs
/// to it.
#[expect(unsafe_code, reason = "no crate that is used here offers it")]
pub(crate) fn enter_new_network() -> io::Result<()> {
    // SAFETY: the call changes the process's namespaces and touches no memory.
    check(unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET) })
}

/// Moves this process, which must have a single thread, into a user namespace and a network namespace that belongs to
/// it, and gives up the rights it gets in them, for good.
#[expect(unsafe_code, reason = "no crate that is used here offers it")]
pub(crate) fn enter_network(user: &OwnedFd, network: &OwnedFd) -> io::Result<()> {
    for (namespace, kind) in [(user, libc::CLONE_NEWUSER), (network, libc::CLONE_NEWNET)] {
        // SAFETY: the descriptor is open, and the call touches no memory.
        check(unsafe { libc::setns(namespace.as_raw_fd(), kind) })?;
    }
    let header = CapabilityHeader { version: CAPABILITY_VERSION, pid: 0 };
    let none = [CapabilitySet::default(); 2];
    // SAFETY: both point to values of the layout that this version of the call has.
    let done = unsafe { libc::syscall(libc::SYS_capset, &raw const header, &raw const none) };
    check(libc::c_int::try_from(done).unwrap_or(-1))?;
    // No executable brings them back, not even for the user `root`.
    Ok(nix::sys::prctl::set_no_new_privs()?)
}

/// The version of `capset` with sets of 64 bits, from `linux/capability.h`.
const CAPABILITY_VERSION: u32 = 0x2008_0522;

/// The header of `capset`, from `linux/capability.h`.
#[repr(C)]
struct CapabilityHeader {
    version: u32,
    /// Zero is the calling process.
    pid: i32,
}

/// Half of a process's capabilities, from `linux/capability.h`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct CapabilitySet {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Starts the loopback interface of this process's network namespace.
#[expect(unsafe_code, reason = "no safe function sets the flags of an interface")]
pub(crate) fn start_loopback() -> io::Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    // SAFETY: zeroes are a valid value of each of its fields.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (target, byte) in request.ifr_name.iter_mut().zip(b"lo") {
        *target = libc::c_char::from_ne_bytes([*byte]);
    }
    request.ifr_ifru.ifru_flags = i16::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or_default();
    // SAFETY: the call reads a value of the type it expects.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) })
}

/// Returns the error of a system call that failed.
fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Returns the ID of this process.
pub(crate) fn own_pid() -> i32 {
    Pid::this().as_raw()
}
