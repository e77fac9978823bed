//! How many turns work at once: each that works has a place, and what comes beyond the limit waits in a line.
//!
//! The line goes by when a turn began, which its id tells. So what began first gets a place first, a turn that comes
//! back from waiting for the person stands where it stood, and after a restart the order is what it was: a turn that
//! waits here is stored as begun, and whoever goes on with it asks for a place anew.
//!
//! Nothing of it reaches a model: a turn without a place only asks later.

use crate::change::Change;
use octo_protocol::TurnId;
use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

/// The places of this process. Clones are one.
#[derive(Clone)]
pub(crate) struct Admission {
    hall: Arc<Mutex<Hall>>,
    change: Change,
}

/// A turn's place, or its wait for one. Dropped, it is given up.
pub(crate) struct Ticket {
    turn: TurnId,
    admission: Admission,
}

/// How many places are taken, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    pub taken: usize,
    pub limit: usize,
}

/// Tells a turn that it has a place.
type Bell = Box<dyn FnOnce() + Send>;

struct Hall {
    line: Line,
    bells: HashMap<TurnId, Bell>,
}

/// Who has a place and who waits: pure.
#[derive(Debug)]
struct Line {
    door: Door,
    limit: usize,
    inside: BTreeSet<TurnId>,
    waiting: BTreeSet<TurnId>,
}

/// Whether anybody is let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Door {
    /// Turns that were left open gather: the one that began first is to be first again.
    Gathering,
    Open,
    /// Octo ends: what begins now would be paid for in vain.
    Closed,
}

impl Admission {
    /// Nobody is let in before [`Admission::open`].
    pub fn new(limit: u32, change: Change) -> Self {
        let line = Line {
            door: Door::Gathering,
            limit: places(limit),
            inside: BTreeSet::new(),
            waiting: BTreeSet::new(),
        };
        Self { hall: Arc::new(Mutex::new(Hall { line, bells: HashMap::new() })), change }
    }

    /// Asks for a place for a turn. Where there is none now the bell rings once there is.
    pub fn ask(&self, turn: TurnId, bell: impl FnOnce() + Send + 'static) -> Ticket {
        self.with(|hall| {
            hall.line.waiting.insert(turn);
            hall.bells.insert(turn, Box::new(bell));
            let mut admitted = hall.line.admit();
            // Whoever asks sees it by itself.
            if admitted.contains(&turn) {
                hall.bells.remove(&turn);
                admitted.retain(|other| *other != turn);
            }
            admitted
        });
        Ticket { turn, admission: self.clone() }
    }

    /// Lets turns in from now on.
    pub fn open(&self) {
        self.with(|hall| {
            hall.line.door = Door::Open;
            hall.line.admit()
        });
    }

    /// Lets no turn in any more.
    pub fn close(&self) {
        self.with(|hall| {
            hall.line.door = Door::Closed;
            Vec::new()
        });
    }

    /// The limit changed. Turns that have a place keep it.
    pub fn set_limit(&self, limit: u32) {
        self.with(|hall| {
            hall.line.limit = places(limit);
            hall.line.admit()
        });
    }

    /// How many turns get a place before this one; none for one that does not wait.
    pub fn ahead(&self, turn: TurnId) -> Option<u32> {
        self.look(|line| line.ahead(turn))
    }

    pub fn places(&self) -> Places {
        self.look(|line| Places { taken: line.inside.len(), limit: line.limit })
    }

    fn look<T>(&self, look: impl FnOnce(&Line) -> T) -> T {
        look(&self.hall.lock().unwrap_or_else(PoisonError::into_inner).line)
    }

    /// Does something with the hall, and rings for those it admits.
    fn with(&self, act: impl FnOnce(&mut Hall) -> Vec<TurnId>) {
        let bells: Vec<Bell> = {
            let mut hall = self.hall.lock().unwrap_or_else(PoisonError::into_inner);
            let admitted = act(&mut hall);
            admitted.into_iter().filter_map(|turn| hall.bells.remove(&turn)).collect()
        };
        self.change.tell();
        for bell in bells {
            bell();
        }
    }
}

impl Ticket {
    /// Whether the turn has its place.
    pub fn is_admitted(&self) -> bool {
        self.admission.look(|line| line.inside.contains(&self.turn))
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.admission.with(|hall| {
            hall.bells.remove(&self.turn);
            hall.line.leave(self.turn);
            hall.line.admit()
        });
    }
}

impl Line {
    fn leave(&mut self, turn: TurnId) {
        self.inside.remove(&turn);
        self.waiting.remove(&turn);
    }

    /// Lets in as many as there are places for; who that is.
    fn admit(&mut self) -> Vec<TurnId> {
        let mut admitted = Vec::new();
        while self.door == Door::Open
            && self.inside.len() < self.limit
            && let Some(next) = self.waiting.pop_first()
        {
            self.inside.insert(next);
            admitted.push(next);
        }
        admitted
    }

    fn ahead(&self, turn: TurnId) -> Option<u32> {
        let ahead = self.waiting.contains(&turn).then(|| self.waiting.range(..turn).count())?;
        Some(u32::try_from(ahead).unwrap_or(u32::MAX))
    }
}

fn places(limit: u32) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
