//! Sessions nobody works in any more: their actors end, and what they hold in memory goes. Whoever asks something of one
//! opens it again, from the store, as after a restart. Without this a process that runs for weeks would hold every
//! conversation it ever had: each run of a task is one.

use super::{Inbox, SessionHandle, state::Session};
use std::{sync::Arc, time::Duration};

/// So many times what counts as idle a session stays open. By then it is decided what becomes of the provider's cache.
pub(super) const STAYS: u32 = 10;
/// How long a session that has nothing to do takes to say so. One that is slower is left for the next time.
const QUICK: Duration = Duration::from_millis(100);

/// Whether a session rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It does, and its actor ends now.
    Rests,
    /// It does not.
    StaysOpen,
}

impl Session {
    /// Whether nothing is lost that the store does not have, and nothing goes on.
    pub(super) fn may_rest(&self, unused: Duration, after: Duration) -> Answer {
        let goes_on = self.turn.is_running()
            || self.side.is_some()
            || self.compaction.is_swapping()
            || self.restoring.is_under_way()
            || self.records.has_work()
            || self.after.is_at_work()
            || self.background.go_on();
        // What the person allowed for as long as this is open, the page it works in, and a cache that is kept warm.
        let holds = self.budget.is_raised() || self.seat.was_used() || self.warmth.warm_card().is_some();
        if unused < after || goes_on || holds { Answer::StaysOpen } else { Answer::Rests }
    }
}

impl SessionHandle {
    /// Whether somebody beside the table of open sessions may be about to ask something.
    pub(super) fn is_held(&self) -> bool {
        Arc::strong_count(&self.line) > 1
    }

    /// Lets the actor end if nothing holds it. Once this returns, one that ends takes no message any more: what would
    /// be sent to it now would be lost.
    pub(super) async fn rest(&self, after: Duration) {
        let (reply, mut answer) = tokio::sync::oneshot::channel();
        if self.inbox.send(Inbox::Rest(after, reply)).is_err() {
            return;
        }
        let said = match tokio::time::timeout(QUICK, &mut answer).await {
            Ok(said) => said.ok(),
            // A busy one goes on with what it does, unless it has answered just now.
            Err(_) => {
                answer.close();
                answer.try_recv().ok()
            }
        };
        if said == Some(Answer::Rests) {
            self.inbox.closed().await;
        }
    }
}
