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
    /// A request that failed. Without an `id` it answers no request: a line that could not be read (`serve.bad_line`,
    /// `serve.long_line`), events that were not delivered (`serve.lost`), or news of a session, which its argument
    /// `session` names: it cannot be stored at present and holds what is newer in memory (`serve.session_waits`), it had
    /// to end for that (`serve.session_ended`), or it can be stored again (`serve.session_stored`). Why is the key in the
    /// argument `cause`, as `store.full`. Such news are no events, since events are stored.
    Error {
        /// The request's id; null where it answers none.
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
