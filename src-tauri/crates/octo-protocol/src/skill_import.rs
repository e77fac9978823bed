//! Skills that other agents installed on this machine.

use crate::{ApiError, OfferedSkill, SuggestionId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The owner of a folder of skills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum OtherAgent {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// OpenClaw.
    OpenClaw,
    /// A folder that several agents share.
    Shared,
    /// A folder the person picked.
    Picked,
}

/// A folder with another agent's skills. Octo has installed none of them yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct OtherSkills {
    /// The agent.
    pub agent: OtherAgent,
    /// The folder.
    pub folder: String,
    /// The id for importing skills from it; valid until Octo ends or searches again.
    pub offer: SuggestionId,
    /// The skills in it, by name.
    pub skills: Vec<OfferedSkill>,
    /// Why it cannot be read, or not completely.
    pub problem: Option<ApiError>,
}

/// A skill to import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SkillImportChoice {
    /// The folder that contains it.
    pub offer: SuggestionId,
    /// Its name there.
    pub name: String,
    /// The action if the person has a skill of that name.
    pub taken: NameConflictAction,
}

/// The action if the person already has a skill of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum NameConflictAction {
    /// Keep the person's skill and import nothing.
    Keep,
    /// Move the person's skill to the trash.
    Replace,
    /// Append a number to the imported skill's name.
    Rename,
}

/// The result of an import. A failing skill does not stop the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SkillImportResult {
    /// The names of the imported skills.
    pub names: Vec<String>,
    /// Those that could not be imported, and why.
    pub refused: Vec<SkillImportError>,
}

/// A skill that could not be imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SkillImportError {
    /// Its name.
    pub name: String,
    /// The error.
    pub error: ApiError,
}
