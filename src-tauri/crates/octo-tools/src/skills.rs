//! Interface to skills for tools.

use crate::{ToolError, ToolOutput};
use futures::future::BoxFuture;
use octo_protocol::{CallId, ToolView};
use tokio_util::sync::CancellationToken;

/// Maximum characters of a sub-agent's summary that return to the model.
pub const MAX_SUMMARY: usize = 4_000;

/// Maximum characters of a skill's instructions that enter the conversation. Longer text belongs in the skill's
/// other files.
pub const MAX_INSTRUCTIONS: usize = 40_000;

/// Skills, and the sub-agents that some of them start.
pub trait SkillInvoker: Send + Sync {
    /// Returns a preview of the call. Reads only the skill's head, and runs nothing of it.
    fn preview(&self, request: &SkillTask) -> BoxFuture<'static, Result<ToolView, ToolError>>;

    /// Invokes the skill and returns its instructions, or the summary of a sub-agent that followed them. A
    /// sub-agent ends when the call is cancelled.
    fn invoke(
        &self,
        request: SkillTask,
        call: CallId,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>>;
}

/// A skill and its task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillTask {
    /// Its name.
    pub name: String,
    /// Its task.
    pub task: String,
}

/// Null implementation: sub-agents cannot start skills of their own.
#[derive(Clone, Copy, Debug)]
pub struct NoSkills;

impl NoSkills {
    fn error<T: Send + 'static>() -> BoxFuture<'static, Result<T, ToolError>> {
        Box::pin(async {
            Err(ToolError::new("There are no skills here. Do it yourself with the other tools."))
        })
    }
}

impl SkillInvoker for NoSkills {
    fn preview(&self, _request: &SkillTask) -> BoxFuture<'static, Result<ToolView, ToolError>> {
        Self::error()
    }

    fn invoke(
        &self,
        _request: SkillTask,
        _call: CallId,
        _cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Self::error()
    }
}
