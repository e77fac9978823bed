//! An idle session: after a while it decides whether to keep the provider's cache alive, to compact, or to let
//! the cache expire. Any new work ends the idle time.

use super::{JobReport, outgoing::RequestMessages, side_call::SideCallAim, state::Session, step::Step};
use crate::idle::{self, IdleAction};
use octo_protocol::{ApiError, Block, Origin, Role};
use std::time::Duration;

/// Maximum tokens of an answer that is discarded. Some servers accept no less.
const DISCARDED_TOKENS: u64 = 16;
/// How many of the person's latest pauses are considered.
const RECENT_PAUSES: u32 = 200;

impl Session {
    /// Begins a pause after a turn and plans the decision for an idle session.
    pub(super) fn begin_pause(&mut self) {
        self.warmth.end_pause();
        if self.is_counted() && self.sub_agent.is_none() {
            self.wake_after(self.runtime.base.config.idle_after);
        }
    }

    fn wake_after(&self, time: Duration) {
        let (number, report, cancelled) = (self.warmth.pause(), self.reporter(), self.actor.ended());
        tokio::spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(time) => report.send(JobReport::Idle(number)),
                () = cancelled => {}
            }
        });
    }

    /// Decides once the session has been idle for a while.
    pub(super) async fn idle(&mut self, number: u64) -> Result<(), ApiError> {
        // A look back reads the conversation too and so keeps the cache; after it the pause starts over.
        let is_busy =
            self.turn.is_running() || self.compaction.is_swapping() || self.look_back_state.is_running();
        if number != self.warmth.pause() || is_busy {
            return Ok(());
        }
        // The machine slept or waited for disk space: the cache has expired, and reading it means writing it.
        let Some(card) = self.warmth.warm_card().cloned() else { return Ok(()) };
        let pauses = self.runtime.base.store.read(|reader| reader.pauses(RECENT_PAUSES)).await;
        // A failed lookup is not worth ending a session for: then nothing is sent.
        let (Ok(pauses), Ok(false)) = (pauses, self.is_over_budget().await) else { return Ok(()) };
        let idle = idle::IdleSession {
            size: self.context_size(),
            limit: self.compaction_limit(),
            refreshes: self.warmth.refreshes(),
            pauses: &pauses,
            card: &card,
        };
        let mut step = Step::default();
        match idle::choose(&idle, &self.runtime.base.preferences()) {
            IdleAction::Refresh(delay) => {
                let remaining = delay.saturating_sub(self.warmth.unused().unwrap_or_default());
                if remaining.is_zero() {
                    self.refresh(&mut step);
                } else {
                    self.wake_after(remaining);
                }
            }
            IdleAction::Compact => self.compact_idle(&mut step),
            IdleAction::Nothing => {}
        }
        self.finish(step).await
    }

    /// Reads the conversation once more to keep it in the cache.
    fn refresh(&mut self, step: &mut Step) {
        let Some(turn) = self.conversation.last().map(|message| message.turn) else { return };
        let mut messages = self.conversation.with_paired_results();
        let blocks = vec![Block::Text { text: "Answer with OK.".to_owned() }];
        messages.push(self.message(turn, Role::User, Origin::Octo, blocks));
        self.warmth.count_refresh();
        let request = RequestMessages::with_temporary(messages, DISCARDED_TOKENS);
        self.begin_side_call(SideCallAim::KeepWarm, request, Duration::ZERO, step);
    }

    /// Takes the result of a refresh. If it failed the cache may expire.
    pub(super) fn finish_refresh(&mut self, worked: bool) {
        if worked {
            self.wake_after(Duration::ZERO);
        }
    }
}
