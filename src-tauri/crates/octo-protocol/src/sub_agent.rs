//! Invoked skills, and the sub-agents that some of them start.

use crate::{CallId, Cost, SessionId, TurnId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A skill whose instructions were, or would be, loaded into the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SkillView {
    /// Its name.
    pub name: String,
    /// Its origin, in a word or two; empty if unknown.
    pub label: String,
    /// The purpose of the invocation.
    pub task: String,
    /// Commands in its instructions that ran before the model read them.
    #[serde(default)]
    pub commands: Vec<String>,
}

/// A sub-agent: a separate session that does a part of the work and returns a summary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SubAgentView {
    /// The skill it follows.
    pub name: String,
    /// The skill's origin, in a word or two; empty if unknown.
    pub label: String,
    /// Its assignment.
    pub task: String,
    /// Commands in the skill's instructions that ran before it began.
    #[serde(default)]
    pub commands: Vec<String>,
    /// Its session; `None` before it began.
    pub session: Option<SessionId>,
    /// Its current status.
    pub status: SubAgentStatus,
    /// The number of answers its model has given.
    pub steps: u32,
    /// The tools it called, in the order of the first call.
    pub tools: Vec<ToolCount>,
    /// Its cost so far; `None` means "unknown".
    pub cost: Option<Cost>,
    /// The last non-empty line of its output, at most 200 characters.
    pub last_line: String,
    /// The summary it returned; `None` before it ended.
    pub summary: Option<String>,
}

/// The status of a sub-agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum SubAgentStatus {
    /// It has not begun, because the maximum number of sub-agents is running.
    Queued,
    /// It works.
    Running,
    /// It waits for the person.
    NeedsYou,
    /// It finished.
    Done,
    /// The person stopped it, or the work it belongs to.
    Stopped,
    /// It failed.
    Failed,
    /// Octo ended while it worked.
    Interrupted,
}

impl SubAgentStatus {
    /// Returns whether the sub-agent is over.
    pub fn is_over(self) -> bool {
        match self {
            Self::Queued | Self::Running | Self::NeedsYou => false,
            Self::Done | Self::Stopped | Self::Failed | Self::Interrupted => true,
        }
    }
}

/// The number of calls of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct ToolCount {
    /// The tool's name.
    pub tool: String,
    /// The number of calls.
    pub count: u32,
}

/// The origin of a sub-agent's session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SubAgentOrigin {
    /// The session that started it.
    pub session: SessionId,
    /// That session's title.
    pub title: String,
    /// The turn it belongs to.
    pub turn: TurnId,
    /// The call that started it.
    pub call: CallId,
    /// The skill it follows.
    pub name: String,
}

/// The maximum number of sub-agents that work at once, across all sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(transparent)]
#[ts(export, export_to = "protocol.ts")]
pub struct SubAgentLimit(pub u32);

impl SubAgentLimit {
    /// The highest value that can be set: each sub-agent is a conversation that keeps costing money.
    pub const MAX: u32 = 8;

    /// Returns the limit in effect: at least one, otherwise nothing would ever run.
    pub fn effective(self) -> u32 {
        self.0.clamp(1, Self::MAX)
    }
}

impl Default for SubAgentLimit {
    fn default() -> Self {
        Self(3)
    }
}
