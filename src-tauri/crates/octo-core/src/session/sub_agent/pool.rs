//! The sub-agents of a home: the limit on concurrent ones, and the state their parents pass to them.

use super::ParentLink;
use crate::skills::SkillSource;
use octo_protocol::SessionId;
use parking_lot::Mutex;
use std::{collections::HashMap, sync::Arc};
use tokio::sync::watch;

/// The sub-agent state shared by all sessions.
pub(crate) struct SubAgentPool {
    /// The source of skills.
    source: Arc<dyn SkillSource>,
    slots: Slots,
    /// The state parents hand to sub-agents that are about to be opened. A sub-agent without an entry belongs
    /// to an earlier process.
    links: Mutex<HashMap<SessionId, ParentLink>>,
}

impl SubAgentPool {
    pub fn new(source: Arc<dyn SkillSource>) -> Self {
        Self { source, slots: Slots(watch::Sender::new(0)), links: Mutex::default() }
    }

    /// Returns the source of skills.
    pub(super) fn skills(&self) -> &dyn SkillSource {
        &*self.source
    }

    /// Returns the slots that limit concurrent sub-agents.
    pub(in crate::session) fn slots(&self) -> &Slots {
        &self.slots
    }

    /// Makes waiting sub-agents check again, because the limit may have changed.
    pub fn limit_changed(&self) {
        self.slots.recheck();
    }

    /// Stores the parent's state until its sub-agent's session is opened.
    pub(super) fn store_link(&self, session: SessionId, link: ParentLink) {
        self.with_links(|links| links.insert(session, link));
    }

    /// Takes the parent's state for a session that is being opened. Returns it only once.
    pub(in crate::session) fn take_link(&self, session: SessionId) -> Option<ParentLink> {
        self.with_links(|links| links.remove(&session))
    }

    fn with_links<T>(&self, update: impl FnOnce(&mut HashMap<SessionId, ParentLink>) -> T) -> T {
        update(&mut self.links.lock())
    }
}

/// Slots for working sub-agents. The value is the number of taken slots.
pub(in crate::session) struct Slots(watch::Sender<u32>);

/// A taken slot, which is freed on drop.
pub(in crate::session) struct Slot(watch::Sender<u32>);

impl Slots {
    /// Takes a slot if fewer than `limit` are taken.
    pub fn try_take(&self, limit: u32) -> Option<Slot> {
        let taken = self.0.send_if_modified(|has_taken| {
            let is_free = *has_taken < limit;
            *has_taken += u32::from(is_free);
            is_free
        });
        taken.then(|| Slot(self.0.clone()))
    }

    /// Waits for a free slot and takes it. The limit is evaluated again whenever a slot may be free.
    pub async fn take(&self, limit: impl Fn() -> u32) -> Slot {
        let mut changes = self.0.subscribe();
        loop {
            changes.mark_unchanged();
            if let Some(slot) = self.try_take(limit()) {
                return slot;
            }
            // `self` owns the sender, so only a change ends the wait.
            let _ours = changes.changed().await;
        }
    }

    /// Makes waiters check again, because the limit may have changed.
    fn recheck(&self) {
        self.0.send_modify(|_| {});
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn no_more_than_the_limit_hold_a_slot_and_a_freed_one_is_taken() {
        let slots = Arc::new(Slots(watch::Sender::new(0)));
        let (first, second) = (slots.try_take(2).unwrap(), slots.try_take(2).unwrap());
        assert!(slots.try_take(2).is_none());
        let waiter = tokio::spawn({
            let slots = slots.clone();
            async move { slots.take(|| 2).await }
        });
        tokio::task::yield_now().await;
        assert!(!waiter.is_finished());
        drop(first);
        let third = waiter.await.unwrap();
        assert!(slots.try_take(2).is_none());
        drop((second, third));
        assert!(slots.try_take(1).is_some());
    }
}
