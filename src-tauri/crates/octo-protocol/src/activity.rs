//! What runs in this home, whichever of its processes does it: turns, runs of tasks, sub-agents and commands in the
//! background.

use crate::{Millis, RunId, SessionId, Spending};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How many turns may work at once, in all sessions together. Each is a model that is asked and paid all the time, and
/// tools that share one computer. What comes beyond it waits in a line, what began first ahead.
///
/// A turn that waits for the person takes no place, nor do sub-agents, which have a limit of their own, and the demo.
/// It counts for one process: a headless run beside the window is another, with its own line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(transparent)]
#[ts(export)]
pub struct LiveTurnLimit(pub u32);

impl LiveTurnLimit {
    /// The most that can be set: more than one person follows, and than most keys may ask at once.
    pub const MOST: u32 = 16;

    /// As it counts: one at least, so that nothing waits for ever.
    pub fn effective(self) -> u32 {
        self.0.clamp(1, Self::MOST)
    }
}

impl Default for LiveTurnLimit {
    /// One more than tasks take at once, so that these leave the person a place.
    fn default() -> Self {
        Self(4)
    }
}

/// All that runs in this home.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ActivityState {
    /// Sessions, then tasks, sub-agents and commands; of each what began first.
    pub rows: Vec<ActivityRow>,
    /// How many of this process's places for turns are taken.
    pub taken: u32,
    /// How many there are.
    pub places: u32,
}

/// One thing that runs, or waits to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ActivityRow {
    /// What it is, the same for as long as it runs; by this it is stopped.
    pub id: ActivityId,
    /// The session's title, the task's name, the skill the sub-agent works by, or the command line.
    pub name: String,
    /// What it belongs to: of a sub-agent or a command.
    pub of: Option<ActivityOrigin>,
    /// The absolute folder it works in.
    pub folder: String,
    /// The session in which it can be followed; none for a run that has not begun.
    pub session: Option<SessionId>,
    /// The file of the task whose run it is.
    pub task: Option<String>,
    /// How it stands.
    pub status: ActivityStatus,
    /// Since when it runs or waits to.
    #[ts(type = "number")]
    pub since: Millis,
    /// The answers its model gave so far; none for a command, and for a run that has not begun.
    pub steps: Option<u32>,
    /// What it cost so far, sub-agents included; none for a command.
    pub spending: Option<Spending>,
    /// The number of the other process of this home it runs in, such as `octo exec` in a terminal; none for this one.
    #[serde(default)]
    pub process: Option<u32>,
}

/// What runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
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
        /// By which the session reaches it.
        handle: String,
    },
}

/// The session something belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ActivityOrigin {
    /// The session.
    pub session: SessionId,
    /// Its title.
    pub title: String,
}

/// How something that runs stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum ActivityStatus {
    /// It works.
    Working,
    /// It waits for the person.
    NeedsYou,
    /// It waits for a place.
    Queued {
        /// How many others get one before it.
        ahead: u32,
    },
}

/// What was stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct StoppedActivity {
    /// How many rows.
    pub count: u32,
}
