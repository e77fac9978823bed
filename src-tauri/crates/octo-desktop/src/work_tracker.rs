//! Counts the sessions that work or wait, from the session list, and other running work.

use octo_protocol::{ActivityId, ActivityRow, SessionId, SessionInfo, SessionStatus, Source};
use std::collections::{BTreeMap, BTreeSet};

/// Numbers of items of current work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CurrentWork {
    /// Sessions with a running turn, background commands, and runs of scheduled tasks that have not begun.
    pub running: usize,
    /// Sessions that wait for the person.
    pub waiting: usize,
    /// Missed runs of scheduled tasks that wait for the person: there is nothing to stop.
    pub missed_runs: usize,
}

impl CurrentWork {
    /// Returns whether there is no work.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Self::default()
    }

    /// Returns how much waits for the person.
    #[must_use]
    pub fn waiting_for_person(self) -> usize {
        self.waiting.saturating_add(self.missed_runs)
    }

    /// Returns whether there is something to stop.
    #[must_use]
    pub fn can_stop(self) -> bool {
        self.running > 0 || self.waiting > 0
    }
}

/// The busy sessions. Idle ones are not stored: there may be ten thousand.
#[derive(Clone, Debug, Default)]
pub struct WorkTracker {
    busy: BTreeMap<SessionId, SessionStatus>,
    /// Background commands, and runs that have not begun.
    other_work: usize,
    /// Sessions whose turns are known to run, in this process or another.
    known_running: BTreeSet<SessionId>,
    /// Those that run in this process.
    running_here: BTreeSet<SessionId>,
}

impl WorkTracker {
    /// Starts over from the list of sessions.
    pub fn start_over(&mut self, sessions: &[SessionInfo]) {
        self.busy.clear();
        for info in sessions {
            self.record(info);
        }
    }

    /// Records an entry of the list; returns the session's previous status if it was busy.
    pub fn record(&mut self, info: &SessionInfo) -> Option<SessionStatus> {
        match info.status {
            // A sub-agent is part of the session that started it.
            _ if info.source == Source::SubAgent => None,
            SessionStatus::Running | SessionStatus::Waiting => self.busy.insert(info.id, info.status),
            SessionStatus::Idle | SessionStatus::Failed => self.busy.remove(&info.id),
        }
    }

    /// Forgets a session that was removed from the list.
    pub fn forget(&mut self, session: SessionId) {
        self.busy.remove(&session);
    }

    /// Records the running work. Sessions are already counted from the list, whichever process runs them, so
    /// only commands and runs without a session are counted here. A sub-agent is part of its session.
    pub fn take_activity(&mut self, rows: &[ActivityRow]) {
        let is_other = |row: &&ActivityRow| match row.id {
            ActivityId::Command { .. } => true,
            ActivityId::Task { .. } => row.session.is_none(),
            ActivityId::Session { .. } | ActivityId::SubAgent { .. } => false,
        };
        self.other_work = rows.iter().filter(is_other).count();
        let turns = || rows.iter().filter(|row| !matches!(row.id, ActivityId::Command { .. }));
        self.known_running = turns().filter_map(|row| row.session).collect();
        self.running_here =
            turns().filter(|row| row.process.is_none()).filter_map(|row| row.session).collect();
    }

    /// Returns the current work, excluding missed runs.
    #[must_use]
    pub fn work(&self) -> CurrentWork {
        let count = |status| self.busy.values().filter(|busy| **busy == status).count();
        CurrentWork {
            running: count(SessionStatus::Running).saturating_add(self.other_work),
            waiting: count(SessionStatus::Waiting),
            missed_runs: 0,
        }
    }

    /// Returns whether a session is busy.
    #[must_use]
    pub fn is_busy(&self, session: SessionId) -> bool {
        self.busy.contains_key(&session)
    }

    /// Returns whether a session's turn is known to run in this process.
    #[must_use]
    pub fn runs_here(&self, session: SessionId) -> bool {
        self.running_here.contains(&session)
    }

    /// Returns the busy sessions without any known running work, such as a session that has waited since an
    /// earlier start.
    #[must_use]
    pub fn busy_without_activity(&self) -> Vec<SessionId> {
        self.busy.keys().filter(|session| !self.known_running.contains(session)).copied().collect()
    }

    /// Returns the busy sessions, oldest first.
    #[must_use]
    pub fn busy(&self) -> Vec<SessionId> {
        self.busy.keys().copied().collect()
    }
}
