//! Scheduled tasks. Each is a file in the home, `tasks/<file>.md`: its front matter and body hold the parts
//! that the person may read and edit. Its history, the runs, is in the database.

use crate::{ApiError, Cost, Millis, Mode, ModelId, Profile, RunId, SessionId, Switch};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The maximum length of a task's file name without `.md`, in bytes.
pub const TASK_FILE_MAX_BYTES: usize = 64;

/// The definition of a task: the content of the form and the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct TaskPlan {
    /// Its name.
    pub name: String,
    /// The instructions for the agent: the first message of each run.
    pub prompt: String,
    /// Its schedule.
    pub when: Timing,
    /// The IANA name of the time zone of its times.
    pub zone: String,
    /// The absolute folder it works in.
    pub folder: String,
    /// The profile of its sessions.
    pub profile: Profile,
    /// The mode of its sessions.
    pub mode: Mode,
    /// The model; `None` for the default one at the time of the run.
    pub model: Option<ModelId>,
    /// The cost limit of one run; `None` for no limit other than the person's budgets.
    pub budget: Option<Cost>,
    /// The time limit of a run, in minutes.
    pub minutes: u32,
    /// The retries after a failed run.
    pub retry: TaskRetry,
    /// The action for a missed run.
    pub missed: MissedRun,
    /// The events that notify the person.
    pub tell: TaskNotifications,
}

/// The schedule of a task. Times of day are `HH:MM`, in the plan's zone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum Timing {
    /// Only when the person starts it.
    ByHand,
    /// Once.
    Once {
        /// The local date and time, `YYYY-MM-DDTHH:MM`.
        at: String,
    },
    /// Repeatedly, at a fixed interval.
    Every {
        /// The number of units; at least 1, and at least five minutes in total.
        count: u32,
        /// The unit.
        unit: TimeUnit,
        /// The time of day from which the interval counts; for days, the time of the run.
        from: String,
        /// The time of day after which the task pauses until the next day's `from`; `None` for all day. Not for
        /// days.
        until: Option<String>,
    },
    /// On days of the week.
    Weekly {
        /// The days, each once; all seven are "every day".
        days: Vec<Weekday>,
        /// The times of day.
        times: Vec<String>,
    },
    /// On days of the month.
    Monthly {
        /// The days, 1 to 31; a month without the day is skipped.
        days: Vec<u8>,
        /// The times of day.
        times: Vec<String>,
    },
    /// A cron expression with five fields, for those who want one.
    Cron {
        /// The expression.
        expression: String,
    },
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum TimeUnit {
    /// Minutes.
    Minutes,
    /// Hours.
    Hours,
    /// Days.
    Days,
}

/// A day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum Weekday {
    /// Monday.
    Monday,
    /// Tuesday.
    Tuesday,
    /// Wednesday.
    Wednesday,
    /// Thursday.
    Thursday,
    /// Friday.
    Friday,
    /// Saturday.
    Saturday,
    /// Sunday.
    Sunday,
}

/// The retries after a failed run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct TaskRetry {
    /// The number of retries, 0 to 5.
    pub times: u32,
    /// The delay in minutes.
    pub minutes: u32,
}

/// The action for a run that was missed because the computer slept or Octo was not running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum MissedRun {
    /// Skip it; the list of runs says so.
    Skip,
    /// Run once as soon as possible, however many runs were missed.
    #[default]
    RunOnce,
    /// Ask the person.
    Ask,
}

/// The events that notify the person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum TaskNotifications {
    /// The end of every run, and questions.
    All,
    /// Of failures and questions.
    #[default]
    Trouble,
    /// No events; questions still wait in their session.
    Nothing,
}

/// Settings for all tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export, export_to = "protocol.ts")]
pub struct TaskSettings {
    /// Whether tasks run on schedule; if off, each behaves as if paused, and the person can still run it.
    pub at_their_times: Switch,
    /// The default for missed runs in new tasks.
    pub missed: MissedRun,
    /// The default notifications of new tasks.
    pub tell: TaskNotifications,
}

/// A task as shown in lists and on its page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct TaskCard {
    /// The name of its file, without `.md`, which identifies the task.
    pub file: String,
    /// The content of its file.
    pub content: TaskContent,
    /// A hash of the file, to detect a change by another program.
    pub version: String,
    /// Whether it runs on schedule.
    pub state: TaskState,
    /// Its next run times, at most three.
    #[ts(type = "Array<number>")]
    pub next: Vec<Millis>,
    /// Its last run, possibly a skipped one; `None` before the first.
    pub last: Option<TaskRun>,
}

/// The content of a task's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum TaskContent {
    /// A valid plan.
    Plan {
        /// The plan.
        plan: Box<TaskPlan>,
    },
    /// Not a valid task. Octo leaves the file unchanged and does not run it.
    Broken {
        /// The error.
        error: ApiError,
        /// The file's text, shortened.
        text: String,
    },
}

/// Whether a task runs on schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum TaskState {
    /// It does.
    Active,
    /// The person paused it.
    Paused,
    /// It has no further run time: its one time is over, or it only runs by hand.
    Resting,
    /// Its file cannot be read.
    Broken,
    /// Another program or the agent created or changed its file: it runs once the person has reviewed it.
    Unseen,
}

/// A run of a task, or a time at which it did not run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct TaskRun {
    /// Its id.
    pub id: RunId,
    /// The task's file.
    pub task: String,
    /// The task's name at that time.
    pub name: String,
    /// The trigger.
    pub cause: RunCause,
    /// The time it was due; for a run by hand, the time of the request.
    #[ts(type = "number")]
    pub due: Millis,
    /// When it began; `None` before.
    #[ts(type = "number | null")]
    pub started_at: Option<Millis>,
    /// When it ended; `None` before.
    #[ts(type = "number | null")]
    pub ended_at: Option<Millis>,
    /// Its current status.
    pub status: RunStatus,
    /// Its session, as long as it exists.
    pub session: Option<SessionId>,
    /// Its known cost so far.
    pub cost: Cost,
    /// The first words of its last answer.
    pub result: Option<String>,
}

/// The trigger of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum RunCause {
    /// The schedule.
    Time,
    /// The schedule, after a time missed because the computer slept or Octo was not running.
    Missed {
        /// The number of missed times, including this one.
        times: u32,
    },
    /// The person, or the agent on the person's request.
    Hand,
    /// A run that failed.
    Retry {
        /// The failed run.
        of: RunId,
        /// The number of this attempt, from 1.
        number: u32,
    },
}

/// The status of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum RunStatus {
    /// It was missed, and Octo asks the person whether to run it now.
    Asked,
    /// It waits for a slot, or for the time of its retry.
    Waiting {
        /// The earliest start.
        #[ts(type = "number")]
        until: Millis,
    },
    /// It runs.
    Running,
    /// It waits for the person's answer in its session.
    NeedsYou,
    /// It succeeded.
    Finished,
    /// It failed.
    Failed {
        /// The error.
        error: ApiError,
    },
    /// It exceeded its time limit.
    TimedOut,
    /// It reached its budget.
    OverBudget,
    /// The person stopped it.
    Stopped,
    /// Its session was deleted while it ran.
    Interrupted,
    /// It was skipped.
    Skipped {
        /// The reason.
        reason: SkipReason,
    },
}

/// Why a run was skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum SkipReason {
    /// The previous run was not over.
    StillRunning,
    /// Octo was not running, or the computer slept, and the task skips missed times.
    Missed {
        /// The number of missed times.
        times: u32,
    },
    /// The person declined to run missed times.
    Declined,
    /// It was a waiting retry, and a new run replaced it.
    Replaced,
    /// The person's budget for the day is used up.
    DayBudget,
    /// Its file became unreadable, or another program wrote it: later times are skipped until the file is
    /// readable and the person has reviewed it.
    Unrunnable {
        /// The error.
        error: ApiError,
    },
    /// It could not begin.
    CouldNotStart {
        /// The error.
        error: ApiError,
    },
}

/// The person's answer to a missed run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum MissedAnswer {
    /// Run it now.
    Run,
    /// Skip it.
    Skip,
}

/// A preview of a plan, before it is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct TaskPreview {
    /// Its next run times, at most three.
    #[ts(type = "Array<number>")]
    pub next: Vec<Millis>,
    /// Its errors; it can be saved only if there are none.
    pub errors: Vec<TaskFault>,
    /// Warnings about unusual but allowed values: it would cost much, or run while no person can answer.
    pub remarks: Vec<ApiError>,
}

/// An error in a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct TaskFault {
    /// The field of [`TaskPlan`] with the error.
    pub field: String,
    /// The error.
    pub error: ApiError,
}

/// The state of all tasks: a revision that changes with them, and the counts for a badge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct TasksState {
    /// Changes with every change of a task or a run, which tells clients to reload.
    #[ts(type = "number")]
    pub revision: u64,
    /// The number of runs in progress.
    pub running: u32,
    /// The number of runs that wait for the person, including missed ones that ask, and of tasks the person has
    /// not reviewed.
    pub waiting: u32,
}
