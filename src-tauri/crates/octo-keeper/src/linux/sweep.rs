//! Ends all descendants of this process.

use super::system;
use crate::process_table::{self, Process};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use rustix::process::{WaitOptions, WaitStatus, wait};
use std::{
    collections::{BTreeMap, BTreeSet},
    thread,
    time::{Duration, Instant},
};

/// Maximum time spent on stopping processes before they are killed.
const FREEZE_TIMEOUT: Duration = Duration::from_millis(500);

/// Maximum time to wait for killed processes.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// The first pause between two scans; later ones are longer.
const FIRST_PAUSE: Duration = Duration::from_millis(1);

/// The longest pause between two scans.
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// The children that have ended.
#[derive(Debug, Default)]
pub(crate) struct EndedChildren {
    /// The process ID and the status of each.
    pub(crate) ends: Vec<(i32, WaitStatus)>,
    /// Whether this process has no more children.
    pub(crate) childless: bool,
}

impl EndedChildren {
    /// Collects the children that have ended, without waiting for others.
    pub(crate) fn collect(&mut self) {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => self.ends.push((pid.as_raw_nonzero().get(), status)),
                Ok(None) => return,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => {
                    self.childless = true;
                    return;
                }
            }
        }
    }
}

/// Returns the living descendants of this process, without those in `spared` and their descendants.
pub(crate) fn descendants(spared: &BTreeSet<i32>) -> Vec<Process> {
    let mut children: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
    for process in process_table::list() {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = Vec::new();
    let mut parents = vec![system::own_pid()];
    while let Some(parent) = parents.pop() {
        for process in children.remove(&parent).unwrap_or_default() {
            if !spared.contains(&process.pid) {
                parents.push(process.pid);
                found.push(process);
            }
        }
    }
    found.retain(|process| !matches!(process.state, 'Z' | 'X'));
    found
}

/// Sends a signal to processes. A process that has ended since it was listed remains a zombie until this process
/// collects it or one of its ancestors, so its ID does not belong to another process.
pub(crate) fn signal(processes: &[Process], signal: Signal) {
    for process in processes {
        // The call fails for a process of another user, which a program with more rights started.
        let _ = kill(Pid::from_raw(process.pid), signal);
    }
}

/// Ends all descendants except those in `spared` and their descendants, and collects the ended children. Returns the
/// number of processes that could not be ended. Usually takes milliseconds, and at most about two and a half seconds.
pub(crate) fn end_all(spared: &BTreeSet<i32>, ended: &mut EndedChildren) -> usize {
    freeze(spared);
    let deadline = Instant::now() + KILL_TIMEOUT;
    let mut pause = FIRST_PAUSE;
    loop {
        let alive = descendants(spared);
        signal(&alive, Signal::SIGKILL);
        ended.collect();
        if ended.childless || (alive.is_empty() && !spared.is_empty()) {
            return 0;
        }
        if Instant::now() >= deadline {
            return alive.len().max(1);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Stops descendants until no new one appears, so that none starts another while it is being killed.
fn freeze(spared: &BTreeSet<i32>) {
    let mut stopped = BTreeSet::new();
    let deadline = Instant::now() + FREEZE_TIMEOUT;
    while Instant::now() < deadline {
        let new: Vec<Process> = descendants(spared)
            .into_iter()
            .filter(|process| stopped.insert((process.pid, process.started)))
            .collect();
        if new.is_empty() {
            return;
        }
        signal(&new, Signal::SIGSTOP);
    }
}
