//! Skills: folders with a SKILL.md, which teach Octo a kind of work.
//!
//! * [`read`] parses a SKILL.md and always returns a result; [`split_markdown`] parses the head of any Markdown
//!   file.
//! * [`discover`] finds the skills below [`Roots`] and decides which one of each name is used: a [`Catalogue`].
//! * [`listing`] and [`announce`] describe them to a model; [`parse_skill_call`] and [`Catalogue::call`] are the only
//!   way to call one, for window, headless form and schedule.
//! * [`expand`] turns one into instructions. It runs nothing and reads no environment.
//! * [`to_public`], [`validate`] and [`export`] publish one in the public format; [`inspect`] and [`install`]
//!   install one. [`SkillWatch`] reports changes.
//!
//! The author of a skill is not trusted: sizes are bounded, links are not followed out of a root, and no model
//! sees a skill of the session's folder until the person accepts it.

mod catalogue;
mod discovery;
mod expand;
mod export;
mod fields;
mod format;
mod front_matter;
mod install;
mod listing;
mod memories;
mod name;
mod public;
mod roots;
mod skill;
mod skill_files;
mod slash;
mod tools;
mod tree;
mod validate;
mod warning;
mod watch;
mod yaml;

pub use catalogue::{Catalogue, similar_names};
pub use discovery::{MAX_FOLDER_ENTRIES, MAX_SKILLS, discover};
pub use expand::{
    Expanded, Invocation, InvokedFrom, MAX_COMMANDS, MAX_EXPANDED, MAX_OUTPUT, Placeholder, expand,
};
pub use export::{ExportError, SkillArchive, export};
pub use fields::{Fields, Invocable, MAX_DESCRIPTION, Profiles, SkillRun};
pub use format::{MAX_SKILL_BYTES, SkillDocument, read};
pub use front_matter::{FrontMatter, MarkdownParts, split_markdown};
pub use install::{
    Candidate, CandidateFile, CandidateKind, Inspection, InstallConflict, InstallError, InstallSource,
    InstalledSkill, OnConflict, inspect, install, remove_unfinished,
};
pub use listing::{MAX_LISTED, announce, listing};
pub use memories::{Memories, Memory, MemoryError, NewMemory};
pub use name::{MAX_NAME, is_name, is_public_name, public_name};
pub use public::{PublicSkill, to_public};
pub use roots::{FolderReading, ForeignFolders, Root, Roots};
pub use skill::{Fingerprint, ShadowedBy, Skill, SkillUsage, Trust};
pub use slash::{CallRefusal, SkillCall, SkillCallOrigin, parse_skill_call};
pub use tools::{ToolGrant, octo_tool};
pub use tree::{MAX_BYTES, MAX_FILES, fingerprint};
pub use validate::{Finding, FindingLevel, ValidationRules, validate};
pub use warning::Warning;
pub use watch::SkillWatch;
pub use yaml::{Yaml, YamlStyle};
