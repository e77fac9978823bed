//! The ledger: the usage and cost of every model call, and the reasons for avoidable cost.

use crate::{Cost, MessageId, Millis, ModelId, SessionId, TurnId, Usage};
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;
use ts_rs::TS;

/// One model call in the ledger. A failed attempt is an entry of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct BilledCall {
    /// The turn it belongs to; `None` for calls between turns.
    pub turn: Option<TurnId>,
    /// The message it produced, kept or discarded; `None` if it produced none.
    pub message: Option<MessageId>,
    /// Its purpose.
    pub purpose: Purpose,
    /// The model entry it used.
    pub model: Option<ModelId>,
    /// The vendor's name of the model at the time of the call: entries can change or disappear.
    pub name: String,
    /// When it began.
    #[ts(type = "number")]
    pub at: Millis,
    /// The usage the provider reported; `None` if it reported none.
    pub usage: Option<Usage>,
    /// The tokens written to the cache with a lifetime of one hour.
    #[ts(type = "number")]
    pub written_for_an_hour: u64,
    /// The cost; `None` means "unknown", never a guess.
    pub cost: Option<Cost>,
    /// The time to the first byte of the answer, in milliseconds; `None` if no byte arrived.
    #[ts(type = "number | null")]
    pub first_byte_ms: Option<u64>,
    /// The total duration, in milliseconds.
    #[ts(type = "number")]
    pub total_ms: u64,
    /// How it ended.
    pub outcome: CallOutcome,
    /// The number of tokens expected from the provider's cache; `None` if it cannot be known.
    #[ts(type = "number | null")]
    pub expected_read: Option<u64>,
    /// Why fewer tokens were read; `None` if there was no shortfall.
    pub miss: Option<CacheMiss>,
    /// The number of tokens paid for that should have been read from the cache: never more than the tokens the
    /// call paid for in addition to those it read.
    #[serde(default)]
    #[ts(type = "number")]
    pub again: u64,
    /// The extra cost of these tokens over reading them from the cache; `None` means "unknown".
    #[serde(default)]
    pub again_cost: Option<Cost>,
}

/// The purpose of a model call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum Purpose {
    /// The work of a turn.
    Turn,
    /// The work of a sub-agent.
    SubAgent,
    /// Summarising earlier messages to make the conversation fit.
    Compaction,
    /// Keeping the provider's cache alive through a pause.
    Warmth,
    /// Guessing the person's next message.
    Suggestion,
}

/// How a model call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum CallOutcome {
    /// The answer was complete.
    Answered,
    /// It was stopped.
    Stopped,
    /// It failed.
    Failed,
}

/// Why a call read less from the provider's cache than expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case", tag = "class")]
#[ts(export, export_to = "protocol.ts")]
pub enum CacheMiss {
    /// The call used another model or another effort.
    Model,
    /// The tools changed.
    Tools,
    /// The system prompt changed.
    System,
    /// The messages changed, starting with this one (counted from 0). A compaction causes this.
    Messages {
        /// The index of the first changed message.
        first: u32,
    },
    /// The provider's cache lifetime had passed.
    Expired,
    /// The shared prefix of both requests is below the provider's caching minimum.
    BelowMinimum,
    /// No cause found in Octo: the provider evicted the cache or does not report it.
    ProviderSilent,
}

/// The class of a [`CacheMiss`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum MissClass {
    /// See [`CacheMiss::Model`].
    Model,
    /// See [`CacheMiss::Tools`].
    Tools,
    /// See [`CacheMiss::System`].
    System,
    /// See [`CacheMiss::Messages`].
    Messages,
    /// See [`CacheMiss::Expired`].
    Expired,
    /// See [`CacheMiss::BelowMinimum`].
    BelowMinimum,
    /// See [`CacheMiss::ProviderSilent`].
    ProviderSilent,
}

impl CacheMiss {
    /// Returns its class.
    pub fn class(self) -> MissClass {
        match self {
            Self::Model => MissClass::Model,
            Self::Tools => MissClass::Tools,
            Self::System => MissClass::System,
            Self::Messages { .. } => MissClass::Messages,
            Self::Expired => MissClass::Expired,
            Self::BelowMinimum => MissClass::BelowMinimum,
            Self::ProviderSilent => MissClass::ProviderSilent,
        }
    }
}

/// The tokens that calls paid for again for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct MissLine {
    /// The reason.
    pub class: MissClass,
    /// The number of calls.
    #[ts(type = "number")]
    pub calls: u64,
    /// The number of tokens paid for that should have been read; see [`BilledCall::again`].
    #[ts(type = "number")]
    pub again: u64,
    /// The known extra cost of these tokens over reading them.
    pub cost: Cost,
    /// The number of calls whose extra cost is unknown.
    #[ts(type = "number")]
    pub unpriced: u64,
}

/// A call that read less from the cache than it should have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct MissedCall {
    /// The session.
    pub session: SessionId,
    /// Its title; `None` if the session was deleted.
    pub title: Option<String>,
    /// The vendor's name of the model.
    pub name: String,
    /// When the call began.
    #[ts(type = "number")]
    pub at: Millis,
    /// The reason.
    pub miss: CacheMiss,
    /// See [`BilledCall::again`].
    #[ts(type = "number")]
    pub again: u64,
    /// See [`BilledCall::again_cost`].
    pub cost: Option<Cost>,
}

/// The spending above the ideal, in which every token is written to the cache once and read from then on, and
/// no call is wasted. It is the sum of the ledger's entries, so it omits costs they cannot contain: the first
/// call of a conversation after a start of Octo has no baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct AboveIdeal {
    /// Tokens paid for again, above the cost of reading them.
    pub missed: Cost,
    /// Calls that kept caches alive through pauses.
    pub warmth: Cost,
    /// Failed calls for which the provider still reported usage.
    pub failed: Cost,
    /// The number of calls whose cost above the ideal is unknown.
    #[ts(type = "number")]
    pub unpriced: u64,
}

impl AboveIdeal {
    /// Returns the sum.
    pub fn total(&self) -> Cost {
        [self.missed, self.warmth, self.failed].into_iter().sum()
    }
}

/// The usage and cost of several calls together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Spending {
    /// The number of calls.
    #[ts(type = "number")]
    pub calls: u64,
    /// The usage reported by the providers.
    pub usage: Usage,
    /// The known cost.
    pub cost: Cost,
    /// The number of calls whose cost is unknown.
    #[ts(type = "number")]
    pub unpriced: u64,
}

impl AddAssign<&BilledCall> for Spending {
    /// Adds a call. Totals saturate instead of wrapping.
    fn add_assign(&mut self, call: &BilledCall) {
        self.calls = self.calls.saturating_add(1);
        self.usage += call.usage.unwrap_or_default();
        match call.cost {
            Some(cost) => self.cost += cost,
            None => self.unpriced = self.unpriced.saturating_add(1),
        }
    }
}

impl AddAssign<&Spending> for Spending {
    /// Adds other spending. Totals saturate instead of wrapping.
    fn add_assign(&mut self, other: &Spending) {
        self.calls = self.calls.saturating_add(other.calls);
        self.usage += other.usage;
        self.cost += other.cost;
        self.unpriced = self.unpriced.saturating_add(other.unpriced);
    }
}

/// A line of the usage report: one day, one model, one purpose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SpendingLine {
    /// The day in the person's time zone, as in `2026-11-22`.
    pub day: String,
    /// The vendor's name of the model.
    pub name: String,
    /// The purpose.
    pub purpose: Purpose,
    /// The amounts.
    pub spending: Spending,
}

/// A pause of a turn because a budget is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct BudgetStop {
    /// The exhausted budget.
    pub scope: BudgetScope,
    /// The known spending.
    pub spent: Cost,
    /// The limit.
    pub limit: Cost,
    /// The number of calls in it whose cost is unknown.
    #[ts(type = "number")]
    pub unpriced: u64,
}

/// The scope of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum BudgetScope {
    /// The turn.
    Task,
    /// The session.
    Session,
    /// The day.
    Day,
}

/// The person's answer to an exhausted budget. Silence never means yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum BudgetAnswer {
    /// Continue until the same amount is spent again.
    More,
    /// Continue without this budget in this session.
    NoLimit,
    /// Stop the turn.
    Stop,
}

/// The cost of the next call if the person switches the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SwitchCost {
    /// The number of tokens that the new model reads for the first time.
    #[ts(type = "number")]
    pub tokens: u64,
    /// Their cost; `None` if the price is unknown.
    pub cost: Option<Cost>,
    /// The cost of the current model's cache read instead, if its cache is probably still alive.
    pub instead: Option<Cost>,
}

/// Spending limits at which Octo pauses and asks. `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export, export_to = "protocol.ts")]
pub struct Budgets {
    /// The limit for one session.
    pub session: Option<Cost>,
    /// The limit for one day, across all sessions.
    pub day: Option<Cost>,
    /// The limit for one turn.
    pub task: Option<Cost>,
}
