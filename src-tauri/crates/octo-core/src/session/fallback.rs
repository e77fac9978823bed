//! Another model takes over while a model's service fails, and the first is tried again after a while.

use super::{state::Session, step::Step};
use octo_llm::{ErrorClass, ProviderError};
use octo_protocol::{ApiError, Event, ModelId};
use std::time::{Duration, Instant};

/// So many failures of the service in a row, and the other model takes over.
const FAILURES: u32 = 3;
/// For so long the other model is asked before the first is tried again.
const COOLING: Duration = Duration::from_secs(30 * 60);

/// Who answers for whom.
#[derive(Default)]
pub(super) struct Fallback {
    /// Failures of the service in a row. Those of the network do not count: another model is behind the same one.
    failures: u32,
    active: Option<Active>,
}

struct Active {
    /// The session's own model.
    own: ModelId,
    other: ModelId,
    since: Instant,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The other model is asked.
    Other,
    /// The own one is tried again.
    Probing,
}

/// The words for why another model goes on. Only what may pass by itself makes one.
fn reason(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::RateLimited => "fallback.began.rate_limited",
        ErrorClass::Overloaded => "fallback.began.overloaded",
        ErrorClass::Network => "fallback.began.network",
        ErrorClass::CutOff => "fallback.began.cut_off",
        ErrorClass::Malformed => "fallback.began.malformed",
        ErrorClass::Auth
        | ErrorClass::Billing
        | ErrorClass::Forbidden
        | ErrorClass::NotFound
        | ErrorClass::ContextTooLong
        | ErrorClass::Invalid
        | ErrorClass::Address
        | ErrorClass::Insecure
        | ErrorClass::Header
        | ErrorClass::Proxy
        | ErrorClass::Certificate
        | ErrorClass::Untrusted
        | ErrorClass::KeyUnread
        | ErrorClass::NoKeychain
        | ErrorClass::Removed
        | ErrorClass::Cancelled => "fallback.began",
    }
}

impl Session {
    /// The model that is asked now.
    pub(super) fn model(&self) -> Option<ModelId> {
        match &self.fallback.active {
            Some(Active { other, stage: Stage::Other, .. }) => Some(*other),
            Some(Active { stage: Stage::Probing, .. }) | None => self.info.model,
        }
    }

    /// The person chose a model: whatever was asked in its place counts no more.
    pub(super) fn reset_fallback(&mut self) {
        self.fallback = Fallback::default();
    }

    /// A new model call begins: the own model is tried again if enough time has passed.
    pub(super) fn probe_if_due(&mut self) {
        if let Some(active) = &mut self.fallback.active
            && active.since.elapsed() >= COOLING
        {
            active.stage = Stage::Probing;
        }
    }

    /// The model answered.
    pub(super) fn service_works(&mut self, step: &mut Step) {
        self.fallback.failures = 0;
        if self.fallback.active.as_ref().is_some_and(|active| active.stage == Stage::Probing) {
            let own = self
                .info
                .model
                .and_then(|id| self.runtime.services.models.vendor_name(id))
                .unwrap_or_default();
            self.fallback.active = None;
            let note = ApiError::new("fallback.over").arg("model", own);
            step.event(Event::CommandAnswered { note });
        }
    }

    /// A call failed: whether another model is to be asked at once.
    pub(super) fn falls_back(&mut self, error: &ProviderError, step: &mut Step) -> bool {
        if !error.class.is_retryable() {
            return self.refused_by(error);
        }
        if let Some(active) = &mut self.fallback.active {
            // The own model still fails: the other one goes on, for the same request.
            let was_probing = active.stage == Stage::Probing;
            if was_probing {
                active.stage = Stage::Other;
                active.since = Instant::now();
            }
            return was_probing;
        }
        match error.class {
            ErrorClass::RateLimited | ErrorClass::Overloaded | ErrorClass::CutOff | ErrorClass::Malformed => {
                self.fallback.failures += 1;
            }
            _ => {}
        }
        let (Some(own), true) = (self.info.model, self.fallback.failures >= FAILURES) else { return false };
        let Some(other) = self.runtime.services.models.fallback_of(own) else { return false };
        self.fallback.failures = 0;
        self.fallback.active = Some(Active { own, other, since: Instant::now(), stage: Stage::Other });
        let name = |id| self.runtime.services.models.vendor_name(id).unwrap_or_default();
        let note = ApiError::new(reason(error.class))
            .arg("model", name(own))
            .arg("fallback", name(other))
            .detail(&error.message);
        step.event(Event::CommandAnswered { note });
        true
    }

    /// A failure that trying again does not change: whose it is decides who is asked next.
    fn refused_by(&mut self, error: &ProviderError) -> bool {
        if matches!(error.class, ErrorClass::Cancelled | ErrorClass::ContextTooLong) {
            return false;
        }
        match self.fallback.active.as_mut() {
            // The other model is no use: the next call asks the own one.
            Some(Active { stage: Stage::Other, .. }) => {
                self.reset_fallback();
                false
            }
            Some(active) => {
                active.stage = Stage::Other;
                active.since = Instant::now();
                true
            }
            None => false,
        }
    }

    /// The model that answers in place of the own one was removed or the own one changed elsewhere.
    pub(super) fn forget_lost_fallback(&mut self) {
        let lost = self.fallback.active.as_ref().is_some_and(|active| {
            Some(active.own) != self.info.model
                || self.runtime.services.models.vendor_name(active.other).is_none()
        });
        if lost {
            self.reset_fallback();
        }
    }
}
