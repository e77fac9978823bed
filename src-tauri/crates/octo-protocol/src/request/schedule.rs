//! Requests about tasks that run at their time.

use super::{Call, Done, Request};
use crate::{MissedAnswer, RunId, Switch, TaskCard, TaskPlan, TaskPreview, TaskRun};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests about tasks that run at their time.
    ScheduleRequest in Schedule, ScheduleReplies {
        /// All tasks: what needs the person first, then by their next time.
        ListTasks {} -> TaskCards;
        /// One task.
        GetTask {
            /// Its file.
            task: String,
        } -> TaskCard;
        /// What a plan would mean. Saves nothing.
        PreviewTask {
            /// The plan.
            plan: Box<TaskPlan>,
        } -> TaskPreview;
        /// Write a task. Refused where the file says something else than what was edited.
        SaveTask {
            /// Its file; none for a new one, which is named after the task.
            task: Option<String>,
            /// The plan.
            plan: Box<TaskPlan>,
            /// The version that was edited (see [`TaskCard::version`]); none for a new one.
            version: Option<String>,
        } -> TaskCard;
        /// The person looked at a task that came into the home and lets it run as they saw it.
        AcceptTask {
            /// Its file.
            task: String,
            /// What they saw (see [`TaskCard::version`]).
            version: String,
        } -> TaskCard;
        /// Let a task run at its times, or not. One that runs goes on.
        SwitchTask {
            /// Its file.
            task: String,
            /// Whether it is to run.
            on: Switch,
        } -> TaskCard;
        /// Run a task now, window or not. Refused while it runs.
        RunTask {
            /// Its file.
            task: String,
        } -> TaskRun;
        /// Write a second task like one, paused.
        DuplicateTask {
            /// Its file.
            task: String,
        } -> TaskCard;
        /// Put a task into the trash. Its runs are kept; one that is going on is stopped.
        DeleteTask {
            /// Its file.
            task: String,
        } -> Done;
        /// Runs, newest first.
        ListRuns {
            /// Of which task; none for all.
            task: Option<String>,
            /// Only those that come after this run; none from the newest on.
            after: Option<RunId>,
            /// How many at most (capped at 200).
            limit: u32,
        } -> TaskRuns;
        /// Say what becomes of a missed run that asks.
        AnswerMissed {
            /// Which.
            run: RunId,
            /// What.
            answer: MissedAnswer,
        } -> Done;
        /// Stop a run that is going on, or take back one that waits.
        StopRun {
            /// Which.
            run: RunId,
        } -> Done;
    }
}

/// All tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TaskCards {
    /// Whether tasks run at their times at all; see [`crate::TaskSettings`].
    pub at_their_times: Switch,
    /// What needs the person first, then by their next time.
    pub tasks: Vec<TaskCard>,
    /// The zone of this computer, for new tasks: an IANA name.
    pub zone: String,
}

/// Runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TaskRuns {
    /// Newest first.
    pub runs: Vec<TaskRun>,
    /// How the runs of the last thirty days ended, for the line above them.
    pub month: RunTotals,
}

/// How runs ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct RunTotals {
    /// Finished.
    pub finished: u32,
    /// Failed, timed out, over their budget or interrupted.
    pub failed: u32,
    /// Left out.
    pub skipped: u32,
    /// What they cost, as far as it is known.
    pub cost: crate::Cost,
}
