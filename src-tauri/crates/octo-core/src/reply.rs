//! Replies to clients' requests, as JSON.

use octo_protocol::{Acknowledgement, ApiError};
use serde::Serialize;
use serde_json::Value;

/// Returns a reply as JSON.
pub(crate) fn json<T: Serialize>(reply: T) -> Result<Value, ApiError> {
    serde_json::to_value(reply).map_err(|error| ApiError::new("internal").detail(error))
}

/// Returns the reply to a request that only succeeds or fails.
pub(crate) fn acknowledge(outcome: Result<(), ApiError>) -> Result<Value, ApiError> {
    outcome?;
    json(Acknowledgement {})
}
