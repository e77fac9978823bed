//! Requests about skills and memories.

use super::{Call, Done, Request};
use crate::{
    MemoryCard, MemorySheet, OtherSkills, PersonaFile, PersonaKind, SkillCard, SkillImportChoice, SkillOffer,
    SkillRef, SkillSheet, SkillSuggestion, SkillsImported, SuggestionAnswer, SuggestionId, Switch,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests about skills.
    SkillRequest in Skills, SkillReplies {
        /// All skills, as a folder sees them.
        ListSkills {
            /// The absolute folder; none for those that need none.
            folder: Option<String>,
        } -> Skills;
        /// One skill, whole.
        GetSkill {
            /// Which.
            skill: SkillRef,
        } -> SkillSheet;
        /// Turn a skill on or off. Takes effect in sessions that run, without changing what was sent.
        SwitchSkill {
            /// Which.
            skill: SkillRef,
            /// Whether it can be used; none to leave it.
            on: Option<Switch>,
            /// Whether the agent may start it by itself; none to leave it.
            automatic: Option<Switch>,
        } -> Done;
        /// The person looked at a skill that came with a folder and accepts it as they saw it. Refused where it is
        /// another one since.
        AcceptSkill {
            /// Which.
            skill: SkillRef,
            /// What they saw (see [`SkillSheet::seen`]).
            seen: String,
        } -> Done;
        /// Write a skill's `SKILL.md`. The version before is kept. Refused where it says something else than what was
        /// edited.
        SaveSkill {
            /// Which; it must be one Octo may write.
            skill: SkillRef,
            /// The text that was edited (see [`SkillSheet::text`]).
            from: String,
            /// The new text.
            text: String,
        } -> SkillSheet;
        /// An earlier version of a `SKILL.md`.
        GetSkillVersion {
            /// Of which.
            skill: SkillRef,
            /// Its number.
            number: u32,
        } -> SkillText;
        /// Put a skill into the trash.
        DeleteSkill {
            /// Which.
            skill: SkillRef,
        } -> Done;
        /// Write a skill as an archive that follows the public format.
        ExportSkill {
            /// Which.
            skill: SkillRef,
            /// The absolute path of the archive; it must not exist.
            to: String,
        } -> SkillExported;
        /// Look at what skills a folder, an archive or a repository holds. Installs nothing.
        InspectSkills {
            /// An absolute path, or an address that begins with `https://`.
            from: String,
        } -> SkillOffer;
        /// Install what was looked at.
        InstallSkills {
            /// The offer.
            offer: SuggestionId,
            /// Which of its skills.
            names: Vec<String>,
            /// Those of them that replace a skill the person has; it goes to the trash.
            replace: Vec<String>,
        } -> SkillsInstalled;
        /// Look for skills other agents left on this machine. Installs nothing.
        FindOtherSkills {
            /// A further absolute folder to look in.
            folder: Option<String>,
        } -> OtherSkillFolders;
        /// Import skills that were found.
        ImportSkills {
            /// Which, and what happens where the person has one of that name.
            choices: Vec<SkillImportChoice>,
        } -> SkillsImported;
        /// What Octo proposes, newest first.
        ListSuggestions {} -> Suggestions;
        /// Say what becomes of a suggestion.
        AnswerSuggestion {
            /// Which.
            id: SuggestionId,
            /// What.
            answer: SuggestionAnswer,
        } -> Done;
    }
}

super::domain! {
    /// Requests about memories.
    MemoryRequest in Memory, MemoryReplies {
        /// Memories, newest first.
        ListMemories {
            /// Only those that contain this; empty for all.
            query: String,
        } -> Memories;
        /// One memory, whole.
        GetMemory {
            /// The name of its file.
            file: String,
        } -> MemorySheet;
        /// Write a memory.
        SaveMemory {
            /// The name of its file; none for a new one.
            file: Option<String>,
            /// Its topic.
            topic: String,
            /// What is in it, one line.
            description: String,
            /// Its body.
            body: String,
            /// The version that was edited (see [`MemorySheet::version`]); none to write a new one.
            version: Option<String>,
        } -> MemorySheet;
        /// Put a memory into the trash.
        DeleteMemory {
            /// The name of its file.
            file: String,
        } -> Done;
        /// SOUL.md and USER.md.
        GetPersona {} -> Persona;
        /// Write SOUL.md or USER.md. Empty text brings Octo's own words back. Sessions begun before keep theirs.
        SavePersona {
            /// Which.
            kind: PersonaKind,
            /// The text.
            text: String,
        } -> Persona;
    }
}

/// Skills as a folder sees them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Skills {
    /// The folder's own first, then the person's, then Octo's, each by name.
    pub skills: Vec<SkillCard>,
}

/// A `SKILL.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SkillText {
    /// The text.
    pub text: String,
}

/// What became of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SkillExported {
    /// The archive's absolute path.
    pub path: String,
    /// Keys of the `SKILL.md` the public format does not know, which were left out.
    pub left_out: Vec<String>,
}

/// What was installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SkillsInstalled {
    /// The names.
    pub names: Vec<String>,
}

/// Folders with skills of other agents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct OtherSkillFolders {
    /// Those that hold any, or cannot be read.
    pub folders: Vec<OtherSkills>,
}

/// What Octo proposes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Suggestions {
    /// Newest first.
    pub suggestions: Vec<SkillSuggestion>,
}

/// Memories.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Memories {
    /// Newest first.
    pub memories: Vec<MemoryCard>,
}

/// SOUL.md and USER.md.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Persona {
    /// SOUL.md, then USER.md.
    pub files: Vec<PersonaFile>,
}
