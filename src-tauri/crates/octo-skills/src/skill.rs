//! A skill: a folder with a SKILL.md.

use crate::{Invocable, Warning, fields::Fields, format::SkillDocument, front_matter::FrontMatter};
use octo_protocol::SkillOrigin;
use serde::{Deserialize, Serialize};
use std::{fmt, path::PathBuf, time::SystemTime};

/// Whether the person vouches for a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// It is bundled, or the person installed it, or accepted it for this folder.
    Trusted,
    /// It was in a session's folder and was not accepted: no model sees it, and it runs no command.
    Untrusted,
}

/// The person's setting for a skill, which overrides its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkillUsage {
    /// As in its file.
    #[default]
    Full,
    /// A model sees it, regardless of its file.
    Automatic,
    /// No model sees it; it can be called by name.
    OnRequest,
    /// It is not used at all.
    Off,
}

/// Identity of a skill's files: BLAKE3 over their paths, kinds, modes and contents. It changes when anything in
/// the folder changes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub(crate) [u8; 32]);

impl Fingerprint {
    /// Returns it in hexadecimal, 64 digits.
    pub fn to_hex(&self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex().to_string()
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.to_hex())
    }
}

/// A discovered skill. An unusable one has an [`Skill::error`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// Name it is called by.
    pub name: String,
    /// Its source.
    pub source: SkillOrigin,
    /// Its folder, with links resolved.
    pub folder: PathBuf,
    /// Folder between the root and its own, if any.
    pub category: Option<String>,
    /// Its fields.
    pub fields: Fields,
    /// Its whole head, for rewriting it.
    pub front: FrontMatter,
    /// Its unexpanded instructions.
    pub body: String,
    /// Notes on repaired and ignored parts, and other remarks for its card.
    pub warnings: Vec<Warning>,
    /// Reason why it cannot be used.
    pub error: Option<Warning>,
    /// Whether the person vouches for it.
    pub trust: Trust,
    /// Current fingerprint of its files, for a usable skill of the session's folder; `None` if they exceed the
    /// limits, and then it cannot be accepted.
    pub fingerprint: Option<Fingerprint>,
    /// The person's setting, see [`Catalogue::set_usage`](crate::Catalogue::set_usage).
    pub usage: SkillUsage,
    /// Modification time of its SKILL.md.
    pub modified: Option<SystemTime>,
    /// Skill of the same name that is used instead.
    pub shadowed_by: Option<ShadowedBy>,
}

/// Skill that is used instead of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShadowedBy {
    /// Its source.
    pub source: SkillOrigin,
    /// Its folder.
    pub folder: PathBuf,
}

impl Skill {
    pub(crate) fn new(document: SkillDocument, source: SkillOrigin, folder: PathBuf) -> Self {
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
            usage: SkillUsage::default(),
            modified: None,
            shadowed_by: None,
        }
    }

    /// Returns whether a model sees it, according to its author and the person.
    pub fn is_automatic(&self) -> bool {
        match self.usage {
            SkillUsage::Full => self.fields.model_invocation == Invocable::Yes,
            SkillUsage::Automatic => true,
            SkillUsage::OnRequest | SkillUsage::Off => false,
        }
    }

    /// Returns its SKILL.md as it would be written now, with unknown keys kept.
    pub fn to_text(&self) -> String {
        self.front.with_body(&self.body)
    }
}
