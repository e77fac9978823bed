//! What Octo remembers: one Markdown file a topic, and SOUL.md and USER.md.

use crate::{Millis, SessionId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A memory as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct MemoryCard {
    /// The name of its file.
    pub file: String,
    /// Its topic.
    pub topic: String,
    /// What is in it, one line.
    pub description: String,
    /// When it was last written or recalled.
    #[ts(type = "number")]
    pub at: Millis,
    /// Its size in bytes.
    #[ts(type = "number")]
    pub size: u64,
    /// The session that wrote it last, if that is still there; none for the person.
    pub session: Option<SessionId>,
    /// That session's title.
    pub title: Option<String>,
    /// The first words of its body.
    pub preview: String,
}

/// A memory, whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct MemorySheet {
    /// Its card.
    pub card: MemoryCard,
    /// The body, without topic and description; at most [`MEMORY_BODY`] characters are meant to be kept.
    pub body: String,
    /// What the file holds now, to notice that somebody else changed it: a hash.
    pub version: String,
    /// Its absolute path.
    pub path: String,
}

/// The most characters of a memory's body.
pub const MEMORY_BODY: usize = 4_000;

/// The most characters of SOUL.md and of USER.md that reach the model.
pub const PERSONA_SHOWN: usize = 1_000;

/// Which of the two files every session starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum PersonaKind {
    /// SOUL.md: the assistant's name and manner.
    Soul,
    /// USER.md: a few words about the person.
    User,
}

/// SOUL.md or USER.md.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct PersonaFile {
    /// Which.
    pub kind: PersonaKind,
    /// Its absolute path.
    pub path: String,
    /// What it says; empty where there is none and Octo's own words hold.
    pub text: String,
    /// Octo's own words, which hold where the file is empty.
    pub standard: String,
}
