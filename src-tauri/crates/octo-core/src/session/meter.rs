//! The measurements of a model call, from its start to its ledger row.

use octo_llm::{BilledUsage, ModelCard, SentRequest, expected, explain};
use octo_protocol::{
    BilledCall, CacheMiss, CallOutcome, Cost, MessageId, Millis, ModelId, Purpose, TurnId, Usage,
};
use octo_runtime::now;
use std::{collections::HashMap, sync::Arc, time::Duration, time::Instant};

/// The last request each model saw of this conversation, keyed by the vendor's model name. It determines how
/// much a model should find in its cache. After a restart it is rebuilt from the ledger (see `super::recall`).
#[derive(Clone, Default)]
pub(crate) struct SentRequests {
    sent: HashMap<String, SentRequest>,
    /// Tokens that could have been read from the cache, had tools and system prompt not been frozen again.
    /// Reported once, with the next call.
    refrozen_tokens: Option<u64>,
}

impl SentRequests {
    /// For a session whose frozen prefix was rebuilt by an update of Octo.
    pub(super) fn with_refrozen(tokens: u64) -> Self {
        Self { sent: HashMap::new(), refrozen_tokens: Some(tokens) }
    }

    /// Whether the frozen prefix is unchanged since the last request.
    pub(super) fn is_same_prefix(&self) -> bool {
        self.refrozen_tokens.is_none()
    }

    /// Records the last request a model saw.
    pub(super) fn remember(&mut self, sent: SentRequest) {
        self.sent.insert(sent.model.clone(), sent);
    }
}

/// The measurement of a running call.
pub(crate) struct CallMeter {
    purpose: Purpose,
    turn: Option<TurnId>,
    message: Option<MessageId>,
    model: Option<ModelId>,
    started_at: Millis,
    started: Instant,
    first_byte_ms: Option<u64>,
    request: Option<MeteredRequest>,
    billed: Option<BilledUsage>,
}

/// A request and its recipient.
pub(crate) struct MeteredRequest {
    card: Arc<ModelCard>,
    sent: SentRequest,
}

impl MeteredRequest {
    pub(super) fn new(card: Arc<ModelCard>, sent: SentRequest) -> Self {
        Self { card, sent }
    }

    /// Returns the model that was called.
    pub(super) fn card(&self) -> Arc<ModelCard> {
        self.card.clone()
    }
}

impl CallMeter {
    /// Begins the measurement of a call.
    pub(super) fn begin(
        purpose: Purpose,
        turn: Option<TurnId>,
        message: Option<MessageId>,
        model: Option<ModelId>,
    ) -> Self {
        let (started_at, started) = (now(), Instant::now());
        Self {
            purpose,
            turn,
            message,
            model,
            started_at,
            started,
            first_byte_ms: None,
            request: None,
            billed: None,
        }
    }

    /// Records that the request was sent.
    pub(super) fn request_sent(&mut self, request: MeteredRequest) {
        self.request = Some(request);
    }

    /// Records when the answer began, in milliseconds after the call's start.
    pub(super) fn first_byte(&mut self, after_ms: u64) {
        self.first_byte_ms.get_or_insert(after_ms);
    }

    /// Records the usage the provider has reported so far. All zeros mean no report.
    pub(super) fn set_billed_usage(&mut self, billed: BilledUsage) {
        self.billed = Some(billed).filter(|billed| billed.usage.context_tokens() > 0).or(self.billed);
    }

    /// Returns the usage the provider reported.
    pub(super) fn usage(&self) -> Option<Usage> {
        self.billed.map(|billed| billed.usage)
    }

    /// Returns the call's ledger row, or `None` if nothing was sent.
    pub(super) fn end(self, outcome: CallOutcome, sent_requests: &mut SentRequests) -> Option<BilledCall> {
        let usage = self.usage();
        let MeteredRequest { card, sent } = self.request?;
        let previous = sent_requests.sent.get(&sent.model);
        let expected_tokens = previous.and_then(|previous| expected(previous, &card.caching));
        let cache_miss = match (previous, &expected_tokens, &usage) {
            (Some(previous), Some(expected_tokens), Some(usage)) => {
                let elapsed = u64::try_from(sent.started_at.saturating_sub(previous.started_at)).unwrap_or(0);
                explain(expected_tokens, usage, previous, &sent, Duration::from_millis(elapsed))
            }
            _ => None,
        };
        let paid = usage.is_some() || outcome == CallOutcome::Answered;
        let refrozen = sent_requests.refrozen_tokens.take_if(|_| paid).filter(|_| previous.is_none());
        let cache_miss = cache_miss.or(refrozen.map(|_| CacheMiss::Tools));
        let expected_read = expected_tokens.map(|expected_tokens| expected_tokens.tokens).or(refrozen);
        let cost = card.prices.as_ref().zip(self.billed).and_then(|(prices, billed)| prices.cost(billed));
        let paid_again = paid_again(cache_miss.and(expected_read), usage);
        let again_cost = match (&card.prices, self.billed) {
            _ if paid_again == 0 => Some(Cost::ZERO),
            (Some(prices), Some(billed)) => prices.cost_above_cached(billed, paid_again),
            (None, _) | (_, None) => None,
        };
        let name = sent.model.clone();
        // A request certainly reached the cache only if its answer began.
        if let (Some(usage), true) = (usage, self.first_byte_ms.is_some()) {
            sent_requests.remember(sent.with_usage(usage));
        } else if outcome == CallOutcome::Answered {
            sent_requests.remember(sent);
        }
        Some(BilledCall {
            turn: self.turn,
            message: self.message,
            purpose: self.purpose,
            model: self.model,
            name,
            at: self.started_at,
            usage,
            written_for_an_hour: self.billed.map_or(0, |billed| billed.written_for_an_hour),
            cost,
            first_byte_ms: self.first_byte_ms,
            total_ms: millis(self.started.elapsed()),
            outcome,
            expected_read,
            miss: cache_miss,
            again: paid_again,
            again_cost,
        })
    }
}

/// Returns how many tokens a call paid for that it should have read from the cache: the shortfall against the
/// expectation, limited to the tokens it paid for in addition to its cache reads. A conversation that was
/// shortened reads less and pays for less.
fn paid_again(expected: Option<u64>, usage: Option<Usage>) -> u64 {
    let (Some(expected), Some(usage)) = (expected, usage) else { return 0 };
    expected.saturating_sub(usage.cache_read).min(usage.input.saturating_add(usage.cache_write))
}

/// Converts to whole milliseconds.
pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
