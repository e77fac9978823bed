//! Requests about usage and cost of model calls.

use super::{Request, TypedRequest};
use crate::{AboveIdeal, BilledCall, Millis, MissLine, MissedCall, SessionId, SpendingLine, TurnId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests about usage and cost of model calls.
    LedgerRequest in Ledger, LedgerReplies {
        /// Returns the model calls of a turn, oldest first.
        CallsOfTurn {
            /// The session.
            session: SessionId,
            /// The turn.
            turn: TurnId,
        } -> BilledCalls;
        /// Returns the spending between two moments, in all sessions.
        ReportSpending {
            /// The start.
            #[ts(type = "number")]
            from: Millis,
            /// The end, exclusive.
            #[ts(type = "number")]
            to: Millis,
        } -> SpendingReport;
    }
}

/// Entries of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct BilledCalls {
    /// The calls, oldest first.
    pub calls: Vec<BilledCall>,
}

/// The spending of a period.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SpendingReport {
    /// By day, model and purpose, oldest day first.
    pub lines: Vec<SpendingLine>,
    /// Why calls read less from the cache than expected, the most expensive reason first.
    pub misses: Vec<MissLine>,
    /// The calls that paid most for it, the most expensive first; at most twelve.
    pub dearest: Vec<MissedCall>,
    /// The spending above the ideal.
    pub above: AboveIdeal,
}
