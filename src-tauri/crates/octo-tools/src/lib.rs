//! The tools the model may call: one file each, typed input and output, failing closed.
//!
//! [`Toolset`] holds them in their fixed order, finds them by name, and reads a call's arguments.

mod arguments;
mod blocking;
mod context;
mod edit;
mod effects;
mod file_reader;
mod glob;
mod grep;
mod registry;
mod request_user_feedback;
mod schema;
mod terminal;
#[cfg(test)]
mod testing;
mod todo_manager;
mod tool;
mod trash_manager;
mod trashcan;
mod write;

pub use context::*;
pub use effects::*;
pub use registry::{ReadCall, ToolDefinition, Toolset};
pub use tool::*;
pub use trashcan::*;
