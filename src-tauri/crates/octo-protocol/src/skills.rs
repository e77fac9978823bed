//! Skills as clients see them: what Octo can do beyond its tools, each a folder with a `SKILL.md`.

use crate::{ApiError, DiffView, Millis, SessionId, SuggestionId, Switch, TurnId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Where a skill comes from. Of two with one name the later origin of this list is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum SkillOrigin {
    /// It comes with Octo.
    Bundled,
    /// `~/.agents/skills`, read and never written.
    UserAgents,
    /// `~/.claude/skills`, read and never written.
    UserClaude,
    /// The person's own, in Octo's home.
    User,
    /// `.agents/skills` of the folder, read and never written.
    ProjectAgents,
    /// `.claude/skills` of the folder, read and never written.
    ProjectClaude,
    /// `.octo/skills` of the folder.
    Project,
}

impl SkillOrigin {
    /// Whether it came with a folder, so that somebody else may have written it.
    pub fn is_of_a_folder(self) -> bool {
        matches!(self, Self::ProjectAgents | Self::ProjectClaude | Self::Project)
    }

    /// Whether Octo may change it.
    pub fn is_writable(self) -> bool {
        matches!(self, Self::User | Self::Project)
    }
}

/// Whether the person has accepted a skill that came with a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum SkillTrust {
    /// It needs no acceptance, or has it.
    Trusted,
    /// Nobody looked at it yet: it cannot be used.
    Unseen,
    /// It was accepted and is another one since: it cannot be used.
    Changed,
}

/// How a skill works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum SkillWay {
    /// Its instructions join the conversation.
    Inline,
    /// A sub-agent follows them and reports.
    Fork,
}

/// Who may start a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum SkillCaller {
    /// The person with a slash, and the agent.
    Anyone,
    /// Only the person, with a slash.
    Person,
    /// Only the agent.
    Agent,
}

/// Which skill: its name, as one folder sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SkillRef {
    /// Its name, which is its slash command too.
    pub name: String,
    /// Where it comes from.
    pub origin: SkillOrigin,
    /// The absolute folder it came with, where it came with one.
    pub project: Option<String>,
}

/// A skill as a list shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SkillCard {
    /// Which.
    pub skill: SkillRef,
    /// What it does and when it is for, one line.
    pub description: String,
    /// The same in Chinese, where the skill has it.
    pub description_zh: Option<String>,
    /// What its argument is, as a hint; empty when it names none.
    pub argument: String,
    /// The absolute folder it is in.
    pub folder: String,
    /// How it works.
    pub way: SkillWay,
    /// Who may start it, as its author says.
    pub caller: SkillCaller,
    /// Whether it was accepted.
    pub trust: SkillTrust,
    /// Whether it can be used at all: the person's choice.
    pub on: Switch,
    /// Whether the agent may start it by itself: the person's choice.
    pub automatic: Switch,
    /// What was repaired in reading it, in words of the catalogue.
    pub warnings: Vec<ApiError>,
    /// Why it cannot be used; none for a skill that was read.
    pub error: Option<ApiError>,
    /// A skill of the same name from elsewhere that this one stands in front of.
    pub shadows: Option<SkillOrigin>,
    /// When it was last used.
    #[ts(type = "number | null")]
    pub used_at: Option<Millis>,
    /// How many earlier versions are kept.
    pub versions: u32,
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SkillFile {
    /// Its path in the skill's folder, with `/`.
    pub path: String,
    /// Its size in bytes.
    #[ts(type = "number")]
    pub size: u64,
    /// What it is to the person who decides on the skill.
    pub kind: SkillFileKind,
}

/// What a file of a skill is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum SkillFileKind {
    /// Text, pictures, data.
    Data,
    /// It can be run.
    Script,
}

/// An earlier version of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SkillVersion {
    /// Its number, from 1.
    pub number: u32,
    /// When the next one took its place.
    #[ts(type = "number")]
    pub at: Millis,
}

/// A skill, whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SkillSheet {
    /// Its card.
    pub card: SkillCard,
    /// Its `SKILL.md`.
    pub text: String,
    /// What stands for all its files as they are shown, given back when it is accepted; none where there is nothing to
    /// accept, or more than can be checked.
    pub seen: Option<String>,
    /// Its other files, by path, at most 200.
    pub files: Vec<SkillFile>,
    /// The tools its author wants it to use, by Octo's names.
    pub tools: Vec<String>,
    /// Its licence, as its author names it.
    pub license: Option<String>,
    /// What it needs, in its author's words.
    pub compatibility: Option<String>,
    /// Earlier versions, newest first.
    pub versions: Vec<SkillVersion>,
}

/// A new skill, or a better one, that Octo proposes. Nothing of it is used before the person accepts it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SkillSuggestion {
    /// Its id.
    pub id: SuggestionId,
    /// The skill's name.
    pub name: String,
    /// Whether a skill would be made or changed.
    pub kind: SuggestionKind,
    /// Why, in the words of the model that proposed it.
    pub reason: String,
    /// The session it comes from, if that is still there.
    pub session: Option<SessionId>,
    /// That session's title then.
    pub title: String,
    /// The task it comes from.
    pub turn: Option<TurnId>,
    /// What making it cost, in nano-dollars; none where the price is unknown.
    #[ts(type = "number | null")]
    pub cost_nanos: Option<u64>,
    /// When it was made.
    #[ts(type = "number")]
    pub at: Millis,
    /// The `SKILL.md` it proposes.
    pub text: String,
    /// What would change.
    pub diff: DiffView,
}

/// What a [`SkillSuggestion`] would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum SuggestionKind {
    /// Make a skill.
    New,
    /// Change one.
    Better,
}

/// What becomes of a suggestion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum SuggestionAnswer {
    /// It becomes the skill.
    Accept {
        /// The `SKILL.md` as the person edited it; none for what was proposed.
        text: Option<String>,
    },
    /// It goes.
    Discard,
    /// It goes, and nothing is proposed for this skill any more.
    Never,
}

/// What is in a folder, an archive or a repository that skills are to be installed from. Nothing is installed yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SkillOffer {
    /// What it is called when it is installed; good until Octo ends or another one is looked at.
    pub id: SuggestionId,
    /// Where it comes from, as the person named it.
    pub from: String,
    /// The skills in it.
    pub skills: Vec<OfferedSkill>,
}

/// A skill that could be installed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct OfferedSkill {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Its files.
    pub files: Vec<SkillFile>,
    /// The tools its author wants it to use, by Octo's names.
    pub tools: Vec<String>,
    /// Commands it would run when it is used.
    pub commands: Vec<String>,
    /// What is wrong with it, in words of the catalogue.
    pub warnings: Vec<ApiError>,
    /// Why it cannot be installed.
    pub error: Option<ApiError>,
    /// A skill of that name the person has: what would change if it were replaced.
    pub present: Option<DiffView>,
}

/// How many things of the library wait for the person, and that something changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct LibraryState {
    /// Raised whenever a skill, a suggestion, a memory or SOUL.md or USER.md changed, on disk too.
    #[ts(type = "number")]
    pub revision: u64,
    /// Suggestions that wait.
    pub suggestions: u32,
}

/// What Octo does with skills and memories by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export)]
pub struct LibrarySettings {
    /// Whether `.claude/skills` and `.agents/skills` are read too.
    pub other_agents: Switch,
    /// Whether new and better skills are proposed.
    pub propose: Switch,
    /// Whether a long task may end with a memory being written.
    pub remember: Switch,
}

impl Default for LibrarySettings {
    fn default() -> Self {
        Self { other_agents: Switch::Off, propose: Switch::On, remember: Switch::On }
    }
}
