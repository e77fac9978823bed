//! A skill: a folder with a SKILL.md.

use crate::{Invocable, Warning, fields::Fields, format::Document, front::FrontMatter};
use octo_protocol::{SkillOrigin, Switch};
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
    /// What its files are now; none where it has more or larger ones than are looked at.
    pub fingerprint: Option<Fingerprint>,
    /// When its SKILL.md was last changed.
    pub modified: Option<SystemTime>,
    /// The one of the same name that is used in its place.
    pub shadowed_by: Option<ShadowedBy>,
    /// What the person chose for it.
    pub switches: Switches,
}

/// What a person chose for a skill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// Whether it can be used at all.
    pub on: Switch,
    /// Whether a model is told of it; none: as its author has it.
    pub automatic: Option<Switch>,
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
            modified: None,
            shadowed_by: None,
            switches: Switches::default(),
        }
    }

    /// Whether a model is told of it, as its author and the person have it.
    pub fn is_automatic(&self) -> bool {
        let automatic = self
            .switches
            .automatic
            .map_or(self.fields.model_invocation == Invocable::Yes, |switch| switch == Switch::On);
        automatic && self.switches.on == Switch::On
    }

    /// Its SKILL.md as it would be written now, unknown keys kept.
    pub fn to_text(&self) -> String {
        self.front.with_body(&self.body)
    }
}
