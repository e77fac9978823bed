//! Which sessions work and which wait, as the list tells it, and what else runs.

use octo_protocol::{ActivityId, ActivityRow, SessionId, SessionInfo, SessionStatus, Source};
use std::collections::{BTreeMap, BTreeSet};

/// How much is going on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Sessions whose turn runs, commands in the background, and runs of tasks that have not begun.
    pub running: usize,
    /// Sessions that wait for the person.
    pub waiting: usize,
    /// Missed runs of tasks that wait for the person: there is nothing of them to stop.
    pub asking: usize,
}

impl Work {
    /// Whether nothing is going on.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Self::default()
    }

    /// What waits for the person.
    #[must_use]
    pub fn for_person(self) -> usize {
        self.waiting.saturating_add(self.asking)
    }

    /// Whether there is something that can be stopped.
    #[must_use]
    pub fn can_stop(self) -> bool {
        self.running > 0 || self.waiting > 0
    }
}

/// The sessions that are busy. Those at rest are not held: there may be ten thousand.
#[derive(Clone, Debug, Default)]
pub struct Census {
    busy: BTreeMap<SessionId, SessionStatus>,
    /// Commands in the background and runs that have not begun.
    others: usize,
    /// The sessions whose turns are known to run, in this process or beside it.
    told: BTreeSet<SessionId>,
    /// Those among them that run in this process.
    here: BTreeSet<SessionId>,
}

impl Census {
    /// Begins anew from the list of sessions.
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

    /// Takes what runs. Its sessions are counted as the list has them, at once and wherever they run; a
    /// sub-agent is part of its session.
    pub fn take_activity(&mut self, rows: &[ActivityRow]) {
        let is_other = |row: &&ActivityRow| match row.id {
            ActivityId::Command { .. } => true,
            ActivityId::Task { .. } => row.session.is_none(),
            ActivityId::Session { .. } | ActivityId::SubAgent { .. } => false,
        };
        self.others = rows.iter().filter(is_other).count();
        let turns = || rows.iter().filter(|row| !matches!(row.id, ActivityId::Command { .. }));
        self.told = turns().filter_map(|row| row.session).collect();
        self.here = turns().filter(|row| row.process.is_none()).filter_map(|row| row.session).collect();
    }

    /// How much is going on, apart from what asks.
    #[must_use]
    pub fn work(&self) -> Work {
        let count = |status| self.busy.values().filter(|busy| **busy == status).count();
        Work {
            running: count(SessionStatus::Running).saturating_add(self.others),
            waiting: count(SessionStatus::Waiting),
            asking: 0,
        }
    }

    /// Whether a session is busy.
    #[must_use]
    pub fn is_busy(&self, session: SessionId) -> bool {
        self.busy.contains_key(&session)
    }

    /// Whether a session's turn is known to run in this process.
    #[must_use]
    pub fn is_here(&self, session: SessionId) -> bool {
        self.here.contains(&session)
    }

    /// The sessions that are busy although nothing of them is known to run: one that waits since an earlier start.
    #[must_use]
    pub fn busy_unseen(&self) -> Vec<SessionId> {
        self.busy.keys().filter(|session| !self.told.contains(session)).copied().collect()
    }

    /// The sessions that are busy, oldest first.
    #[must_use]
    pub fn busy(&self) -> Vec<SessionId> {
        self.busy.keys().copied().collect()
    }
}
