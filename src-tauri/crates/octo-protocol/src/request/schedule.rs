//! Requests about scheduled tasks.

use super::{Acknowledgement, Request, TypedRequest};
use crate::{MissedAnswer, RunId, Switch, TaskCard, TaskPlan, TaskPreview, TaskRun};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests about scheduled tasks.
    ScheduleRequest in Schedule, ScheduleReplies {
        /// Returns all tasks: those that need the person first, then by their next run time.
        ListTasks {} -> TaskCards;
        /// Returns one task.
        GetTask {
            /// Its file.
            task: String,
        } -> TaskCard;
        /// Checks a plan and returns its next run times. Saves nothing.
        PreviewTask {
            /// The plan.
            plan: Box<TaskPlan>,
        } -> TaskPreview;
        /// Writes a task. Refused if the file differs from the edited version.
        SaveTask {
            /// Its file; `None` for a new one, which is named after the task.
            task: Option<String>,
            /// The plan.
            plan: Box<TaskPlan>,
            /// The version before the edit (see [`TaskCard::version`]); `None` for a new task.
            version: Option<String>,
        } -> TaskCard;
        /// Accepts a task that appeared in the home and lets it run in the version the person saw.
        AcceptTask {
            /// Its file.
            task: String,
            /// The version they saw (see [`TaskCard::version`]).
            version: String,
        } -> TaskCard;
        /// Resumes or pauses a task. A run in progress continues.
        SwitchTask {
            /// Its file.
            task: String,
            /// Whether it runs on schedule.
            on: Switch,
        } -> TaskCard;
        /// Runs a task now, whether or not a window is open. Refused while it runs.
        RunTask {
            /// Its file.
            task: String,
        } -> TaskRun;
        /// Writes a copy of a task, paused.
        DuplicateTask {
            /// Its file.
            task: String,
        } -> TaskCard;
        /// Moves a task to the trash. Keeps its runs; stops one in progress.
        DeleteTask {
            /// Its file.
            task: String,
        } -> Acknowledgement;
        /// Returns runs, newest first.
        ListRuns {
            /// The task; `None` for all tasks.
            task: Option<String>,
            /// Only runs listed after this one; `None` to start with the newest.
            after: Option<RunId>,
            /// The maximum number of runs (capped at 200).
            limit: u32,
        } -> TaskRuns;
        /// Answers a question about a missed run.
        AnswerMissed {
            /// The run.
            run: RunId,
            /// The answer.
            answer: MissedAnswer,
        } -> Acknowledgement;
        /// Stops a run in progress, or cancels a waiting one.
        StopRun {
            /// The run.
            run: RunId,
        } -> Acknowledgement;
    }
}

/// All tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct TaskCards {
    /// Whether tasks run on schedule at all; see [`crate::TaskSettings`].
    pub at_their_times: Switch,
    /// Those that need the person first, then by their next run time.
    pub tasks: Vec<TaskCard>,
    /// This computer's time zone, for new tasks: an IANA name.
    pub zone: String,
}

/// Runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct TaskRuns {
    /// Newest first.
    pub runs: Vec<TaskRun>,
    /// The outcomes of the last thirty days' runs, for the line above the list.
    pub month: RunTotals,
}

/// The outcomes of several runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct RunTotals {
    /// Finished.
    pub finished: u32,
    /// Failed, timed out, over their budget or interrupted.
    pub failed: u32,
    /// Skipped.
    pub skipped: u32,
    /// Their known cost.
    pub cost: crate::Cost,
}
