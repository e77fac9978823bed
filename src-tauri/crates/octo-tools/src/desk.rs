//! Octo's own things as a tool reaches them: skills, memories, SOUL.md and USER.md, the browser's state, settings.
//!
//! The model asks for them with a command, `octo skill list`, that the terminal answers in process: no program runs and
//! nothing listens, so nothing but a call of the model's, weighed and allowed like any other, gets here. What such a
//! command says is read by [`grammar`]; what answers it is a [`Desk`].

mod errand;
mod grammar;

pub use errand::*;
pub use grammar::SETTINGS_PAGES;
pub(crate) use grammar::{Asked, GROUPS, read};

use crate::ToolError;
use futures::future::BoxFuture;
use octo_protocol::{CallId, LibraryChange, SessionId, ToolView};
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

/// What answers the commands. What an errand would change was allowed before [`Desk::carry_out`] is called, and by nothing
/// else than the person or [`DeskLeave`].
pub trait Desk: Send + Sync {
    /// What would happen, for the person who is asked: the files that would be installed, the difference in a memory or
    /// in SOUL.md. Changes nothing and goes nowhere: skills from an address that were not fetched before
    /// ([`SkillErrand::Inspect`]) are an error that says so. Not asked for errands that change nothing.
    fn show(&self, errand: &Errand, asker: &DeskAsker) -> BoxFuture<'static, Result<ToolView, ToolError>>;

    /// Does it; the text is for the model, and capped. An errand that was shown does exactly what was shown, or fails.
    fn carry_out(
        &self,
        errand: Errand,
        asker: DeskAsker,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<String, ToolError>>;
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeskAsker {
    /// The session: what it writes is remembered as its work.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
    /// The session's folder: its skills are found too.
    pub folder: PathBuf,
}

/// What may be done at the desk without asking. The core gives it to the sub-agents of the memory skills and of
/// self-improvement, which nobody answers questions for; every other session has [`DeskLeave::Ask`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeskLeave {
    /// Nothing.
    #[default]
    Ask,
    /// Memories may be written.
    Memories,
    /// Skills may be proposed: a proposal is nothing before the person accepts it.
    Proposals,
}

impl DeskLeave {
    /// Whether it covers a change.
    pub fn covers(self, change: LibraryChange) -> bool {
        match self {
            Self::Ask => false,
            Self::Memories => change == LibraryChange::SaveMemory,
            Self::Proposals => change == LibraryChange::ProposeSkill,
        }
    }
}

/// A desk nobody sits at: for sessions and tests without one.
#[derive(Clone, Copy, Debug)]
pub struct NoDesk;

impl NoDesk {
    fn error<T: Send + 'static>() -> BoxFuture<'static, Result<T, ToolError>> {
        Box::pin(async { Err(ToolError::new("Octo's own commands are not answered here.")) })
    }
}

impl Desk for NoDesk {
    fn show(&self, _errand: &Errand, _asker: &DeskAsker) -> BoxFuture<'static, Result<ToolView, ToolError>> {
        Self::error()
    }

    fn carry_out(
        &self,
        _errand: Errand,
        _asker: DeskAsker,
        _cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<String, ToolError>> {
        Self::error()
    }
}
