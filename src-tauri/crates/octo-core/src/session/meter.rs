//! What a model call is measured by, from its start to its line in the ledger.

use crate::clock::now;
use octo_llm::{Billed, ModelCard, Sent, expected, explain};
use octo_protocol::{
    BilledCall, CacheMiss, CallOutcome, Cost, MessageId, Millis, ModelId, Purpose, TurnId, Usage,
};
use std::{collections::HashMap, sync::Arc, time::Duration, time::Instant};

/// What each model last saw of this conversation, by the vendor's name of it. Says what it should find in its
/// cache. After a restart it is made anew from the ledger (see `super::recall`).
#[derive(Clone, Default)]
pub(crate) struct Seen {
    sent: HashMap<String, Sent>,
    /// Tools and system prompt were frozen anew, and so many tokens might have been read otherwise. Told with the next
    /// call, once.
    refrozen: Option<u64>,
}

impl Seen {
    /// Of a session whose frozen prefix was made anew by an update of Octo.
    pub(super) fn refrozen(tokens: u64) -> Self {
        Self { sent: HashMap::new(), refrozen: Some(tokens) }
    }

    /// Whether the frozen prefix is the one that was sent before.
    pub(super) fn is_same_prefix(&self) -> bool {
        self.refrozen.is_none()
    }

    /// A model saw this last.
    pub(super) fn remember(&mut self, sent: Sent) {
        self.sent.insert(sent.model.clone(), sent);
    }
}

/// A call being measured.
pub(crate) struct Meter {
    purpose: Purpose,
    turn: Option<TurnId>,
    message: Option<MessageId>,
    model: Option<ModelId>,
    at: Millis,
    began: Instant,
    first_byte_ms: Option<u64>,
    asked: Option<Asked>,
    billed: Option<Billed>,
}

/// What was sent, and to whom.
pub(crate) struct Asked {
    card: Arc<ModelCard>,
    sent: Sent,
}

impl Asked {
    pub(super) fn new(card: Arc<ModelCard>, sent: Sent) -> Self {
        Self { card, sent }
    }

    /// The model that was asked.
    pub(super) fn card(&self) -> Arc<ModelCard> {
        self.card.clone()
    }
}

impl Meter {
    /// Of a call that begins now.
    pub(super) fn begin(
        purpose: Purpose,
        turn: Option<TurnId>,
        message: Option<MessageId>,
        model: Option<ModelId>,
    ) -> Self {
        let (at, began) = (now(), Instant::now());
        Self { purpose, turn, message, model, at, began, first_byte_ms: None, asked: None, billed: None }
    }

    /// The request is on its way.
    pub(super) fn asked(&mut self, asked: Asked) {
        self.asked = Some(asked);
    }

    /// The answer began so many milliseconds after the call did.
    pub(super) fn first_byte(&mut self, after_ms: u64) {
        self.first_byte_ms.get_or_insert(after_ms);
    }

    /// What the provider says it used so far. All zeros say nothing.
    pub(super) fn used(&mut self, billed: Billed) {
        self.billed = Some(billed).filter(|billed| billed.usage.context() > 0).or(self.billed);
    }

    /// What the provider says it used.
    pub(super) fn usage(&self) -> Option<Usage> {
        self.billed.map(|billed| billed.usage)
    }

    /// The call's line in the ledger; none where nothing was sent.
    pub(super) fn end(self, outcome: CallOutcome, seen: &mut Seen) -> Option<BilledCall> {
        let usage = self.usage();
        let Asked { card, sent } = self.asked?;
        let before = seen.sent.get(&sent.model);
        let should = before.and_then(|before| expected(before, &card.caching));
        let miss = match (before, &should, &usage) {
            (Some(before), Some(should), Some(usage)) => {
                let elapsed = u64::try_from(sent.started_at.saturating_sub(before.started_at)).unwrap_or(0);
                explain(should, usage, before, &sent, Duration::from_millis(elapsed))
            }
            _ => None,
        };
        let paid = usage.is_some() || outcome == CallOutcome::Answered;
        let refrozen = seen.refrozen.take_if(|_| paid).filter(|_| before.is_none());
        let miss = miss.or(refrozen.map(|_| CacheMiss::Tools));
        let expected_read = should.map(|should| should.tokens).or(refrozen);
        let cost = card.prices.as_ref().zip(self.billed).and_then(|(prices, billed)| prices.cost(billed));
        let again = paid_again(miss.and(expected_read), usage);
        let again_cost = match (&card.prices, self.billed) {
            _ if again == 0 => Some(Cost::ZERO),
            (Some(prices), Some(billed)) => prices.cost_above_reading(billed, again),
            (None, _) | (_, None) => None,
        };
        let name = sent.model.clone();
        // Only a request whose answer began is known to have reached the cache.
        if let (Some(usage), true) = (usage, self.first_byte_ms.is_some()) {
            seen.remember(sent.billed(usage));
        } else if outcome == CallOutcome::Answered {
            seen.remember(sent);
        }
        Some(BilledCall {
            turn: self.turn,
            message: self.message,
            purpose: self.purpose,
            model: self.model,
            name,
            at: self.at,
            usage,
            written_for_an_hour: self.billed.map_or(0, |billed| billed.written_for_an_hour),
            cost,
            first_byte_ms: self.first_byte_ms,
            total_ms: millis(self.began.elapsed()),
            outcome,
            expected_read,
            miss,
            again,
            again_cost,
        })
    }
}

/// How many tokens a call paid for that it should have read: what it read less than expected, and no more than it
/// paid for beyond what it read. A conversation that was made shorter reads less and pays for less.
fn paid_again(expected: Option<u64>, usage: Option<Usage>) -> u64 {
    let (Some(expected), Some(usage)) = (expected, usage) else { return 0 };
    expected.saturating_sub(usage.cache_read).min(usage.input.saturating_add(usage.cache_write))
}

/// In whole milliseconds.
pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
