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

/// How long to look for processes that still start others. Stopped ones do not.
const FREEZE_TIME: Duration = Duration::from_millis(500);

/// How long to wait for killed processes.
const KILL_TIME: Duration = Duration::from_secs(2);

/// The first pause between two looks; later ones are longer.
const FIRST_PAUSE: Duration = Duration::from_millis(1);

/// The longest pause between two looks.
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// The children that have ended.
#[derive(Debug, Default)]
pub(crate) struct EndedChildren {
    /// Their numbers and ends.
    pub(crate) ends: Vec<(i32, WaitStatus)>,
    /// Whether the process has no child any more.
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

/// Returns the living descendants of this process, without those in `spared` and theirs.
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

/// Sends a signal to processes. One that has ended since it was listed is still a zombie, as long as this
/// process has not collected it or an ancestor of its, so the number is not another process's.
pub(crate) fn signal(processes: &[Process], signal: Signal) {
    for process in processes {
        // A process of another user, started by a program with more rights, refuses.
        let _ = kill(Pid::from_raw(process.pid), signal);
    }
}

/// Ends all descendants but those in `spared` and theirs, and collects the ended children. Returns the number
/// of those that could not be ended; takes a moment, and at most about two and a half seconds.
pub(crate) fn end_all(spared: &BTreeSet<i32>, ended: &mut EndedChildren) -> usize {
    freeze(spared);
    let deadline = Instant::now() + KILL_TIME;
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
    let deadline = Instant::now() + FREEZE_TIME;
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
