//! The system calls that no safe function offers.

use nix::{
    libc,
    sys::{
        signal::{SigSet, Signal},
        signalfd::{SfdFlags, SignalFd},
    },
    unistd::{ForkResult, Pid, fork},
};
use std::{fs, io, os::unix::process::CommandExt, process::Command};

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

/// Returns the ID of this process.
pub(crate) fn own_pid() -> i32 {
    Pid::this().as_raw()
}
