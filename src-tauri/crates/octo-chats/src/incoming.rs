//! Messages and actions of people in a chat.

use serde::{Deserialize, Serialize};

/// An action of a person in their chat, in the service's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboundUpdate {
    /// The number that the service gave it. The request for the next batch names the number after the last one.
    pub number: i64,
    /// Sender, a person alone with the bot; `None` for any other update, such as one from a group or from
    /// another bot.
    pub from: Option<Person>,
    /// Content; `None` if Octo has no use for the update.
    pub content: Option<InboundContent>,
}

/// A person at a chat service. Their chat with the bot has their id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// The service's id of the person: the only property that another person cannot choose.
    pub id: String,
    /// Name they chose.
    pub name: String,
}

/// A message, or a press of a button.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum InboundContent {
    /// A message.
    Message {
        /// Its text; empty for a picture without a caption.
        text: String,
        /// Attached files.
        files: Vec<InboundFile>,
        /// Whether it also has an attachment of an unsupported kind: a voice message, a location.
        #[serde(default)]
        more: bool,
    },
    /// A press of a button below an earlier post.
    Pressed(ButtonPress),
}

/// A press of a button.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ButtonPress {
    /// The service's id of the press, needed to answer it.
    pub id: String,
    /// Data of the button; see [`crate::Button`].
    pub data: String,
}

/// A file attached to a message, not downloaded yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboundFile {
    /// The service's id of it.
    pub id: String,
    /// The person's name for it; `None` for a picture.
    pub name: Option<String>,
    /// Size according to the service, in bytes.
    pub bytes: Option<u64>,
}
