//! The lines of `octo serve`: the window's requests and events as NDJSON.

use crate::{ApiError, Envelope, Request};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A line a client writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientLine {
    /// The id, chosen by the client; the reply repeats it.
    pub id: u64,
    /// The request.
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
    /// A failed request. Without an `id` it answers no request: a line Octo could not parse (`serve.bad_line`,
    /// `serve.long_line`), events it did not deliver (`serve.lost`), or news of a session, which the argument
    /// `session` names: Octo currently cannot store it and keeps the newer events in memory
    /// (`serve.session_waits`), the session had to end for that reason (`serve.session_ended`), or it can be
    /// stored again (`serve.session_stored`). The argument `cause` contains the reason's key, such as
    /// `store.full`. Such news are not events, because events are stored.
    Error {
        /// The request's id; `None` if it answers no request.
        id: Option<u64>,
        /// The error.
        error: ApiError,
    },
    /// A durable event of any topic.
    Event {
        /// The event.
        event: Envelope,
    },
}
