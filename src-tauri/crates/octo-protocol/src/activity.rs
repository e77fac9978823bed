//! Activity in this home, across all of its processes: turns, runs of tasks, sub-agents and background
//! commands.

use crate::{Millis, RunId, SessionId, Spending};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The maximum number of turns that run at once, across all sessions. Every running turn keeps paying for model
/// calls, and their tools share one computer. Further turns wait in a queue, in the order they began.
///
/// A turn that waits for the person does not count, nor do sub-agents, which have their own limit, and the
/// demo. The limit is per process: a headless run next to the window has its own queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(transparent)]
#[ts(export, export_to = "protocol.ts")]
pub struct LiveTurnLimit(pub u32);

impl LiveTurnLimit {
    /// The highest value that can be set: more turns than one person can follow, or than most keys may call at
    /// once.
    pub const MAX: u32 = 16;

    /// Returns the limit in effect: at least one, otherwise nothing would ever run.
    pub fn effective(self) -> u32 {
        self.0.clamp(1, Self::MAX)
    }
}

impl Default for LiveTurnLimit {
    /// One more than tasks may use at once, which leaves the person a slot.
    fn default() -> Self {
        Self(4)
    }
}

/// All activity in this home.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct ActivityState {
    /// Sessions, then tasks, sub-agents and commands; within each kind the oldest first.
    pub rows: Vec<ActivityRow>,
    /// The number of this process's turn slots in use.
    pub taken: u32,
    /// The total number of turn slots.
    pub places: u32,
}

/// An activity that runs or is queued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct ActivityRow {
    /// The id, stable while the activity runs; a stop request names it.
    pub id: ActivityId,
    /// The session's title, the task's name, the sub-agent's skill, or the command line.
    pub name: String,
    /// The session that a sub-agent or a command belongs to.
    pub of: Option<ActivityOrigin>,
    /// The absolute path of its working folder.
    pub folder: String,
    /// The session that shows its progress; `None` for a run that has not begun.
    pub session: Option<SessionId>,
    /// For the run of a task, the task's file.
    pub task: Option<String>,
    /// Its current status.
    pub status: ActivityStatus,
    /// When it started, or was queued.
    #[ts(type = "number")]
    pub since: Millis,
    /// The number of answers its model has given; `None` for a command, and for a run that has not begun.
    pub steps: Option<u32>,
    /// The cost so far, sub-agents included; `None` for a command.
    pub spending: Option<Spending>,
    /// The id of the other process of this home that runs it, such as `octo exec` in a terminal; `None` for
    /// this process.
    #[serde(default)]
    pub process: Option<u32>,
}

/// The id of an activity, by kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum ActivityId {
    /// A session's turn.
    Session {
        /// The session.
        session: SessionId,
    },
    /// A run of a task.
    Task {
        /// The run.
        run: RunId,
    },
    /// A sub-agent.
    SubAgent {
        /// Its own session.
        session: SessionId,
    },
    /// A command in the background.
    Command {
        /// The session that started it.
        session: SessionId,
        /// The handle by which the session addresses the command.
        handle: String,
    },
}

/// The session an activity belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct ActivityOrigin {
    /// The session.
    pub session: SessionId,
    /// Its title.
    pub title: String,
}

/// The status of an activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum ActivityStatus {
    /// It is running.
    Working,
    /// It waits for the person.
    NeedsYou,
    /// It waits for a turn slot.
    Queued {
        /// The number of activities ahead of it in the queue.
        ahead: u32,
    },
}

/// The result of stopping activities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct StoppedActivity {
    /// The number of activities that were stopped.
    pub count: u32,
}
