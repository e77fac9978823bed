//! Which sessions work and which wait, as the list tells it.

use octo_protocol::{SessionId, SessionInfo, SessionStatus, Source};
use std::collections::BTreeMap;

/// How much is going on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Sessions whose turn runs.
    pub running: usize,
    /// Sessions that wait for the person.
    pub waiting: usize,
}

impl Work {
    /// Whether nothing is going on.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Self::default()
    }
}

/// The sessions that are busy. Those at rest are not held: there may be ten thousand.
#[derive(Clone, Debug, Default)]
pub struct Census {
    busy: BTreeMap<SessionId, SessionStatus>,
}

impl Census {
    /// Begins anew from the list.
    pub fn start_over(&mut self, list: &[SessionInfo]) {
        self.busy.clear();
        for info in list {
            self.note(info);
        }
    }

    /// Notes a line of the list; what the session did before, as far as it was busy.
    pub fn note(&mut self, info: &SessionInfo) -> Option<SessionStatus> {
        match info.status {
            // A sub-agent is part of the session that started it.
            _ if info.source == Source::SubAgent => None,
            SessionStatus::Running | SessionStatus::Waiting => self.busy.insert(info.id, info.status),
            SessionStatus::Idle | SessionStatus::Failed => self.busy.remove(&info.id),
        }
    }

    /// Forgets a session that left the list.
    pub fn forget(&mut self, session: SessionId) {
        self.busy.remove(&session);
    }

    /// How much is going on.
    #[must_use]
    pub fn work(&self) -> Work {
        let count = |status| self.busy.values().filter(|busy| **busy == status).count();
        Work { running: count(SessionStatus::Running), waiting: count(SessionStatus::Waiting) }
    }

    /// The sessions that are busy, oldest first.
    #[must_use]
    pub fn busy(&self) -> Vec<SessionId> {
        self.busy.keys().copied().collect()
    }
}
