//! Requests about the usage and cost of model calls.

use crate::reply::json;
use octo_protocol::{ApiError, BilledCalls, LedgerRequest, SpendingReport};
use octo_store::Store;
use serde_json::Value;

/// Number of single cache misses in a report.
const LISTED_MISSES: u32 = 12;

/// Carries out a request.
pub(crate) async fn request(store: &Store, request: LedgerRequest) -> Result<Value, ApiError> {
    match request {
        LedgerRequest::CallsOfTurn(call) => {
            let calls = store.read(move |reader| reader.calls_billed(call.turn)).await;
            json(BilledCalls { calls: calls? })
        }
        LedgerRequest::ReportSpending(call) => {
            let report = store.read(move |reader| {
                Ok(SpendingReport {
                    lines: reader.spending_lines(call.from, call.to)?,
                    misses: reader.misses(call.from, call.to)?,
                    dearest: reader.most_expensive_misses(call.from, call.to, LISTED_MISSES)?,
                    above: reader.cost_above_ideal(call.from, call.to)?,
                })
            });
            json(report.await?)
        }
    }
}
