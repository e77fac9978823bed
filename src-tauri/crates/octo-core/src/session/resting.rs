//! Unused sessions: their actors end and their memory is released. The next request to a session opens it again
//! from the store, as after a restart. Otherwise a process that runs for weeks would keep every conversation it
//! ever had, and each run of a scheduled task is one.

use super::{Inbox, SessionHandle, state::Session};
use std::{sync::Arc, time::Duration};

/// How long a session stays open, as a multiple of the idle time. By then the provider's cache has been dealt
/// with.
pub(super) const IDLE_MULTIPLE: u32 = 10;
/// Time limit for an unused session to reply. A slower one is left for the next round.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(100);

/// Whether a session rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RestAnswer {
    /// It rests; its actor ends now.
    Rests,
    /// It stays open.
    StaysOpen,
}

impl Session {
    /// Whether the session is idle and everything it contains is in the store.
    pub(super) fn may_rest(&self, unused: Duration, idle_after: Duration) -> RestAnswer {
        let is_busy = self.turn.is_running()
            || self.side_call.is_some()
            || self.compaction.is_swapping()
            || self.restoring.is_under_way()
            || self.records.has_work()
            || self.look_back_state.is_running()
            || self.background.has_running();
        // Budget allowances that last while it is open, its browser tab, and a warm cache.
        let has_state =
            self.budget.is_raised() || self.browser_session.was_used() || self.warmth.warm_card().is_some();
        if unused < idle_after || is_busy || has_state { RestAnswer::StaysOpen } else { RestAnswer::Rests }
    }
}

impl SessionHandle {
    /// Whether another owner of a handle, apart from the table of open sessions, may be about to send a
    /// request.
    pub(super) fn is_held(&self) -> bool {
        Arc::strong_count(&self.queue) > 1
    }

    /// Ends the actor if no other handle exists. After this returns an ending actor takes no messages: a
    /// message sent now would be lost.
    pub(super) async fn rest(&self, idle_after: Duration) {
        let (reply, mut answer) = tokio::sync::oneshot::channel();
        if self.inbox.send(Inbox::Rest(idle_after, reply)).is_err() {
            return;
        }
        let reply = match tokio::time::timeout(ANSWER_TIMEOUT, &mut answer).await {
            Ok(reply) => reply.ok(),
            // A busy session continues, unless it has just answered.
            Err(_) => {
                answer.close();
                answer.try_recv().ok()
            }
        };
        if reply == Some(RestAnswer::Rests) {
            self.inbox.closed().await;
        }
    }
}
