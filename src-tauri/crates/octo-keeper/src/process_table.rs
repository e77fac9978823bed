//! The processes of this system.

/// A process as the system lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Process {
    /// Its process ID.
    pub pid: i32,
    /// Its parent's process ID.
    pub parent: i32,
    /// The ID of its process group.
    pub group: i32,
    /// The ID of its session.
    pub session: i32,
    /// Its state, as a letter of `ps`.
    pub state: char,
    /// The start time in the system's ticks. Together with the process ID it identifies one process uniquely.
    pub started: u64,
}

/// Returns a process's start time; `None` if it is not listed.
pub fn start_of(pid: u32) -> Option<u64> {
    let pid = i32::try_from(pid).ok()?;
    find(pid).map(|process| process.started)
}

/// Returns all processes that this user can see.
#[cfg(target_os = "linux")]
pub fn list() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter_map(|pid| parse(pid, &std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?))
        .collect()
}

#[cfg(target_os = "linux")]
fn find(pid: i32) -> Option<Process> {
    parse(pid, &std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

#[cfg(not(target_os = "linux"))]
fn find(pid: i32) -> Option<Process> {
    list().into_iter().find(|process| process.pid == pid)
}

/// Parses a line of `/proc/PID/stat`. The name in parentheses may contain anything, including parentheses.
#[cfg(target_os = "linux")]
fn parse(pid: i32, stat: &str) -> Option<Process> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    let number = |at: usize| fields.get(at)?.parse::<i32>().ok();
    Some(Process {
        pid,
        state: fields.first()?.chars().next()?,
        parent: number(1)?,
        group: number(2)?,
        session: number(3)?,
        started: fields.get(19)?.parse().ok()?,
    })
}

/// Returns all processes that this user can see.
#[cfg(not(target_os = "linux"))]
pub fn list() -> Vec<Process> {
    let Ok(output) =
        std::process::Command::new("/bin/ps").args(["-axo", "pid=,ppid=,pgid=,stat=,lstart="]).output()
    else {
        return Vec::new();
    };
    String::from_utf8_lossy(&output.stdout).lines().filter_map(parse).collect()
}

#[cfg(not(target_os = "linux"))]
fn parse(line: &str) -> Option<Process> {
    use nix::unistd::Pid;
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
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(list().iter().any(|process| process.pid == own));
    }
}
