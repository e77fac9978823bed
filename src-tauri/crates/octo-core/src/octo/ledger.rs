//! Requests about what model calls used and cost.

use super::{Octo, json};
use octo_protocol::{ApiError, BilledCalls, LedgerRequest, SpendingReport};
use serde_json::Value;

impl Octo {
    pub(super) async fn ledger(&self, request: LedgerRequest) -> Result<Value, ApiError> {
        let store = &self.shared.store;
        match request {
            LedgerRequest::CallsOfTurn(call) => {
                let calls = store.read(move |reader| reader.calls_billed(call.turn)).await;
                json(BilledCalls { calls: calls.map_err(ApiError::from)? })
            }
            LedgerRequest::ReportSpending(call) => {
                let lines = store.read(move |reader| reader.spending_lines(call.from, call.to)).await;
                json(SpendingReport { lines: lines.map_err(ApiError::from)? })
            }
        }
    }
}
