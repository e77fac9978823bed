//! A skill: a folder with a SKILL.md.

use crate::{Invocable, Warning, fields::Fields, format::Document, front::FrontMatter};
use octo_protocol::SkillOrigin;
use serde::{Deserialize, Serialize};
use std::{fmt, path::PathBuf, time::SystemTime};

/// Whether the person answers for a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// It came with Octo, the person put it there, or accepted it for this folder.
    Trusted,
    /// It came with a folder and was not accepted: no model is told of it, and it runs no command.
    Untrusted,
}

/// What the person set for a skill, whatever its file says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Usage {
    /// As its file says.
    #[default]
    Full,
    /// A model is told of it, whatever its file says.
    Automatic,
    /// No model is told of it; it can be called by its name.
    OnRequest,
    /// It is not used at all.
    Off,
}

/// What a skill's files are, in one number: BLAKE3 over their paths, kinds, modes and contents. Another one means
/// that something in the folder changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub(crate) [u8; 32]);

impl Fingerprint {
    /// In hexadecimal, 64 digits.
    pub fn to_hex(&self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex().to_string()
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.to_hex())
    }
}

/// A skill that was found. One that cannot be used has an [`Skill::error`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// What it is called by.
    pub name: String,
    /// Where it comes from.
    pub source: SkillOrigin,
    /// Its folder, links followed.
    pub folder: PathBuf,
    /// The folder between the root and its own, where it lies in one.
    pub category: Option<String>,
    /// Its fields.
    pub fields: Fields,
    /// Its whole head, for writing it again.
    pub front: FrontMatter,
    /// Its instructions, not expanded.
    pub body: String,
    /// What was repaired or ignored, and what else its card should say.
    pub warnings: Vec<Warning>,
    /// Why it cannot be used.
    pub error: Option<Warning>,
    /// Whether the person answers for it.
    pub trust: Trust,
    /// What its files are now, for a skill of the session's folder that can be used; none where it has more or larger
    /// ones than are read, and then it cannot be accepted.
    pub fingerprint: Option<Fingerprint>,
    /// What the person set for it, see [`Catalogue::set_usage`](crate::Catalogue::set_usage).
    pub usage: Usage,
    /// When its SKILL.md was last changed.
    pub modified: Option<SystemTime>,
    /// The one of the same name that is used in its place.
    pub shadowed_by: Option<ShadowedBy>,
}

/// What took the place of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShadowedBy {
    /// Where that comes from.
    pub source: SkillOrigin,
    /// Its folder.
    pub folder: PathBuf,
}

impl Skill {
    pub(crate) fn new(document: Document, source: SkillOrigin, folder: PathBuf) -> Self {
        Self {
            name: document.name,
            source,
            folder,
            category: None,
            fields: document.fields,
            front: document.front,
            body: document.body,
            warnings: document.warnings,
            error: document.error,
            trust: Trust::Untrusted,
            fingerprint: None,
            usage: Usage::default(),
            modified: None,
            shadowed_by: None,
        }
    }

    /// Whether a model is told of it, as its author and the person have it.
    pub fn is_automatic(&self) -> bool {
        match self.usage {
            Usage::Full => self.fields.model_invocation == Invocable::Yes,
            Usage::Automatic => true,
            Usage::OnRequest | Usage::Off => false,
        }
    }

    /// Its SKILL.md as it would be written now, unknown keys kept.
    pub fn to_text(&self) -> String {
        self.front.with_body(&self.body)
    }
}
