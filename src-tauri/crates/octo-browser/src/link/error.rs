//! Call errors.

use crate::{CommandRefusal, LinkEnd};
use std::time::Duration;

/// The reason why a command has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The link to the browser has ended.
    #[error("{0}")]
    Closed(LinkEnd),
    /// The browser refused the command.
    #[error("the browser refused {method}: {} ({})", .refusal.message, .refusal.code)]
    Refused {
        /// The command.
        method: String,
        /// The browser's reply.
        refusal: CommandRefusal,
    },
    /// The tab, frame or session the command was for is gone.
    #[error("what {method} was for is gone")]
    Gone {
        /// The command.
        method: String,
    },
    /// No answer came in time.
    #[error("{method} had no answer within {} ms", .limit.as_millis())]
    TimedOut {
        /// The command.
        method: String,
        /// The timeout.
        limit: Duration,
    },
    /// The answer has an unexpected form.
    #[error("the answer to {method} could not be read: {detail}")]
    Unreadable {
        /// The command.
        method: String,
        /// The parse error.
        detail: String,
    },
}

/// Code of "Session with given id not found", "Inspected target navigated or closed" and similar errors.
const SESSION_NOT_FOUND: i64 = -32001;

impl CallError {
    pub(crate) fn from_refusal(method: &str, refusal: CommandRefusal) -> Self {
        let method = method.to_owned();
        let is_gone = refusal.code == SESSION_NOT_FOUND
            || [
                "No target with given id",
                "No session with given id",
                "Inspected target navigated or closed",
            ]
            .iter()
            .any(|prefix| refusal.message.starts_with(prefix));
        if is_gone { Self::Gone { method } } else { Self::Refused { method, refusal } }
    }
}
