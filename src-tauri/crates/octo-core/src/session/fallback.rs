//! Switches to another model while a model's service fails, and tries the first again after a while.

use super::{state::Session, step::Step};
use octo_llm::{ErrorClass, ProviderError};
use octo_protocol::{ApiError, Event, ModelId};
use std::time::{Duration, Instant};

/// Number of consecutive service failures after which the other model takes over.
const MAX_FAILURES: u32 = 3;
/// How long the other model is used before the first is tried again.
const FALLBACK_TIME: Duration = Duration::from_secs(30 * 60);

/// The state of the switch between the session's model and its fallback.
#[derive(Default)]
pub(super) struct Fallback {
    /// Consecutive failures of the service. Network failures do not count: the other model uses the same
    /// network.
    failures: u32,
    active: Option<ActiveFallback>,
}

struct ActiveFallback {
    /// The session's own model.
    own_model: ModelId,
    fallback_model: ModelId,
    since: Instant,
    stage: FallbackStage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FallbackStage {
    /// The other model is in use.
    InUse,
    /// The own model is being tried again.
    Probing,
}

/// Returns the reason for a fallback in words. Only errors that may pass cause one.
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
    /// Returns the model in use now.
    pub(super) fn model(&self) -> Option<ModelId> {
        match &self.fallback.active {
            Some(ActiveFallback { fallback_model, stage: FallbackStage::InUse, .. }) => Some(*fallback_model),
            Some(ActiveFallback { stage: FallbackStage::Probing, .. }) | None => self.info.model,
        }
    }

    /// Discards the fallback because the person chose a model.
    pub(super) fn reset_fallback(&mut self) {
        self.fallback = Fallback::default();
    }

    /// Tries the own model again at a new model call, if enough time has passed.
    pub(super) fn probe_if_due(&mut self) {
        if let Some(active) = &mut self.fallback.active
            && active.since.elapsed() >= FALLBACK_TIME
        {
            active.stage = FallbackStage::Probing;
        }
    }

    /// Records that the model answered.
    pub(super) fn service_works(&mut self, step: &mut Step) {
        self.fallback.failures = 0;
        if self.fallback.active.as_ref().is_some_and(|active| active.stage == FallbackStage::Probing) {
            let own_model = self
                .info
                .model
                .and_then(|id| self.runtime.services.models.vendor_name(id))
                .unwrap_or_default();
            self.fallback.active = None;
            let notice = ApiError::new("fallback.over").arg("model", own_model);
            step.event(Event::CommandAnswered { note: notice });
        }
    }

    /// Records a failed call. Returns whether to call another model at once.
    pub(super) fn try_fallback(&mut self, error: &ProviderError, step: &mut Step) -> bool {
        if !error.class.is_retryable() {
            return self.refused_by(error);
        }
        if let Some(active) = &mut self.fallback.active {
            // The own model still fails: the other one serves the same request.
            let was_probing = active.stage == FallbackStage::Probing;
            if was_probing {
                active.stage = FallbackStage::InUse;
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
        let (Some(own_model), true) = (self.info.model, self.fallback.failures >= MAX_FAILURES) else {
            return false;
        };
        let Some(fallback) = self.runtime.services.models.fallback_of(own_model) else { return false };
        self.fallback.failures = 0;
        self.fallback.active = Some(ActiveFallback {
            own_model,
            fallback_model: fallback,
            since: Instant::now(),
            stage: FallbackStage::InUse,
        });
        let name = |id| self.runtime.services.models.vendor_name(id).unwrap_or_default();
        let notice = ApiError::new(reason(error.class))
            .arg("model", name(own_model))
            .arg("fallback", name(fallback))
            .detail(&error.message);
        step.event(Event::CommandAnswered { note: notice });
        true
    }

    /// Records an error that a retry does not change; the failing model decides which one is called next.
    fn refused_by(&mut self, error: &ProviderError) -> bool {
        if matches!(error.class, ErrorClass::Cancelled | ErrorClass::ContextTooLong) {
            return false;
        }
        match self.fallback.active.as_mut() {
            // The other model does not help: the next call uses the own one.
            Some(ActiveFallback { stage: FallbackStage::InUse, .. }) => {
                self.reset_fallback();
                false
            }
            Some(active) => {
                active.stage = FallbackStage::InUse;
                active.since = Instant::now();
                true
            }
            None => false,
        }
    }

    /// Drops the fallback if its model was removed or the own model was changed elsewhere.
    pub(super) fn forget_lost_fallback(&mut self) {
        let is_lost = self.fallback.active.as_ref().is_some_and(|active| {
            Some(active.own_model) != self.info.model
                || self.runtime.services.models.vendor_name(active.fallback_model).is_none()
        });
        if is_lost {
            self.reset_fallback();
        }
    }
}
