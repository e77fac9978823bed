//! Sub-agents of a home: how many work at once, and what those that begin get from their parents.

use super::Lifeline;
use crate::skills::SkillSource;
use octo_protocol::SessionId;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::watch;

/// What all sessions share of sub-agents.
pub(crate) struct Forks {
    /// Where skills come from.
    pub source: Arc<dyn SkillSource>,
    pub slots: Slots,
    /// What sub-agents that are about to be opened get from their parents. One without is of an earlier process.
    lifelines: Mutex<HashMap<SessionId, Lifeline>>,
}

impl Forks {
    pub fn new(source: Arc<dyn SkillSource>) -> Self {
        Self { source, slots: Slots(watch::Sender::new(0)), lifelines: Mutex::default() }
    }

    /// Holds a lifeline until its session is opened.
    pub fn tie(&self, session: SessionId, line: Lifeline) {
        self.lines(|lines| lines.insert(session, line));
    }

    /// The lifeline of a session that is opened; given once.
    pub fn take(&self, session: SessionId) -> Option<Lifeline> {
        self.lines(|lines| lines.remove(&session))
    }

    fn lines<T>(&self, act: impl FnOnce(&mut HashMap<SessionId, Lifeline>) -> T) -> T {
        act(&mut self.lifelines.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Places for sub-agents that work.
pub(crate) struct Slots(watch::Sender<u32>);

/// A place; free again when it is dropped.
pub(crate) struct Slot(watch::Sender<u32>);

impl Slots {
    /// A place, if fewer than so many are taken.
    pub fn try_take(&self, limit: u32) -> Option<Slot> {
        let taken = self.0.send_if_modified(|taken| {
            let free = *taken < limit;
            *taken += u32::from(free);
            free
        });
        taken.then(|| Slot(self.0.clone()))
    }

    /// A place, once there is one. The limit is asked for anew whenever one may be free.
    pub async fn take(&self, limit: impl Fn() -> u32) -> Slot {
        let mut changes = self.0.subscribe();
        loop {
            changes.mark_unchanged();
            if let Some(slot) = self.try_take(limit()) {
                return slot;
            }
            // The sender is ours, so the wait ends with a change alone.
            let _ours = changes.changed().await;
        }
    }

    /// The limit may have changed.
    pub fn look_again(&self) {
        self.0.send_modify(|_| {});
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.send_modify(|taken| *taken = taken.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn no_more_than_the_limit_hold_a_place_and_a_freed_one_is_taken() {
        let slots = Arc::new(Slots(watch::Sender::new(0)));
        let (one, two) = (slots.try_take(2).unwrap(), slots.try_take(2).unwrap());
        assert!(slots.try_take(2).is_none());
        let waiting = tokio::spawn({
            let slots = slots.clone();
            async move { slots.take(|| 2).await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(one);
        let third = waiting.await.unwrap();
        assert!(slots.try_take(2).is_none());
        drop((two, third));
        assert!(slots.try_take(1).is_some());
    }
}
