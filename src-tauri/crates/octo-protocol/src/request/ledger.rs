//! Requests about what model calls used and cost.

use super::{Call, Request};
use crate::{AboveIdeal, BilledCall, Millis, MissLine, MissedCall, SessionId, SpendingLine, TurnId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests about what model calls used and cost.
    LedgerRequest in Ledger, LedgerReplies {
        /// The model calls of a turn, oldest first.
        CallsOfTurn {
            /// Which session.
            session: SessionId,
            /// Which turn.
            turn: TurnId,
        } -> BilledCalls;
        /// What was spent between two moments, in all sessions.
        ReportSpending {
            /// From when on.
            #[ts(type = "number")]
            from: Millis,
            /// Up to when; not included.
            #[ts(type = "number")]
            to: Millis,
        } -> SpendingReport;
    }
}

/// Lines of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct BilledCalls {
    /// Oldest first.
    pub calls: Vec<BilledCall>,
}

/// What was spent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SpendingReport {
    /// By day, model and purpose, oldest day first.
    pub lines: Vec<SpendingLine>,
    /// Why calls read less from the cache than they should have, the dearest reason first.
    pub misses: Vec<MissLine>,
    /// The calls that paid most for it, the dearest first; at most twelve.
    pub dearest: Vec<MissedCall>,
    /// What was spent beyond the ideal.
    pub above: AboveIdeal,
}
