//! Identifiers. Each names one kind of thing and cannot be mistaken for another.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};
use ts_rs::TS;
use uuid::Uuid;

/// Milliseconds since the Unix epoch, UTC. The only form of time that is stored or sent.
pub type Millis = i64;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        /// A UUID of version 7, which makes newer ids sort after older ones; as text, 32 lower-case hex digits.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
        #[serde(try_from = "String", into = "String")]
        #[ts(export, export_to = "protocol.ts", type = "string")]
        pub struct $name(Uuid);

        impl $name {
            /// Creates an id, later than all earlier ones of this process.
            pub fn new() -> Self {
                Self(Uuid::now_v7())
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0.as_simple())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0.as_simple())
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;
            /// Accepts only the full text form: a prefix of an id never names anything.
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                if text.len() != 32 {
                    return Err(InvalidId);
                }
                Uuid::try_parse(text).map(Self).map_err(|_| InvalidId)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;
            fn try_from(text: String) -> Result<Self, InvalidId> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.to_string()
            }
        }
    };
}

/// The text is not an id: it must be 32 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an id: 32 hex digits expected")]
pub struct InvalidId;

id!(
    /// A conversation with its folder, model and mode.
    SessionId
);
id!(
    /// A turn: the person's message and all the work that follows from it.
    TurnId
);
id!(
    /// One message of a conversation.
    MessageId
);
id!(
    /// A question that waits for the person: a permission or feedback.
    QuestionId
);
id!(
    /// A message that waits in a session's queue.
    QueuedId
);
id!(
    /// A configured model (an entry of the person's list, not the vendor's name).
    ModelId
);
id!(
    /// A tool call. The id is Octo's own: Octo stores vendors' ids separately, because they may repeat.
    CallId
);
id!(
    /// An entry in the trash.
    TrashId
);
id!(
    /// A run of a task, or a time at which it did not run.
    RunId
);
id!(
    /// A proposed skill, or an offer of skills to install.
    SuggestionId
);
id!(
    /// A diagnostic report on this Octo.
    DiagnosticsId
);

/// The content hash (BLAKE3, 64 hex digits) that names a stored blob.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(transparent)]
#[ts(export, export_to = "protocol.ts", type = "string")]
pub struct BlobHash(pub String);
