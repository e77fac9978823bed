//! A skill: a folder with a SKILL.md.

use crate::{Warning, fields::Fields, format::Document, front::FrontMatter};
use serde::{Deserialize, Serialize};
use std::{fmt, path::PathBuf, time::SystemTime};

/// Where a skill comes from. Later ones take the place of earlier ones of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkillSource {
    /// Came with Octo.
    Bundled,
    /// The person's `.agents/skills`; only read.
    AgentsUser,
    /// The person's `.claude/skills`; only read.
    ClaudeUser,
    /// The person's own, in Octo's home.
    User,
    /// The session folder's `.agents/skills`; only read.
    AgentsProject,
    /// The session folder's `.claude/skills`; only read.
    ClaudeProject,
    /// The session folder's `.octo/skills`.
    Project,
}

impl SkillSource {
    /// Whether it lies in the session's folder: whoever made the folder wrote it.
    pub fn is_project(self) -> bool {
        matches!(self, Self::AgentsProject | Self::ClaudeProject | Self::Project)
    }

    /// Whether Octo may change it.
    pub fn is_writable(self) -> bool {
        matches!(self, Self::User | Self::Project)
    }
}

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
    pub source: SkillSource,
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
    pub source: SkillSource,
    /// Its folder.
    pub folder: PathBuf,
}

impl Skill {
    pub(crate) fn new(document: Document, source: SkillSource, folder: PathBuf) -> Self {
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

    /// Its SKILL.md as it would be written now, unknown keys kept.
    pub fn to_text(&self) -> String {
        self.front.with_body(&self.body)
    }
}
