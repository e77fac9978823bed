//! The gates before a model call, in order:
//!
//! 1. the turn has a permit of the turn limiter ([`permit`]), or waits for one;
//! 2. the model is chosen ([`super::fallback`]);
//! 3. no budget is used up ([`budget`]), or Octo asks the person;
//! 4. the conversation is below its limit ([`super::compacting`]), or is compacted.
//!
//! A closed gate stores the pending call. When the gate opens, the call continues with the remaining gates.

mod budget;
mod permit;

pub(super) use budget::{Allowance, Budget};
pub(crate) use budget::{BudgetReport, midnight};
pub(super) use permit::TurnPermit;

use super::{model_call::CallAttempt, state::Session, step::Step};

/// The call that waits behind the gates.
#[derive(Clone, Copy)]
pub(super) enum GatedCall {
    /// A new model call.
    Call,
    /// A specific attempt. Its turn has a permit, and its conversation was small enough for the previous
    /// attempt.
    Attempt(CallAttempt),
}

/// A condition for a model call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gate {
    Permit,
    Model,
    Budget,
    Size,
}

/// Whether a gate lets a call through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passage {
    Open,
    /// A condition must be met first; the gate then resumes the call.
    Closed,
}

impl Gate {
    const ALL: [Self; 4] = [Self::Permit, Self::Model, Self::Budget, Self::Size];
}

impl Session {
    /// Makes a model call once this gate and all later ones are open.
    pub(super) fn before_call(&mut self, first: Gate, next: GatedCall, step: &mut Step) {
        for gate in Gate::ALL.into_iter().skip_while(|gate| *gate != first) {
            let passage = match gate {
                Gate::Permit => self.has_permit(next),
                Gate::Model => self.choose_model(),
                Gate::Budget => self.is_within_budget(next, step),
                Gate::Size => self.is_below_limit(next, step),
            };
            if passage == Passage::Closed {
                return;
            }
        }
        match next {
            GatedCall::Call => self.begin_first_attempt(step),
            GatedCall::Attempt(attempt) => self.attempt_model(attempt, step),
        }
    }

    fn choose_model(&mut self) -> Passage {
        self.forget_lost_fallback();
        self.probe_if_due();
        Passage::Open
    }

    fn is_below_limit(&mut self, next: GatedCall, step: &mut Step) -> Passage {
        match next {
            GatedCall::Call if self.compact_if_full(step) => Passage::Closed,
            GatedCall::Call | GatedCall::Attempt(_) => Passage::Open,
        }
    }
}
