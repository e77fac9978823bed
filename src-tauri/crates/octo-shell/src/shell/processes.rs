//! The processes of a command: its terminal's whole session, and their descendants. A process that started its
//! own session and whose parent has ended is not found: a program that intends to outlive its caller can.

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{
    collections::BTreeSet,
    thread,
    time::{Duration, Instant},
};

/// How long processes have between the request to end and being killed.
const GRACE_PERIOD: Duration = Duration::from_secs(1);

/// How often to check whether they have ended.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The number of kill rounds: a process may start another one while it is being killed.
const KILL_ROUNDS: u32 = 25;

/// A process as the system lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Process {
    pub pid: i32,
    pub parent: i32,
    pub group: i32,
    pub session: i32,
    pub state: char,
    /// The start time in the system's ticks: with the pid it identifies one process uniquely.
    pub started: u64,
}

/// Returns a process's start time; `None` if it is not listed.
pub(super) fn start_of(pid: u32) -> Option<u64> {
    let pid = i32::try_from(pid).ok()?;
    one(pid).map(|process| process.started)
}

/// Asks a command's processes to end, and kills those that do not. Takes at most about a second and a half.
/// `leader` is the first of them and must either not have been waited for, or be known to no longer be a
/// process.
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

/// Kills processes that an ended command left, if they are still the same.
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
    let mut group: BTreeSet<i32> = processes
        .iter()
        .filter(|process| process.pid == leader || process.session == leader)
        .map(|process| process.pid)
        .collect();
    // A process that started its own session is still its parent's child.
    loop {
        let more: Vec<i32> = processes
            .iter()
            .filter(|process| group.contains(&process.parent) && !group.contains(&process.pid))
            .map(|process| process.pid)
            .collect();
        if more.is_empty() {
            break;
        }
        group.extend(more);
    }
    processes.into_iter().filter(|process| group.contains(&process.pid) && process.state != 'Z').collect()
}

fn signal(processes: &[Process], signal: Signal) {
    for process in processes {
        // It may have ended since it was listed.
        let _ = kill(Pid::from_raw(process.pid), signal);
    }
}

#[cfg(target_os = "linux")]
fn list() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter_map(|pid| parse(pid, &std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?))
        .collect()
}

#[cfg(target_os = "linux")]
fn one(pid: i32) -> Option<Process> {
    parse(pid, &std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

#[cfg(not(target_os = "linux"))]
fn one(pid: i32) -> Option<Process> {
    list().into_iter().find(|process| process.pid == pid)
}

/// Parses a line of `/proc/PID/stat`. The name in parentheses may contain anything, including parentheses.
#[cfg(target_os = "linux")]
fn parse(pid: i32, stat: &str) -> Option<Process> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    let number = |index: usize| fields.get(index)?.parse::<i32>().ok();
    Some(Process {
        pid,
        state: fields.first()?.chars().next()?,
        parent: number(1)?,
        group: number(2)?,
        session: number(3)?,
        started: fields.get(19)?.parse().ok()?,
    })
}

#[cfg(not(target_os = "linux"))]
fn list() -> Vec<Process> {
    let Ok(output) =
        std::process::Command::new("/bin/ps").args(["-axo", "pid=,ppid=,pgid=,stat=,lstart="]).output()
    else {
        return Vec::new();
    };
    String::from_utf8_lossy(&output.stdout).lines().filter_map(parse).collect()
}

#[cfg(not(target_os = "linux"))]
fn parse(line: &str) -> Option<Process> {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut fields = line.split_whitespace();
    let mut number = || fields.next()?.parse::<i32>().ok();
    let (pid, parent, group) = (number()?, number()?, number()?);
    let state = fields.next()?.chars().next()?;
    let session = nix::unistd::getsid(Some(Pid::from_raw(pid))).map_or(-1, Pid::as_raw);
    let mut started = DefaultHasher::new();
    fields.collect::<Vec<_>>().hash(&mut started);
    Some(Process { pid, parent, group, session, state, started: started.finish() })
}

/// The activity of the processes in a terminal's foreground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ForegroundActivity {
    /// One of them reads the terminal without getting input: it certainly waits for the person.
    ReadsTerminal,
    /// All sleep, for an unknown reason.
    Sleeping,
    /// At least one is working.
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

/// Whether a thread of the process is blocked reading the terminal: the call and its descriptor are in
/// `/proc/PID/task/TID/syscall`.
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

/// Always false: this is not visible here; the text of the last line must suffice.
#[cfg(not(target_os = "linux"))]
fn reads_terminal(_pid: i32, _terminal: &str) -> bool {
    false
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn a_process_may_have_any_name() {
        let line = "42 (a) b (c) S 7 8 9 34816 8 4194304 1 2 3 4 5 6 7 8 20 0 1 0 123456 0 0";
        let process = parse(42, line).unwrap();
        assert_eq!(
            process,
            Process { pid: 42, parent: 7, group: 8, session: 9, state: 'S', started: 123_456 }
        );
        assert_eq!(parse(1, "1 (x) S"), None);
    }

    #[test]
    fn this_process_is_listed() {
        let pid = i32::try_from(std::process::id()).unwrap();
        assert!(list().iter().any(|process| process.pid == pid));
    }
}
