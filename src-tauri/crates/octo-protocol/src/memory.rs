//! Octo's memory: one Markdown file per topic, and SOUL.md and USER.md.

use crate::{Millis, SessionId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A memory as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct MemoryCard {
    /// The name of its file.
    pub file: String,
    /// Its topic.
    pub topic: String,
    /// A one-line description of its content.
    pub description: String,
    /// When it was last written or recalled.
    #[ts(type = "number")]
    pub at: Millis,
    /// Its size in bytes.
    #[ts(type = "number")]
    pub size: u64,
    /// The session that wrote it last, if it still exists; `None` if the person did.
    pub session: Option<SessionId>,
    /// That session's title.
    pub title: Option<String>,
    /// The first words of its body.
    pub preview: String,
}

/// A complete memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct MemorySheet {
    /// Its card.
    pub card: MemoryCard,
    /// The body, without topic and description; at most [`MEMORY_BODY_MAX_CHARS`] characters should be stored.
    pub body: String,
    /// A hash of the file, to detect a change by another program.
    pub version: String,
    /// Its absolute path.
    pub path: String,
}

/// The maximum number of characters in a memory's body.
pub const MEMORY_BODY_MAX_CHARS: usize = 4_000;

/// The maximum number of characters of SOUL.md and of USER.md that reach the model.
pub const PERSONA_MAX_CHARS: usize = 1_000;

/// One of the two files that every session starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum PersonaKind {
    /// SOUL.md: the assistant's name and manner.
    Soul,
    /// USER.md: a few words about the person.
    User,
}

/// SOUL.md or USER.md.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct PersonaFile {
    /// The file.
    pub kind: PersonaKind,
    /// Its absolute path.
    pub path: String,
    /// Its text; empty if there is none and Octo's default text applies.
    pub text: String,
    /// Octo's default text, which applies while the file is empty.
    pub standard: String,
}
