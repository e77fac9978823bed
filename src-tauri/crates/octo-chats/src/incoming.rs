//! What people sent.

use serde::{Deserialize, Serialize};

/// Something a person did in their chat, in the service's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incoming {
    /// Its number at the service. The next batch is asked for with the number after the last one.
    pub number: i64,
    /// Who did it; none where it is nothing a person alone with the bot did: of a group, of another bot.
    pub from: Option<Person>,
    /// What it was.
    pub letter: Option<Letter>,
}

/// Somebody at a chat service. Their chat with the bot has their id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// The service's id of them: the one thing of them that nobody else can choose.
    pub id: String,
    /// What they call themselves.
    pub name: String,
}

/// A message, or a button that was pressed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Letter {
    /// A message.
    Message {
        /// Its words; empty for a picture without any.
        text: String,
        /// What came with it.
        files: Vec<LetterFile>,
        /// Whether something else came with it that cannot be taken: a voice, a place.
        #[serde(default)]
        more: bool,
    },
    /// A button below an earlier post was pressed.
    Pressed(Press),
}

/// A button that was pressed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Press {
    /// The service's id of the press, by which it is answered.
    pub id: String,
    /// What the button stands for; see [`crate::Button`].
    pub data: String,
}

/// A file that came with a message. It is still at the service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LetterFile {
    /// The service's id of it.
    pub id: String,
    /// What the person called it; none for a picture.
    pub name: Option<String>,
    /// How large the service says it is, in bytes.
    pub bytes: Option<u64>,
}
