//! The lines of `octo serve`: the same requests and events as the window's, as NDJSON.

use crate::{ApiError, Envelope, Request};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A line a client writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientLine {
    /// Chosen by the client; the reply carries it.
    pub id: u64,
    /// What is asked.
    pub request: Request,
}

/// A line the server writes: a response, an error, or an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "short-lived, and nearly always its largest variant")]
pub enum ServerLine {
    /// The reply to a request.
    Response {
        /// The request's id.
        id: u64,
        /// The reply, of the request's reply type.
        response: Value,
    },
    /// A request that failed; `id` is none when the line could not be read.
    Error {
        /// The request's id.
        id: Option<u64>,
        /// Why.
        error: ApiError,
    },
    /// A durable event of any topic.
    Event {
        /// The event.
        event: Envelope,
    },
}
