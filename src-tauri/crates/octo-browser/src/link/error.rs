//! Why a command has no answer.

use crate::{Ending, Refusal};
use std::time::Duration;

/// Why a command has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The line to the browser is over.
    #[error("{0}")]
    Closed(Ending),
    /// The browser did not do it.
    #[error("the browser refused {method}: {} ({})", .refusal.message, .refusal.code)]
    Refused {
        /// The command.
        method: String,
        /// Its words.
        refusal: Refusal,
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
        /// How long it was waited.
        limit: Duration,
    },
    /// An answer came that does not have the form it should have.
    #[error("the answer to {method} could not be read: {detail}")]
    Unreadable {
        /// The command.
        method: String,
        /// What is wrong with it.
        detail: String,
    },
}

/// "Session with given id not found" and "Inspected target navigated or closed" and the like.
const SESSION_NOT_FOUND: i64 = -32001;

impl CallError {
    pub(crate) fn refused(method: &str, refusal: Refusal) -> Self {
        let method = method.to_owned();
        let gone = refusal.code == SESSION_NOT_FOUND
            || [
                "No target with given id",
                "No session with given id",
                "Inspected target navigated or closed",
            ]
            .iter()
            .any(|words| refusal.message.starts_with(words));
        if gone { Self::Gone { method } } else { Self::Refused { method, refusal } }
    }
}
