//! Skills as a tool reaches them.

use crate::{ToolError, ToolOutput};
use futures::future::BoxFuture;
use octo_protocol::{CallId, ToolView};
use tokio_util::sync::CancellationToken;

/// The most characters of a sub-agent's summary that return to the model.
pub const SUMMARY_MOST: usize = 4_000;

/// The most characters of a skill's instructions that go into the conversation. What is longer belongs into files
/// beside the skill.
pub const INSTRUCTIONS_MOST: usize = 40_000;

/// Skills, and the sub-agents some of them start.
pub trait Skills: Send + Sync {
    /// What the call would do. Reads nothing but the skill's head, and runs nothing of it.
    fn show(&self, wish: &SkillWish) -> BoxFuture<'static, Result<ToolView, ToolError>>;

    /// Invokes the skill: gives its instructions, or the summary of a sub-agent that worked by them. A sub-agent ends
    /// when the call is cancelled.
    fn invoke(
        &self,
        wish: SkillWish,
        call: CallId,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>>;
}

/// Which skill is to do what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillWish {
    /// Its name.
    pub name: String,
    /// What it is to do.
    pub task: String,
}

/// Skills where there are none: sub-agents start none of their own.
#[derive(Clone, Copy, Debug)]
pub struct NoSkills;

impl NoSkills {
    fn error<T: Send + 'static>() -> BoxFuture<'static, Result<T, ToolError>> {
        Box::pin(async {
            Err(ToolError::new("There are no skills here. Do it yourself with the other tools."))
        })
    }
}

impl Skills for NoSkills {
    fn show(&self, _wish: &SkillWish) -> BoxFuture<'static, Result<ToolView, ToolError>> {
        Self::error()
    }

    fn invoke(
        &self,
        _wish: SkillWish,
        _call: CallId,
        _cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Self::error()
    }
}
