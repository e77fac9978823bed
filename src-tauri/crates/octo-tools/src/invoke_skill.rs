//! The `invoke_skill` tool: loads a skill's instructions, or lets a sub-agent follow them.

use crate::{CallConcurrency, Effects, SkillTask, Tool, ToolContext, ToolError, ToolOutput};
use octo_protocol::ToolView;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;

/// The tool's name.
pub const INVOKE_SKILL: &str = "invoke_skill";

pub(crate) struct InvokeSkillTool;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct InvokeSkillInput {
    /// Its name.
    skill_name: String,
    /// What it is to do, with all it must know.
    task: String,
}

impl Tool for InvokeSkillTool {
    const NAME: &'static str = INVOKE_SKILL;
    const DESCRIPTION: &'static str = "Invokes a skill. It gives instructions to follow, or works in a sub-agent and \
        gives back a summary. Several calls in one message work side by side.";
    type Input = InvokeSkillInput;

    // The call itself only reads; each call of its sub-agent is decided separately. So several may run in
    // parallel.
    fn effects(&self, _input: &InvokeSkillInput, _cwd: &Path) -> Effects {
        Effects { order: CallConcurrency::Parallel, ..Effects::none() }
    }

    async fn preview(&self, input: &InvokeSkillInput, context: &ToolContext) -> Result<ToolView, ToolError> {
        context.skills.preview(&to_request(input)?).await
    }

    async fn run(&self, input: InvokeSkillInput, context: ToolContext) -> Result<ToolOutput, ToolError> {
        context.skills.invoke(to_request(&input)?, context.call, context.cancel).await
    }
}

/// Returns the call's request. With an empty task the skill starts on its own instructions.
fn to_request(input: &InvokeSkillInput) -> Result<SkillTask, ToolError> {
    let name = input.skill_name.trim().trim_start_matches('/');
    if name.is_empty() {
        return Err(ToolError::new("The name is empty. Say in `skill_name` which skill."));
    }
    Ok(SkillTask { name: name.to_owned(), task: input.task.trim().to_owned() })
}
