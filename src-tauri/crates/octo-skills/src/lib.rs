//! Skills: folders with a SKILL.md, which teach Octo a kind of work.
//!
//! * [`read`] reads a SKILL.md, and never fails to yield something; [`take_apart`] reads the head of any Markdown file.
//! * [`discover`] finds the skills below [`Roots`] and settles which of one name is used: a [`Catalogue`].
//! * [`listing`] and [`announce`] tell a model of them; [`skill_call`] and [`Catalogue::call`] are the one way to
//!   call one, for window, headless form and schedule.
//! * [`expand`] makes instructions of one. It runs nothing and reads no environment.
//! * [`to_public`], [`validate`] and [`export`] give one away in the public format; [`inspect`] and [`install`] take one
//!   in. [`Watch`] tells of changes.
//!
//! Whoever wrote a skill is not believed: sizes are bounded, links are not followed out of a root, and a skill of the
//! session's folder is not told to a model before the person accepted it.

mod catalogue;
mod discovery;
mod expand;
mod export;
mod fields;
mod format;
mod front;
mod install;
mod listing;
mod memories;
mod name;
mod public;
mod roots;
mod skill;
mod slash;
mod support;
mod tools;
mod tree;
mod validate;
mod warning;
mod watch;
mod yaml;

pub use catalogue::{Catalogue, near};
pub use discovery::{MAX_FOLDER_ENTRIES, MAX_SKILLS, discover};
pub use expand::{
    Expanded, Invocation, InvokedFrom, MAX_COMMANDS, MAX_EXPANDED, MAX_OUTPUT, Placeholder, expand,
};
pub use export::{Export, ExportError, export};
pub use fields::{Fields, Invocable, MAX_DESCRIPTION, Profiles, Run};
pub use format::{Document, MAX_SKILL_BYTES, read};
pub use front::{FrontMatter, Parts, take_apart};
pub use install::{
    Candidate, CandidateFile, CandidateKind, Conflict, Inspection, InstallError, InstallSource, Installed,
    OnConflict, clear_unfinished, inspect, install,
};
pub use listing::{MAX_LISTED, announce, listing};
pub use memories::{Memories, Memory, MemoryError, NewMemory};
pub use name::{MAX_NAME, is_name, is_public_name, public_name};
pub use public::{PublicSkill, to_public};
pub use roots::{Foreign, Reading, Root, Roots};
pub use skill::{Fingerprint, ShadowedBy, Skill, Trust, Usage};
pub use slash::{CallRefusal, Caller, SkillCall, skill_call};
pub use tools::{ToolGrant, octo_tool};
pub use tree::{MAX_BYTES, MAX_FILES, fingerprint};
pub use validate::{Finding, Level, Rules, validate};
pub use warning::Warning;
pub use watch::Watch;
pub use yaml::{Style, Yaml};
