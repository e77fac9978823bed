//! The tools that the model may call: one file each, typed input and output, failing closed.
//!
//! [`Toolset`] lists them in fixed order, finds them by name, and reads a call's arguments.

mod arguments;
mod blocking;
mod browser;
mod browser_control;
mod builtin;
mod bundled;
mod context;
mod edit;
mod effects;
mod encoding;
mod file_reader;
mod glob;
mod grep;
mod http;
mod invoke_skill;
mod registry;
mod request_user_feedback;
mod schema;
mod skills;
mod tasks;
mod terminal;
#[cfg(test)]
mod testing;
mod todo_manager;
mod tool;
mod trash_manager;
mod trashcan;
mod untrusted;
mod web_fetch;
mod web_search;
mod write;

pub use browser_control::*;
pub use builtin::{
    BrowserQuery, BuiltinCommand, BuiltinCommands, BuiltinGrant, CommandOrigin, MemoryCommand,
    NoBuiltinCommands, PersonaCommand, SettingsQuery, SkillCommand, SkillSourceRef, TaskCommand, TaskFields,
};
pub use bundled::{BUNDLED_FOLDER, BUNDLED_SKILLS, install_bundled};
pub use context::*;
pub use effects::*;
pub use file_reader::SHIPPED_SCRIPTS;
pub use http::{Http, NameResolver, Site, SiteDistance, SiteGrant, SystemResolver};
pub use invoke_skill::INVOKE_SKILL;
pub use registry::{ResolvedCall, ToolDefinition, Toolset};
pub use skills::*;
pub use tasks::{RestoreRequest, TurnHistory};
pub use terminal::TERMINAL;
pub use tool::*;
pub use trashcan::*;
pub use web_search::{SearchEngine, SearchEngines, WebSearch};
