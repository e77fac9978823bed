//! Builtin commands: skills, memories, SOUL.md and USER.md, the browser's state, settings.
//!
//! The model runs a command, `octo skill list`, that the terminal answers in process: no program runs and
//! nothing listens, so only a call of the model, weighed and allowed like any other, reaches this code.
//! [`grammar`] parses such a command; a [`BuiltinCommands`] answers it.

mod command;
mod grammar;

pub use command::*;
pub(crate) use grammar::{GROUPS, ParsedCommand, parse};

use crate::ToolError;
use futures::future::BoxFuture;
use octo_protocol::{CallId, LibraryChange, SessionId, ToolView};
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

/// Handler of the builtin commands. Before [`BuiltinCommands::execute`] is called, the person or [`BuiltinGrant`], and
/// nothing else, has allowed the change.
pub trait BuiltinCommands: Send + Sync {
    /// Returns a preview for the person's approval: the files to install, the difference in a memory or in
    /// SOUL.md. Changes nothing and uses no network: skills at an address that were not fetched before
    /// ([`SkillCommand::Inspect`]) result in an error that says so. Not called for commands that change nothing.
    fn preview(
        &self,
        command: &BuiltinCommand,
        asker: &CommandOrigin,
    ) -> BoxFuture<'static, Result<ToolView, ToolError>>;

    /// Executes the command and returns a text for the model, capped. After a preview it does exactly the
    /// previewed change, or fails.
    fn execute(
        &self,
        command: BuiltinCommand,
        asker: CommandOrigin,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<String, ToolError>>;
}

/// Origin of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOrigin {
    /// The session: its writes are recorded as its work.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
    /// The session's folder, whose skills are visible too.
    pub folder: PathBuf,
}

/// Builtin commands allowed without a question. The core grants it to the sub-agents of the memory skills and
/// of self-improvement, whose questions no person would answer; every other session has [`BuiltinGrant::Ask`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BuiltinGrant {
    /// None.
    #[default]
    Ask,
    /// Writing memories.
    Memories,
    /// Proposing skills: a proposal has no effect until the person accepts it.
    Proposals,
}

impl BuiltinGrant {
    /// Returns whether it covers a change.
    pub fn covers(self, change: LibraryChange) -> bool {
        match self {
            Self::Ask => false,
            Self::Memories => change == LibraryChange::SaveMemory,
            Self::Proposals => change == LibraryChange::ProposeSkill,
        }
    }
}

/// Null implementation, for sessions and tests without builtin commands.
#[derive(Clone, Copy, Debug)]
pub struct NoBuiltinCommands;

impl NoBuiltinCommands {
    fn error<T: Send + 'static>() -> BoxFuture<'static, Result<T, ToolError>> {
        Box::pin(async { Err(ToolError::new("Octo's own commands are not answered here.")) })
    }
}

impl BuiltinCommands for NoBuiltinCommands {
    fn preview(
        &self,
        _command: &BuiltinCommand,
        _asker: &CommandOrigin,
    ) -> BoxFuture<'static, Result<ToolView, ToolError>> {
        Self::error()
    }

    fn execute(
        &self,
        _command: BuiltinCommand,
        _asker: CommandOrigin,
        _cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<String, ToolError>> {
        Self::error()
    }
}
