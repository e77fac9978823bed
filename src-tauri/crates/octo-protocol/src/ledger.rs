//! The ledger: what every model call used, what it cost, and why it cost more than it should have.

use crate::{Cost, MessageId, Millis, ModelId, SessionId, TurnId, Usage};
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;
use ts_rs::TS;

/// One model call, as it stands in the ledger. Failed tries have a line of their own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct BilledCall {
    /// The turn it belongs to; none for calls between turns.
    pub turn: Option<TurnId>,
    /// The message it made, kept or discarded; none where it made none.
    pub message: Option<MessageId>,
    /// What it was for.
    pub purpose: Purpose,
    /// The model entry that was asked.
    pub model: Option<ModelId>,
    /// The vendor's name of the model, as it was asked for: entries come and go.
    pub name: String,
    /// When it began.
    #[ts(type = "number")]
    pub at: Millis,
    /// What the provider says it used; none where it did not say.
    pub usage: Option<Usage>,
    /// Those of the tokens written to the cache that are kept for an hour.
    #[ts(type = "number")]
    pub written_for_an_hour: u64,
    /// What it cost; none for "unknown", never a guess.
    pub cost: Option<Cost>,
    /// How long the first byte of the answer took, in milliseconds; none where none came.
    #[ts(type = "number | null")]
    pub first_byte_ms: Option<u64>,
    /// How long it took in all, in milliseconds.
    #[ts(type = "number")]
    pub total_ms: u64,
    /// How it ended.
    pub outcome: CallOutcome,
    /// How many tokens should have come from the provider's cache; none where that could not be known.
    #[ts(type = "number | null")]
    pub expected_read: Option<u64>,
    /// Why fewer did; none where they did not.
    pub miss: Option<CacheMiss>,
    /// How many tokens were therefore paid for that should have been read: never more than the call paid for beyond
    /// what it read.
    #[serde(default)]
    #[ts(type = "number")]
    pub again: u64,
    /// What these cost above reading them; none for "unknown".
    #[serde(default)]
    pub again_cost: Option<Cost>,
}

/// What a model call was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Purpose {
    /// The work itself.
    Turn,
    /// The work of a sub-agent.
    SubAgent,
    /// Summing up earlier messages, so that the conversation fits.
    Compaction,
    /// Keeping the provider's cache alive through a pause.
    Warmth,
    /// Guessing the person's next message.
    Suggestion,
}

/// How a model call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum CallOutcome {
    /// The answer was whole.
    Answered,
    /// It was stopped.
    Stopped,
    /// It failed.
    Failed,
}

/// Why less was read from the provider's cache than should have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case", tag = "class")]
#[ts(export)]
pub enum CacheMiss {
    /// Another model, or another effort, was asked.
    Model,
    /// The tools changed.
    Tools,
    /// The system prompt changed.
    System,
    /// The messages changed, this one (counted from 0) first. A compaction does that.
    Messages {
        /// Its place.
        first: u32,
    },
    /// More time passed than the provider keeps what was written.
    Expired,
    /// What both requests have in common is shorter than what the provider keeps.
    BelowMinimum,
    /// Nothing on this side explains it: the provider lost it, or says nothing of its cache.
    ProviderSilent,
}

/// The class of a [`CacheMiss`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
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
    /// Its class.
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

/// What calls paid for again for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct MissLine {
    /// The reason.
    pub class: MissClass,
    /// How many calls.
    #[ts(type = "number")]
    pub calls: u64,
    /// How many tokens were paid for that should have been read; see [`BilledCall::again`].
    #[ts(type = "number")]
    pub again: u64,
    /// What these cost above reading them, as far as that is known.
    pub cost: Cost,
    /// How many of the calls cost something unknown.
    #[ts(type = "number")]
    pub unpriced: u64,
}

/// A call that read less from the cache than it should have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct MissedCall {
    /// The session.
    pub session: SessionId,
    /// Its title; none where the session was deleted.
    pub title: Option<String>,
    /// The vendor's name of the model.
    pub name: String,
    /// When the call began.
    #[ts(type = "number")]
    pub at: Millis,
    /// Why it read less.
    pub miss: CacheMiss,
    /// See [`BilledCall::again`].
    #[ts(type = "number")]
    pub again: u64,
    /// See [`BilledCall::again_cost`].
    pub cost: Option<Cost>,
}

/// What was spent beyond the ideal, in which every token is written to the cache once and read from then on, and no
/// call is made in vain. It is the sum of what the ledger's lines say, so it leaves out what they cannot: the first
/// call of a conversation after a start of Octo has nothing to be measured by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct AboveIdeal {
    /// Tokens paid for again, above reading them.
    pub missed: Cost,
    /// Keeping caches alive through pauses.
    pub warmth: Cost,
    /// Calls that failed, where the provider still said what they used.
    pub failed: Cost,
    /// Calls of which it is not known what they cost above the ideal.
    #[ts(type = "number")]
    pub unpriced: u64,
}

impl AboveIdeal {
    /// All of it.
    pub fn total(&self) -> Cost {
        [self.missed, self.warmth, self.failed].into_iter().sum()
    }
}

/// What several calls used and cost together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Spending {
    /// How many calls.
    #[ts(type = "number")]
    pub calls: u64,
    /// What they used, as far as the providers said.
    pub usage: Usage,
    /// What they cost, as far as that is known.
    pub cost: Cost,
    /// How many of them cost something unknown.
    #[ts(type = "number")]
    pub unpriced: u64,
}

impl AddAssign<&BilledCall> for Spending {
    /// Adds a call. Totals stop at the largest number instead of wrapping.
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
    /// Adds other spending. Totals stop at the largest number instead of wrapping.
    fn add_assign(&mut self, other: &Spending) {
        self.calls = self.calls.saturating_add(other.calls);
        self.usage += other.usage;
        self.cost += other.cost;
        self.unpriced = self.unpriced.saturating_add(other.unpriced);
    }
}

/// A line of the usage report: one day, one model, one purpose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SpendingLine {
    /// The day on the person's clock, as in `2026-11-22`.
    pub day: String,
    /// The vendor's name of the model.
    pub name: String,
    /// What for.
    pub purpose: Purpose,
    /// How much.
    pub spending: Spending,
}

/// A turn pauses because a budget is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct BudgetStop {
    /// Which budget.
    pub scope: BudgetScope,
    /// What was spent, as far as it is known.
    pub spent: Cost,
    /// What may be spent.
    pub limit: Cost,
    /// Calls in it that cost something unknown.
    #[ts(type = "number")]
    pub unpriced: u64,
}

/// What a budget is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum BudgetScope {
    /// The turn.
    Task,
    /// The session.
    Session,
    /// The day.
    Day,
}

/// What the person says to a used-up budget. No answer is never a yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum BudgetAnswer {
    /// Go on until as much again is spent.
    More,
    /// Go on; for this session the budget counts no more.
    NoLimit,
    /// Stop the turn.
    Stop,
}

/// What the next call would cost if the model was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SwitchCost {
    /// Tokens the new model reads for the first time.
    #[ts(type = "number")]
    pub tokens: u64,
    /// What that costs; none where its price is not known.
    pub cost: Option<Cost>,
    /// What the present model would have read from its cache instead, if that is likely to be still there.
    pub instead: Option<Cost>,
}

/// How much may be spent before Octo pauses and asks. None for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export)]
pub struct Budgets {
    /// In one session.
    pub session: Option<Cost>,
    /// On one day, in all sessions.
    pub day: Option<Cost>,
    /// In one turn.
    pub task: Option<Cost>,
}
