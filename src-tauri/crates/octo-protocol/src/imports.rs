//! Skills other agents left on this machine.

use crate::{ApiError, OfferedSkill, SuggestionId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Whose folder it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum OtherAgent {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// OpenClaw.
    OpenClaw,
    /// The folder several agents share.
    Shared,
    /// A folder the person picked.
    Picked,
}

/// A folder with skills of another agent. Nothing of it is installed yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct OtherSkills {
    /// Whose it is.
    pub agent: OtherAgent,
    /// The folder.
    pub folder: String,
    /// What it is called when skills of it are imported; good until Octo ends or they are looked for again.
    pub offer: SuggestionId,
    /// The skills in it, by name.
    pub skills: Vec<OfferedSkill>,
    /// Why it cannot be read, or not all of it.
    pub problem: Option<ApiError>,
}

/// A skill to import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SkillImportChoice {
    /// The folder it is in.
    pub offer: SuggestionId,
    /// Its name there.
    pub name: String,
    /// What happens where the person has one of that name.
    pub taken: IfNameTaken,
}

/// What happens where the person has a skill of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum IfNameTaken {
    /// Theirs stays and nothing is imported.
    Keep,
    /// Theirs goes to the trash.
    Replace,
    /// The imported one gets a number behind its name.
    Rename,
}

/// What was imported. One that fails keeps none of the others back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SkillsImported {
    /// What they are called now.
    pub names: Vec<String>,
    /// Those that could not be imported, and why.
    pub refused: Vec<SkillRefused>,
}

/// A skill that could not be imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SkillRefused {
    /// Its name.
    pub name: String,
    /// Why.
    pub error: ApiError,
}
