//! Finds the processes of a command in the system's process table: the session of its terminal, and the descendants of
//! these processes. A process with its own session whose parent has ended is not found here; a keeper finds it.

#[cfg(target_os = "linux")]
pub(super) use octo_keeper::process_table::start_of;

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use octo_keeper::process_table::{Process, list};
use std::{
    collections::BTreeSet,
    thread,
    time::{Duration, Instant},
};

/// The time between the request to end and the kill.
const GRACE_PERIOD: Duration = Duration::from_secs(1);

/// Interval between two checks whether the processes have ended.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Maximum number of rounds of kills, because a process may start another one while it is being killed.
const KILL_ROUNDS: u32 = 25;

/// Asks a command's processes to end, and kills those that do not. Takes at most about a second and a half.
/// `leader` is the ID of the first process, which must be uncollected or known to belong to no other process.
pub(crate) fn terminate(leader: u32) {
    let first = members(leader);
    signal(&first, Signal::SIGTERM);
    // A stopped process receives the signal only when it continues.
    signal(&first, Signal::SIGCONT);
    let deadline = Instant::now() + GRACE_PERIOD;
    while Instant::now() < deadline {
        if members(leader).is_empty() {
            return;
        }
        thread::sleep(POLL_INTERVAL);
    }
    kill_now(leader);
}

/// Kills a command's processes at once.
pub(crate) fn kill_now(leader: u32) {
    for _ in 0..KILL_ROUNDS {
        let survivors = members(leader);
        if survivors.is_empty() {
            return;
        }
        signal(&survivors, Signal::SIGKILL);
        thread::sleep(POLL_INTERVAL);
    }
    tracing::warn!(leader, "some processes of a command could not be ended");
}

/// Kills processes that outlived their command, unless their IDs now belong to other processes.
pub(super) fn kill_survivors(survivors: &[Process]) {
    let running = list();
    let still_running: Vec<Process> = running
        .into_iter()
        .filter(|process| {
            survivors
                .iter()
                .any(|survivor| (survivor.pid, survivor.started) == (process.pid, process.started))
        })
        .collect();
    signal(&still_running, Signal::SIGKILL);
}

/// Returns a command's living processes.
pub(super) fn members(leader: u32) -> Vec<Process> {
    let Ok(leader) = i32::try_from(leader) else { return Vec::new() };
    let processes = list();
    let mut pids: BTreeSet<i32> = processes
        .iter()
        .filter(|process| process.pid == leader || process.session == leader)
        .map(|process| process.pid)
        .collect();
    // Adds the descendants with sessions of their own.
    loop {
        let children: Vec<i32> = processes
            .iter()
            .filter(|process| pids.contains(&process.parent) && !pids.contains(&process.pid))
            .map(|process| process.pid)
            .collect();
        if children.is_empty() {
            break;
        }
        pids.extend(children);
    }
    processes.into_iter().filter(|process| pids.contains(&process.pid) && process.state != 'Z').collect()
}

fn signal(processes: &[Process], signal: Signal) {
    for process in processes {
        // It may have ended since it was listed.
        let _ = kill(Pid::from_raw(process.pid), signal);
    }
}

/// The activity of the processes in a terminal's foreground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ForegroundActivity {
    /// A process is blocked reading the terminal, so it certainly waits for the person.
    ReadsTerminal,
    /// All processes sleep, for an unknown reason.
    Sleeping,
    /// At least one process is working.
    Working,
}

/// Returns the activity of the processes of group `foreground`. `terminal` is the terminal's name.
pub(super) fn activity(leader: u32, foreground: i32, terminal: &str) -> ForegroundActivity {
    let group: Vec<Process> =
        members(leader).into_iter().filter(|process| process.group == foreground).collect();
    if group.iter().any(|process| reads_terminal(process.pid, terminal)) {
        ForegroundActivity::ReadsTerminal
    } else if group.iter().all(|process| matches!(process.state, 'S' | 'I')) {
        ForegroundActivity::Sleeping
    } else {
        ForegroundActivity::Working
    }
}

/// Returns whether a thread of the process is blocked reading the terminal: `/proc/PID/task/TID/syscall` has the call
/// and its descriptor.
#[cfg(target_os = "linux")]
fn reads_terminal(pid: i32, terminal: &str) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    threads.flatten().any(|thread| {
        let call = std::fs::read_to_string(thread.path().join("syscall")).unwrap_or_default();
        let mut fields = call.split(' ');
        let (Some(number), Some(descriptor)) = (fields.next(), fields.next()) else { return false };
        if number != READ {
            return false;
        }
        let Some(descriptor) =
            descriptor.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok())
        else {
            return false;
        };
        let target = std::fs::read_link(format!("/proc/{pid}/fd/{descriptor}"));
        target.is_ok_and(|target| target.as_os_str() == terminal || target.as_os_str() == "/dev/tty")
    })
}

/// The system call number of `read(2)`.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
const READ: &str = "0";
#[cfg(all(target_os = "linux", not(target_arch = "x86_64")))]
const READ: &str = "63";

/// Returns false, because this system does not show it. The text of the last line must suffice.
#[cfg(not(target_os = "linux"))]
fn reads_terminal(_pid: i32, _terminal: &str) -> bool {
    false
}
