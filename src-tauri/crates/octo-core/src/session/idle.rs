//! A session nobody works in: after a while it is decided whether to keep the provider's cache alive, to compact, or
//! to let go. Any new work ends it.

use super::{
    Report,
    outgoing::{Said, To},
    side_call::Aim,
    state::Session,
    turns::Step,
};
use crate::{
    clock::now,
    idle::{self, Choice},
    pairing::paired,
};
use octo_llm::ModelCard;
use octo_protocol::{ApiError, Block, Message, Millis, Origin, Role};
use std::time::{Duration, Instant};

/// The most tokens of an answer nobody reads. Some servers take no less.
const UNREAD: u64 = 16;
/// The person's last so many pauses are looked at.
const PAUSES: u32 = 200;

/// A pause of the person's.
#[derive(Default)]
pub(super) struct Pause {
    /// Tells the present pause from earlier ones.
    number: u64,
    refreshes: u32,
    /// When the last request that used the cache began.
    used_at: Option<Moment>,
}

/// A moment, by the clock that never jumps and by the one that goes on while the machine sleeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment(Instant, Millis);

impl Moment {
    pub(super) fn now() -> Self {
        Self(Instant::now(), now())
    }
}

impl Pause {
    /// The person is back, or something else goes on.
    pub(super) fn end(&mut self) {
        self.number += 1;
        self.refreshes = 0;
    }

    /// Whether the model's cache still holds the conversation, as far as the clock tells.
    pub(super) fn is_warm(&self, card: &ModelCard) -> bool {
        let (Some(Moment(instant, at)), Some(life)) = (self.used_at, card.caching.life()) else {
            return false;
        };
        let slept = u64::try_from(now() - at).map(Duration::from_millis);
        instant.elapsed() < life && slept.is_ok_and(|slept| slept < life)
    }

    /// Another model, or another effort, is asked from now on: what the cache holds is of no use to it.
    pub(super) fn forget_cache(&mut self) {
        self.end();
        self.used_at = None;
    }

    /// A request that uses the cache begins.
    pub(super) fn cache_used(&mut self) {
        self.cache_used_at(Moment::now());
    }

    /// A request that used the cache began then, or later.
    pub(super) fn cache_used_at(&mut self, moment: Moment) {
        self.used_at = Some(moment);
    }
}

impl Session {
    /// A turn ended: decides what to do once nobody has worked here for a while.
    pub(super) fn begin_pause(&mut self) {
        self.pause.end();
        if self.is_counted() && self.fork.is_none() {
            self.wake_after(self.runtime.base.config.idle_after);
        }
    }

    fn wake_after(&self, time: Duration) {
        let (number, report, ending) = (self.pause.number, self.reporter(), self.ending.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(time) => report(Report::Idle(number)),
                () = ending.cancelled() => {}
            }
        });
    }

    /// Nobody has worked here for a while.
    pub(super) async fn idle(&mut self, number: u64) -> Result<(), ApiError> {
        // What works on the turn reads the conversation too, and so keeps the cache; after it the pause begins anew.
        let is_busy = self.running.is_some() || self.swap.is_some() || self.after.is_at_work();
        if number != self.pause.number || is_busy {
            return Ok(());
        }
        let (Some(card), Some(Moment(used_at, _))) = (self.card.clone(), self.pause.used_at) else {
            return Ok(());
        };
        // A machine that slept, or that waited for room on the disk: the cache is gone, and reading it is writing it.
        if !self.pause.is_warm(&card) {
            return Ok(());
        }
        let pauses = self.runtime.base.store.read(|reader| reader.pauses(PAUSES)).await;
        // A session is not worth ending for what cannot be looked up now: then nothing is sent.
        let (Ok(pauses), Ok(false)) = (pauses, self.is_over_budget().await) else { return Ok(()) };
        let idle = idle::Idle {
            size: self.context_size(),
            limit: self.compaction_limit(),
            refreshes: self.pause.refreshes,
            pauses: &pauses,
            card: &card,
        };
        let mut step = Step::default();
        match idle::choose(&idle, &self.runtime.base.preferences()) {
            Choice::Refresh(after) => {
                let left = after.saturating_sub(used_at.elapsed());
                if left.is_zero() {
                    self.refresh(&mut step);
                } else {
                    self.wake_after(left);
                }
            }
            Choice::Compact => self.compact_idle(&mut step),
            Choice::LetGo => {}
        }
        self.finish(step).await
    }

    /// Reads the conversation once more, so that the cache keeps it.
    fn refresh(&mut self, step: &mut Step) {
        let Some(turn) = self.context.last().map(|last| last.turn) else { return };
        let mut messages: Vec<Message> = paired(&self.context).into_owned();
        let blocks = vec![Block::Text { text: "Answer with OK.".to_owned() }];
        messages.push(self.message(turn, Role::User, Origin::Octo, blocks));
        self.pause.refreshes += 1;
        let said = Said { messages, vanishing: 1, max_output: Some(UNREAD), to: To::Session };
        self.call_beside(Aim::Warmth, said, Duration::ZERO, step);
    }

    /// The cache was refreshed, or could not be: then it is let go.
    pub(super) fn refreshed(&mut self, worked: bool) {
        if worked {
            self.wake_after(Duration::ZERO);
        }
    }
}
