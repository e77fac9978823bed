//! Tasks that Octo runs by itself, at their time. Each is a file in the home, `tasks/<file>.md`: what the person may
//! read and edit is in its front matter and its body. What happened to it, its runs, is in the database.

use crate::{ApiError, Cost, Millis, Mode, ModelId, Profile, RunId, SessionId, Switch};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The longest name of a task's file without `.md`, in bytes.
pub const TASK_FILE: usize = 64;

/// What a task is to do, when and how: what the form edits and the file holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TaskPlan {
    /// What it is called.
    pub name: String,
    /// What the agent is asked to do: the first message of each run.
    pub prompt: String,
    /// When it runs.
    pub when: Timing,
    /// The IANA name of the time zone its times are meant in.
    pub zone: String,
    /// The absolute folder it works in.
    pub folder: String,
    /// The profile of its sessions.
    pub profile: Profile,
    /// The mode of its sessions.
    pub mode: Mode,
    /// The model; none for the default one at the time of the run.
    pub model: Option<ModelId>,
    /// How much one run may cost; none for no limit beside the person's budgets.
    pub budget: Option<Cost>,
    /// After how many minutes a run is stopped.
    pub minutes: u32,
    /// What follows a run that failed.
    pub retry: TaskRetry,
    /// What becomes of a time at which nothing could run it.
    pub missed: MissedRun,
    /// Of what the person is told.
    pub tell: TaskNews,
}

/// When a task runs. Times of day are `HH:MM`, in the plan's zone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum Timing {
    /// Only when the person says so.
    ByHand,
    /// Once.
    Once {
        /// The local date and time, `YYYY-MM-DDTHH:MM`.
        at: String,
    },
    /// Again and again, so far apart.
    Every {
        /// How many of the unit; at least 1, and together at least five minutes.
        count: u32,
        /// The unit.
        unit: TimeUnit,
        /// The time of day from which it is counted; for days, the time at which it runs.
        from: String,
        /// The time of day after which it does not run any more until the next day's `from`; none for all day. Not
        /// for days.
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
        /// The days, 1 to 31; one a month does not have is left out in that month.
        days: Vec<u8>,
        /// The times of day.
        times: Vec<String>,
    },
    /// For those who ask for it: five fields, as cron reads them.
    Cron {
        /// The expression.
        expression: String,
    },
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
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
#[ts(export)]
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

/// What follows a run that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TaskRetry {
    /// How often it is tried again, 0 to 5.
    pub times: u32,
    /// How many minutes later.
    pub minutes: u32,
}

/// What becomes of a time at which the computer slept or Octo did not run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum MissedRun {
    /// It is left out, and the run list says so.
    Skip,
    /// It runs once as soon as it can, however many times were missed.
    #[default]
    RunOnce,
    /// The person is asked.
    Ask,
}

/// Of what the person is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum TaskNews {
    /// Of every end, and of questions.
    All,
    /// Of failures and questions.
    #[default]
    Trouble,
    /// Of nothing; questions still wait in their session.
    Nothing,
}

/// What holds for all tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export)]
pub struct TaskSettings {
    /// Whether tasks run at their times; off, each is as if it was paused, and can be run by hand.
    pub at_their_times: Switch,
    /// What new tasks do about times that were missed.
    pub missed: MissedRun,
    /// What new tasks tell of.
    pub tell: TaskNews,
}

/// A task as lists and its page show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TaskCard {
    /// The name of its file, without `.md`: what it is known by.
    pub file: String,
    /// What its file says.
    pub content: TaskContent,
    /// A hash of the file, to notice that somebody else changed it.
    pub version: String,
    /// Whether it runs by itself.
    pub state: TaskState,
    /// Its next times, at most three.
    #[ts(type = "Array<number>")]
    pub next: Vec<Millis>,
    /// Its last run, also one that was left out; none before the first.
    pub last: Option<TaskRun>,
}

/// What a task's file says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum TaskContent {
    /// What it is to do.
    Plan {
        /// The plan.
        plan: Box<TaskPlan>,
    },
    /// It cannot be read as a task. It is left as it is, and does not run.
    Broken {
        /// Why.
        error: ApiError,
        /// The file's text, shortened.
        text: String,
    },
}

/// Whether a task runs by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum TaskState {
    /// At its times.
    Active,
    /// The person paused it.
    Paused,
    /// Never again: its one time is over, or it only runs by hand.
    Resting,
    /// Its file cannot be read.
    Broken,
    /// Its file came into the home, or changed there, by another program or by the agent: it runs once the person has
    /// looked at it.
    Unseen,
}

/// A run of a task, or a time at which it did not run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TaskRun {
    /// Its id.
    pub id: RunId,
    /// The task's file.
    pub task: String,
    /// The task's name at that time.
    pub name: String,
    /// What set it off.
    pub cause: RunCause,
    /// The time it was due; of a run by hand, when it was asked for.
    #[ts(type = "number")]
    pub due: Millis,
    /// When it began; none before.
    #[ts(type = "number | null")]
    pub started_at: Option<Millis>,
    /// When it was over; none before.
    #[ts(type = "number | null")]
    pub ended_at: Option<Millis>,
    /// How it stands.
    pub status: RunStatus,
    /// Its session, as long as that is there.
    pub session: Option<SessionId>,
    /// What it has cost so far, as far as it is known.
    pub cost: Cost,
    /// The first words of its last answer.
    pub result: Option<String>,
}

/// What set a run off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum RunCause {
    /// Its time.
    Time,
    /// Its time, while the computer slept or Octo did not run.
    Missed {
        /// How many times were missed, this one included.
        times: u32,
    },
    /// The person, or the agent at the person's word.
    Hand,
    /// A run that failed.
    Retry {
        /// Which.
        of: RunId,
        /// The how-manieth try this is, from 1.
        number: u32,
    },
}

/// How a run stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum RunStatus {
    /// Missed, and the person is asked whether it is to run now.
    Asked,
    /// Set off; it waits for its turn, or for its time to try again.
    Waiting {
        /// Not before this time.
        #[ts(type = "number")]
        until: Millis,
    },
    /// It runs.
    Running,
    /// It waits for the person's answer in its session.
    NeedsYou,
    /// Done.
    Finished,
    /// It failed.
    Failed {
        /// Why.
        error: ApiError,
    },
    /// It took longer than it may.
    TimedOut,
    /// It cost what it may.
    OverBudget,
    /// The person stopped it.
    Stopped,
    /// Its session was deleted in the middle of it.
    Interrupted,
    /// It did not run.
    Skipped {
        /// Why.
        reason: SkipReason,
    },
}

/// Why a run was left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum SkipReason {
    /// The run before was not over.
    StillRunning,
    /// Octo did not run, or the computer slept, and the task says to leave such times out.
    Missed {
        /// How many times.
        times: u32,
    },
    /// The person was asked about missed times and said no.
    Declined,
    /// It was a further try that only waited, and a new run took its place.
    Replaced,
    /// The person's budget for the day is used up.
    DayBudget,
    /// Its file could not be read any more, or somebody else wrote it: times from then on are left out, until it can be
    /// read and the person looked at it.
    Unrunnable {
        /// Why.
        error: ApiError,
    },
    /// It could not begin.
    CouldNotStart {
        /// Why.
        error: ApiError,
    },
}

/// What the person says to a missed run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum MissedAnswer {
    /// Run it now.
    Run,
    /// Leave it out.
    Skip,
}

/// What a plan would mean, before it is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TaskPreview {
    /// Its next times, at most three.
    #[ts(type = "Array<number>")]
    pub next: Vec<Millis>,
    /// What is wrong with it; it can be saved only when nothing is.
    pub errors: Vec<TaskFault>,
    /// What is unusual about it, and allowed: it would cost much, or run while nobody can answer.
    pub remarks: Vec<ApiError>,
}

/// What is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TaskFault {
    /// The field of [`TaskPlan`] it is about.
    pub field: String,
    /// What is wrong.
    pub error: ApiError,
}

/// The state of all tasks: that something changed, and what a badge shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TasksState {
    /// Changes with every change of a task or a run, so that a client knows to ask again.
    #[ts(type = "number")]
    pub revision: u64,
    /// Runs that are going on.
    pub running: u32,
    /// Runs that wait for the person, missed ones that ask included, and tasks the person has not looked at.
    pub waiting: u32,
}
