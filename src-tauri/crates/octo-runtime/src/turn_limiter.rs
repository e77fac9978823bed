//! Limits how many turns work at once: a working turn has a permit, further turns wait in a queue.
//!
//! The queue is ordered by the start time of the turns, which is part of their ids. So the turn that started
//! first gets a permit first, a turn that resumes after waiting for the person keeps its position, and the
//! order survives a restart: a waiting turn is stored as begun and asks for a permit again when it resumes.
//!
//! None of this reaches a model: a turn without a permit only sends its request later.

use crate::Change;
use octo_protocol::TurnId;
use parking_lot::Mutex;
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

/// The turn limiter of this process. Clones share it.
#[derive(Clone)]
pub struct TurnLimiter {
    state: Arc<Mutex<LimiterState>>,
    change: Change,
}

/// A turn's permit or its place in the queue for one. Dropping it gives it up.
pub struct Permit {
    turn: TurnId,
    limiter: TurnLimiter,
}

/// Number of permits in use, and the maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermitCount {
    /// Permits in use.
    pub taken: usize,
    /// The maximum.
    pub limit: usize,
}

/// Callback that tells a turn that it has a permit.
type AdmitCallback = Box<dyn FnOnce() + Send>;

struct LimiterState {
    queue: PermitQueue,
    callbacks: HashMap<TurnId, AdmitCallback>,
}

/// The admitted and the waiting turns. Pure.
#[derive(Debug)]
struct PermitQueue {
    mode: LimiterMode,
    limit: usize,
    admitted: BTreeSet<TurnId>,
    waiting: BTreeSet<TurnId>,
}

/// Whether turns are admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LimiterMode {
    /// Startup: interrupted turns are collected first, so that the earliest becomes first again.
    Collecting,
    Open,
    /// Octo is shutting down: a model call begun now would be paid for in vain.
    Closed,
}

impl TurnLimiter {
    /// Creates a limiter that admits no turn before [`TurnLimiter::open`].
    pub fn new(limit: u32, change: Change) -> Self {
        let line = PermitQueue {
            mode: LimiterMode::Collecting,
            limit: permit_count(limit),
            admitted: BTreeSet::new(),
            waiting: BTreeSet::new(),
        };
        Self { state: Arc::new(Mutex::new(LimiterState { queue: line, callbacks: HashMap::new() })), change }
    }

    /// Requests a permit for a turn. If none is free, `on_permit` is called once there is.
    pub fn request_permit(&self, turn: TurnId, on_permit: impl FnOnce() + Send + 'static) -> Permit {
        self.with(|state| {
            state.queue.waiting.insert(turn);
            state.callbacks.insert(turn, Box::new(on_permit));
            let mut turns = state.queue.admit();
            // The caller reads it from the returned ticket.
            if turns.contains(&turn) {
                state.callbacks.remove(&turn);
                turns.retain(|other| *other != turn);
            }
            turns
        });
        Permit { turn, limiter: self.clone() }
    }

    /// Starts admitting turns.
    pub fn open(&self) {
        self.with(|state| {
            state.queue.mode = LimiterMode::Open;
            state.queue.admit()
        });
    }

    /// Stops admitting turns.
    pub fn close(&self) {
        self.with(|state| {
            state.queue.mode = LimiterMode::Closed;
            Vec::new()
        });
    }

    /// Changes the limit. Turns that have a permit keep it.
    pub fn set_limit(&self, limit: u32) {
        self.with(|state| {
            state.queue.limit = permit_count(limit);
            state.queue.admit()
        });
    }

    /// Returns how many turns get a permit before this one, or `None` if it is not waiting.
    pub fn ahead(&self, turn: TurnId) -> Option<u32> {
        self.read(|line| line.ahead(turn))
    }

    /// Returns the number of permits in use, and the maximum.
    pub fn permits(&self) -> PermitCount {
        self.read(|line| PermitCount { taken: line.admitted.len(), limit: line.limit })
    }

    fn read<T>(&self, query: impl FnOnce(&PermitQueue) -> T) -> T {
        query(&self.state.lock().queue)
    }

    /// Changes the limiter, then runs the callbacks of the turns this admits.
    fn with(&self, update: impl FnOnce(&mut LimiterState) -> Vec<TurnId>) {
        let bells: Vec<AdmitCallback> = {
            let mut state = self.state.lock();
            let turns = update(&mut state);
            turns.into_iter().filter_map(|turn| state.callbacks.remove(&turn)).collect()
        };
        self.change.notify();
        for callback in bells {
            callback();
        }
    }
}

impl Permit {
    /// Whether the turn has its permit.
    pub fn is_admitted(&self) -> bool {
        self.limiter.read(|line| line.admitted.contains(&self.turn))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.limiter.with(|state| {
            state.callbacks.remove(&self.turn);
            state.queue.leave(self.turn);
            state.queue.admit()
        });
    }
}

impl PermitQueue {
    fn leave(&mut self, turn: TurnId) {
        self.admitted.remove(&turn);
        self.waiting.remove(&turn);
    }

    /// Admits turns while permits are free and returns them.
    fn admit(&mut self) -> Vec<TurnId> {
        let mut turns = Vec::new();
        while self.mode == LimiterMode::Open
            && self.admitted.len() < self.limit
            && let Some(turn) = self.waiting.pop_first()
        {
            self.admitted.insert(turn);
            turns.push(turn);
        }
        turns
    }

    fn ahead(&self, turn: TurnId) -> Option<u32> {
        let position = self.waiting.contains(&turn).then(|| self.waiting.range(..turn).count())?;
        Some(u32::try_from(position).unwrap_or(u32::MAX))
    }
}

fn permit_count(limit: u32) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
