//! The calls that run because the policy judged them, so that no other call moves what they were judged for.
//!
//! A command that sleeps, or runs in the background, touches its paths later than the policy judged them. Calls of all
//! sessions share one register: a call that would run unasked asks if it could redirect a running call, or a running
//! call could redirect it. Calls that the person allowed are not in the register: they may do without a trick
//! whatever another call could be tricked into.

use crate::Footprint;
use octo_workspace::is_inside;
use parking_lot::Mutex;
use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// The register of running calls. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct RunningCalls(Arc<Register>);

#[derive(Debug, Default)]
struct Register {
    calls: Mutex<Vec<(u64, RunningCall)>>,
    next: AtomicU64,
}

/// A call, for the register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningCall {
    /// The folders it may work in, resolved.
    pub folders: Vec<PathBuf>,
    /// Its command line, or the paths it changes.
    pub description: String,
    /// What it relies on and changes.
    pub footprint: Footprint,
}

/// Keeps a call in the register until it is dropped.
#[derive(Debug)]
pub struct RunningCallEntry {
    register: Arc<Register>,
    number: u64,
}

impl RunningCall {
    fn conflicts_with(&self, other: &Self) -> bool {
        let meets =
            |one: &PathBuf| other.folders.iter().any(|other| is_inside(one, other) || is_inside(other, one));
        self.footprint.conflicts_with(other.footprint) && self.folders.iter().any(meets)
    }
}

impl RunningCalls {
    /// Returns the description of a running call with which this one conflicts.
    pub fn conflict(&self, call: &RunningCall) -> Option<String> {
        find_conflict(&self.0.calls.lock(), call)
    }

    /// Enters a call, unless it conflicts with a running one.
    ///
    /// # Errors
    ///
    /// The description of the running call.
    pub fn enter(&self, call: RunningCall) -> Result<RunningCallEntry, String> {
        let mut calls = self.0.calls.lock();
        if let Some(other) = find_conflict(&calls, &call) {
            return Err(other);
        }
        let number = self.0.next.fetch_add(1, Ordering::Relaxed);
        calls.push((number, call));
        drop(calls);
        Ok(RunningCallEntry { register: Arc::clone(&self.0), number })
    }
}

fn find_conflict(calls: &[(u64, RunningCall)], call: &RunningCall) -> Option<String> {
    calls.iter().find(|(_, other)| other.conflicts_with(call)).map(|(_, other)| other.description.clone())
}

impl Drop for RunningCallEntry {
    fn drop(&mut self) {
        self.register.calls.lock().retain(|(number, _)| *number != self.number);
    }
}
