//! Skills as clients see them: abilities of Octo in addition to its tools, each a folder with a `SKILL.md`.

use crate::{ApiError, DiffView, Millis, SessionId, SuggestionId, Switch, TurnId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The origin of a skill. Of two skills with one name, the one with the later origin in this list is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum SkillOrigin {
    /// Bundled with Octo.
    Bundled,
    /// `~/.agents/skills`, which Octo reads and never writes.
    UserAgents,
    /// `~/.claude/skills`, which Octo reads and never writes.
    UserClaude,
    /// The person's own, in Octo's home.
    User,
    /// `.agents/skills` of the folder, which Octo reads and never writes.
    ProjectAgents,
    /// `.claude/skills` of the folder, which Octo reads and never writes.
    ProjectClaude,
    /// `.octo/skills` of the folder.
    Project,
}

impl SkillOrigin {
    /// Returns whether the skill came with a folder, and may therefore be by another author.
    pub fn is_from_folder(self) -> bool {
        matches!(self, Self::ProjectAgents | Self::ProjectClaude | Self::Project)
    }

    /// Returns whether Octo may change it.
    pub fn is_writable(self) -> bool {
        matches!(self, Self::User | Self::Project)
    }
}

/// Whether the person has accepted a skill that came with a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum SkillTrust {
    /// It needs no acceptance, or the person accepted it.
    Trusted,
    /// The person has not reviewed it: it cannot be used.
    Unseen,
    /// It changed after the person accepted it: it cannot be used.
    Changed,
}

/// How a skill runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum SkillExecution {
    /// Its instructions join the conversation.
    Inline,
    /// A sub-agent follows them and reports.
    Fork,
}

/// Who may start a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum SkillCaller {
    /// The person with a slash, and the agent.
    Anyone,
    /// Only the person, with a slash.
    Person,
    /// Only the agent.
    Agent,
}

/// The identity of a skill: its name, as one folder sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SkillRef {
    /// Its name, which is also its slash command.
    pub name: String,
    /// Its origin.
    pub origin: SkillOrigin,
    /// The absolute folder it came with, if any.
    pub project: Option<String>,
}

/// A skill as shown in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SkillCard {
    /// The skill.
    pub skill: SkillRef,
    /// Its purpose, on one line.
    pub description: String,
    /// The same in Chinese, if the skill has it.
    pub description_zh: Option<String>,
    /// A hint for its argument; empty if it names none.
    pub argument: String,
    /// The absolute folder that contains it.
    pub folder: String,
    /// How it runs.
    #[serde(rename = "way")]
    pub execution: SkillExecution,
    /// The permitted callers, as its author declares them.
    pub caller: SkillCaller,
    /// Whether it was accepted.
    pub trust: SkillTrust,
    /// Whether it is usable: the person's choice.
    pub on: Switch,
    /// Whether the agent may start it on its own: the person's choice.
    pub automatic: Switch,
    /// The repairs made while reading it, as keys of the word catalogue.
    pub warnings: Vec<ApiError>,
    /// Why it cannot be used; `None` for a skill that was read successfully.
    pub error: Option<ApiError>,
    /// The origin of a skill of the same name that this one hides.
    pub shadows: Option<SkillOrigin>,
    /// When it was last used.
    #[ts(type = "number | null")]
    pub used_at: Option<Millis>,
    /// The number of earlier versions kept.
    pub versions: u32,
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SkillFile {
    /// Its path in the skill's folder, with `/`.
    pub path: String,
    /// Its size in bytes.
    #[ts(type = "number")]
    pub size: u64,
    /// Its significance for the person who decides on the skill.
    pub kind: SkillFileKind,
}

/// The kind of a skill's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum SkillFileKind {
    /// Text, pictures, data.
    Data,
    /// An executable.
    Script,
}

/// An earlier version of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SkillVersion {
    /// Its number, from 1.
    pub number: u32,
    /// When the next version replaced it.
    #[ts(type = "number")]
    pub at: Millis,
}

/// A complete skill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SkillSheet {
    /// Its card.
    pub card: SkillCard,
    /// Its `SKILL.md`.
    pub text: String,
    /// A fingerprint of all its files as shown, returned when the person accepts it; `None` if there is nothing
    /// to accept, or more than Octo can check.
    pub seen: Option<String>,
    /// Its other files, by path, at most 200.
    pub files: Vec<SkillFile>,
    /// The tools its author requests, by Octo's names.
    pub tools: Vec<String>,
    /// Its licence, as its author names it.
    pub license: Option<String>,
    /// Its requirements, in its author's words.
    pub compatibility: Option<String>,
    /// Earlier versions, newest first.
    pub versions: Vec<SkillVersion>,
}

/// A new skill, or an improved one, that Octo proposes. Octo uses no part of it before the person accepts it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SkillSuggestion {
    /// Its id.
    pub id: SuggestionId,
    /// The skill's name.
    pub name: String,
    /// Whether it creates or changes a skill.
    pub kind: SuggestionKind,
    /// The reason, in the words of the model that proposed it.
    pub reason: String,
    /// The session it comes from, if it still exists.
    pub session: Option<SessionId>,
    /// That session's title at the time.
    pub title: String,
    /// The turn it comes from.
    pub turn: Option<TurnId>,
    /// The cost of making it, in nano-dollars; `None` if the price is unknown.
    #[ts(type = "number | null")]
    pub cost_nanos: Option<u64>,
    /// When it was made.
    #[ts(type = "number")]
    pub at: Millis,
    /// The proposed `SKILL.md`.
    pub text: String,
    /// The proposed changes.
    pub diff: DiffView,
}

/// The effect of a [`SkillSuggestion`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum SuggestionKind {
    /// Creates a skill.
    New,
    /// Changes a skill.
    Better,
}

/// The person's answer to a suggestion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum SuggestionAnswer {
    /// Accept it as the skill.
    Accept {
        /// The `SKILL.md` as the person edited it; `None` for the proposed text.
        text: Option<String>,
    },
    /// Discard it.
    Discard,
    /// Discard it, and stop proposing changes for this skill.
    Never,
}

/// The skills in a folder, an archive or a repository, before installation. Nothing is installed yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SkillOffer {
    /// The id for installing it; valid until Octo ends or inspects another source.
    pub id: SuggestionId,
    /// Its source, as the person named it.
    pub from: String,
    /// The skills in it.
    pub skills: Vec<OfferedSkill>,
}

/// A skill that could be installed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct OfferedSkill {
    /// Its name.
    pub name: String,
    /// Its purpose.
    pub description: String,
    /// Its files.
    pub files: Vec<SkillFile>,
    /// The tools its author requests, by Octo's names.
    pub tools: Vec<String>,
    /// Commands it would run when used.
    pub commands: Vec<String>,
    /// Its problems, as keys of the word catalogue.
    pub warnings: Vec<ApiError>,
    /// Why it cannot be installed.
    pub error: Option<ApiError>,
    /// If the person has a skill of that name, the changes of replacing it.
    pub present: Option<DiffView>,
}

/// The state of the library: the number of items that wait for the person, and a revision that changes with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct LibraryState {
    /// Increases with every change of a skill, a suggestion, a memory, SOUL.md or USER.md, even one on disk.
    #[ts(type = "number")]
    pub revision: u64,
    /// The number of waiting suggestions.
    pub suggestions: u32,
}

/// Automatic handling of skills and memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export, export_to = "protocol.ts")]
pub struct LibrarySettings {
    /// Whether Octo also reads `.claude/skills` and `.agents/skills`.
    pub other_agents: Switch,
    /// Whether Octo proposes new and improved skills.
    pub propose: Switch,
    /// Whether Octo may write a memory after a long turn.
    pub remember: Switch,
}

impl Default for LibrarySettings {
    fn default() -> Self {
        Self { other_agents: Switch::Off, propose: Switch::On, remember: Switch::On }
    }
}
