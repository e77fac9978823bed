//! Octo's knowledge of the provider's cache of a session.

use super::meter::{CallMeter, SentRequests};
use octo_llm::{ModelCard, SentRequest};
use octo_protocol::{BilledCall, CallOutcome, Millis};
use octo_runtime::now;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// The state of the cache: the last model called, the time of that call, and the last request each model saw.
#[derive(Default)]
pub(super) struct Warmth {
    pause: Pause,
    /// The last model called.
    card: Option<Arc<ModelCard>>,
    sent_requests: SentRequests,
}

/// A pause of the person.
#[derive(Default)]
struct Pause {
    /// Distinguishes the present pause from earlier ones.
    number: u64,
    refreshes: u32,
    /// The start of the last request that used the cache.
    used_at: Option<Moment>,
}

/// A moment on two clocks: a monotonic clock and one counting the machine's sleep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment(Instant, Millis);

impl Moment {
    pub(super) fn now() -> Self {
        Self(Instant::now(), now())
    }

    fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    /// Whether it is less than this time ago, by both clocks.
    fn is_within(self, lifetime: Duration) -> bool {
        let slept_for = u64::try_from(now() - self.1).map(Duration::from_millis);
        self.elapsed() < lifetime && slept_for.is_ok_and(|slept_for| slept_for < lifetime)
    }
}

impl Pause {
    fn end(&mut self) {
        self.number += 1;
        self.refreshes = 0;
    }
}

impl Warmth {
    /// Creates the state for these last requests.
    pub(super) fn new(sent_requests: SentRequests) -> Self {
        Self { sent_requests, ..Self::default() }
    }

    /// Ends the pause, because the person is back or other work began.
    pub(super) fn end_pause(&mut self) {
        self.pause.end();
    }

    /// Returns the number of the present pause.
    pub(super) fn pause(&self) -> u64 {
        self.pause.number
    }

    /// Returns how many times the cache was refreshed in this pause.
    pub(super) fn refreshes(&self) -> u32 {
        self.pause.refreshes
    }

    /// Counts a refresh of the cache.
    pub(super) fn count_refresh(&mut self) {
        self.pause.refreshes += 1;
    }

    /// Records a call of a model with the conversation.
    pub(super) fn record_call(&mut self, card: Arc<ModelCard>) {
        self.card = Some(card);
        self.cache_used();
    }

    /// Records that a request that uses the cache begins now.
    pub(super) fn cache_used(&mut self) {
        self.cache_used_at(Moment::now());
    }

    /// Records that a request that used the cache began at this moment or later.
    pub(super) fn cache_used_at(&mut self, moment: Moment) {
        self.pause.used_at = Some(moment);
    }

    /// Forgets the cache, because another model or effort is used from now on and cannot use it.
    pub(super) fn forget_cache(&mut self) {
        self.pause.end();
        self.pause.used_at = None;
        self.card = None;
    }

    /// Returns the model whose cache, judging by the clocks, still contains the conversation.
    pub(super) fn warm_card(&self) -> Option<&Arc<ModelCard>> {
        let card = self.card.as_ref()?;
        self.pause.used_at?.is_within(card.caching.min_lifetime()?).then_some(card)
    }

    /// Returns the time since the last request that used the cache began.
    pub(super) fn unused(&self) -> Option<Duration> {
        self.pause.used_at.map(Moment::elapsed)
    }

    /// Returns the last request each model saw of the conversation.
    pub(super) fn sent_requests(&self) -> &SentRequests {
        &self.sent_requests
    }

    /// Takes over the last requests of a sub-agent's parent.
    pub(super) fn inherit(&mut self, sent_requests: SentRequests) {
        self.sent_requests = sent_requests;
    }

    /// Records the last request a model saw.
    pub(super) fn remember(&mut self, request: SentRequest) {
        self.sent_requests.remember(request);
    }

    /// Ends the measurement of a call. Returns its ledger row.
    pub(super) fn bill(&mut self, meter: CallMeter, outcome: CallOutcome) -> Option<BilledCall> {
        meter.end(outcome, &mut self.sent_requests)
    }
}
