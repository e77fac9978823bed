//! Requests about skills and memories.

use super::{Acknowledgement, Request, TypedRequest};
use crate::{
    MemoryCard, MemorySheet, OtherSkills, PersonaFile, PersonaKind, SkillCard, SkillImportChoice,
    SkillImportResult, SkillOffer, SkillRef, SkillSheet, SkillSuggestion, SuggestionAnswer, SuggestionId,
    Switch,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests about skills.
    SkillRequest in Skills, SkillReplies {
        /// Returns all skills visible in a folder.
        ListSkills {
            /// The absolute folder; `None` for the skills that need no folder.
            folder: Option<String>,
        } -> Skills;
        /// Returns a complete skill.
        GetSkill {
            /// The skill.
            skill: SkillRef,
        } -> SkillSheet;
        /// Turns a skill on or off. Takes effect in running sessions, without changing messages already sent.
        SwitchSkill {
            /// The skill.
            skill: SkillRef,
            /// Whether it is usable; `None` leaves the setting unchanged.
            on: Option<Switch>,
            /// Whether the agent may start it on its own; `None` leaves the setting unchanged.
            automatic: Option<Switch>,
        } -> Acknowledgement;
        /// Accepts a skill that came with a folder, in the version the person saw. Refused if it has changed
        /// since.
        AcceptSkill {
            /// The skill.
            skill: SkillRef,
            /// The version they saw (see [`SkillSheet::seen`]).
            seen: String,
        } -> Acknowledgement;
        /// Writes a skill's `SKILL.md` and keeps the previous version. Refused if the file differs from the
        /// edited text.
        SaveSkill {
            /// The skill; Octo must be allowed to write it.
            skill: SkillRef,
            /// The text before the edit (see [`SkillSheet::text`]).
            from: String,
            /// The new text.
            text: String,
        } -> SkillSheet;
        /// Returns an earlier version of a `SKILL.md`.
        GetSkillVersion {
            /// The skill.
            skill: SkillRef,
            /// Its number.
            number: u32,
        } -> SkillText;
        /// Moves a skill to the trash.
        DeleteSkill {
            /// The skill.
            skill: SkillRef,
        } -> Acknowledgement;
        /// Writes a skill as an archive in the public format.
        ExportSkill {
            /// The skill.
            skill: SkillRef,
            /// The absolute path of the archive; it must not exist.
            to: String,
        } -> SkillExport;
        /// Inspects the skills in a folder, an archive or a repository. Installs nothing.
        InspectSkills {
            /// An absolute path, or an address that begins with `https://`.
            from: String,
        } -> SkillOffer;
        /// Installs inspected skills.
        InstallSkills {
            /// The offer.
            offer: SuggestionId,
            /// The skills to install.
            names: Vec<String>,
            /// The names that replace one of the person's skills; it moves to the trash.
            replace: Vec<String>,
        } -> SkillInstallResult;
        /// Finds skills that other agents installed on this machine. Installs nothing.
        FindOtherSkills {
            /// A further absolute folder to search.
            folder: Option<String>,
        } -> OtherSkillFolders;
        /// Imports skills that were found.
        ImportSkills {
            /// The skills, and the action for a name the person already has.
            choices: Vec<SkillImportChoice>,
        } -> SkillImportResult;
        /// Returns Octo's suggestions, newest first.
        ListSuggestions {} -> Suggestions;
        /// Answers a suggestion.
        AnswerSuggestion {
            /// The suggestion.
            id: SuggestionId,
            /// The answer.
            answer: SuggestionAnswer,
        } -> Acknowledgement;
    }
}

super::domain! {
    /// Requests about memories.
    MemoryRequest in Memory, MemoryReplies {
        /// Returns memories, newest first.
        ListMemories {
            /// Only those that contain this; empty for all.
            query: String,
        } -> Memories;
        /// Returns a complete memory.
        GetMemory {
            /// The name of its file.
            file: String,
        } -> MemorySheet;
        /// Writes a memory.
        SaveMemory {
            /// The name of its file; `None` to create one.
            file: Option<String>,
            /// Its topic.
            topic: String,
            /// A one-line description of its content.
            description: String,
            /// Its body.
            body: String,
            /// The version before the edit (see [`MemorySheet::version`]); `None` to create one.
            version: Option<String>,
        } -> MemorySheet;
        /// Moves a memory to the trash.
        DeleteMemory {
            /// The name of its file.
            file: String,
        } -> Acknowledgement;
        /// Returns SOUL.md and USER.md.
        GetPersona {} -> Persona;
        /// Writes SOUL.md or USER.md. Empty text restores Octo's default text. Existing sessions keep theirs.
        SavePersona {
            /// The file.
            kind: PersonaKind,
            /// The text.
            text: String,
        } -> Persona;
    }
}

/// The skills visible in a folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Skills {
    /// The folder's own first, then the person's, then Octo's, each group by name.
    pub skills: Vec<SkillCard>,
}

/// A `SKILL.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SkillText {
    /// The text.
    pub text: String,
}

/// The result of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SkillExport {
    /// The archive's absolute path.
    pub path: String,
    /// Keys of the `SKILL.md` that the public format does not define, which the export omits.
    pub left_out: Vec<String>,
}

/// The result of an installation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SkillInstallResult {
    /// The installed skills' names.
    pub names: Vec<String>,
}

/// Folders with other agents' skills.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct OtherSkillFolders {
    /// The folders that contain skills, or are unreadable.
    pub folders: Vec<OtherSkills>,
}

/// Octo's suggestions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Suggestions {
    /// Newest first.
    pub suggestions: Vec<SkillSuggestion>,
}

/// Memories.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Memories {
    /// Newest first.
    pub memories: Vec<MemoryCard>,
}

/// SOUL.md and USER.md.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Persona {
    /// SOUL.md, then USER.md.
    pub files: Vec<PersonaFile>,
}
