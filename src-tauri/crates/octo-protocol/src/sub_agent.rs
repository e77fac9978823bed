//! Skills that were invoked, and the sub-agents some of them start.

use crate::{CallId, Cost, SessionId, TurnId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A skill whose instructions were, or would be, loaded into the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SkillView {
    /// Its name.
    pub name: String,
    /// Where it comes from, in a word or two; empty where nothing is known.
    pub label: String,
    /// What it was invoked for.
    pub task: String,
    /// Commands in its instructions that ran before the model read them.
    #[serde(default)]
    pub commands: Vec<String>,
}

/// A sub-agent: a session of its own that works on a part of the task and gives back a summary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SubAgentView {
    /// The skill it works by.
    pub name: String,
    /// Where the skill comes from, in a word or two; empty where nothing is known.
    pub label: String,
    /// What it is to do.
    pub task: String,
    /// Commands in the skill's instructions that ran before it began.
    #[serde(default)]
    pub commands: Vec<String>,
    /// Its session; none before it began.
    pub session: Option<SessionId>,
    /// How it stands.
    pub status: SubAgentStatus,
    /// The answers its model gave so far.
    pub steps: u32,
    /// The tools it called, in the order it first did.
    pub tools: Vec<ToolCount>,
    /// What it cost so far; none for "unknown".
    pub cost: Option<Cost>,
    /// The last line it said that is not empty, at most 200 characters.
    pub last_line: String,
    /// What it gave back; none before it ended.
    pub summary: Option<String>,
}

/// How a sub-agent stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum SubAgentStatus {
    /// It has not begun: as many as may run at once do.
    Queued,
    /// It works.
    Running,
    /// It waits for the person.
    NeedsYou,
    /// It came to its end.
    Done,
    /// The person stopped it, or what it belongs to.
    Stopped,
    /// It could not go on.
    Failed,
    /// Octo ended while it worked.
    Interrupted,
}

impl SubAgentStatus {
    /// Whether it is over.
    pub fn is_over(self) -> bool {
        match self {
            Self::Queued | Self::Running | Self::NeedsYou => false,
            Self::Done | Self::Stopped | Self::Failed | Self::Interrupted => true,
        }
    }
}

/// How often a tool was called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ToolCount {
    /// The tool's name.
    pub tool: String,
    /// How often.
    pub count: u32,
}

/// Where a sub-agent's session comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ForkOrigin {
    /// The session that started it.
    pub session: SessionId,
    /// That session's title.
    pub title: String,
    /// The turn it belongs to.
    pub turn: TurnId,
    /// The call that started it.
    pub call: CallId,
    /// The skill it works by.
    pub name: String,
}

/// How many sub-agents may work at once, in all sessions together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(transparent)]
#[ts(export)]
pub struct SubAgentLimit(pub u32);

impl SubAgentLimit {
    /// The most that can be set: each is a conversation of its own that costs money all the time.
    pub const MOST: u32 = 8;

    /// As it counts: one at least, so that nothing waits for ever.
    pub fn effective(self) -> u32 {
        self.0.clamp(1, Self::MOST)
    }
}

impl Default for SubAgentLimit {
    fn default() -> Self {
        Self(3)
    }
}
