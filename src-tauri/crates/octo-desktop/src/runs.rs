//! Decides which runs of scheduled tasks the person is notified of. A run knows more about its end than its
//! session: a run that took too long is stopped there like any other, and a run that could not begin has no
//! session.

use crate::notifications::{NotificationAction, NotificationKind};
use octo_protocol::{ApiError, RunId, RunStatus, SessionId, SkipReason, TaskRun};
use std::collections::BTreeMap;

/// Details of a notification about a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunNotification {
    /// File of the scheduled task.
    pub task: String,
    /// Reason for the question or the failure; `None` after success.
    pub problem: Option<RunProblem>,
}

impl RunNotification {
    /// Actions of its notification: the list of scheduled tasks shows whether and how it is retried.
    pub const ACTIONS: &'static [NotificationAction] = &[NotificationAction::Open];
}

/// Reason why a run asks or did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunProblem {
    /// It failed, or could not begin.
    Error(ApiError),
    /// It exceeded its time limit.
    TimedOut,
    /// It spent its budget.
    OverBudget,
    /// Its scheduled time passed, and Octo asks the person whether to run it now.
    Missed,
}

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunStage {
    /// Octo asks the person whether to run it.
    Asks,
    /// It waits to begin, runs, or waits for the person.
    Open,
    /// It ended, or was skipped.
    Over,
}

/// Follows the list of runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunTracker {
    /// Whether the list was received once.
    has_list: bool,
    stages: BTreeMap<RunId, (RunStage, Option<SessionId>)>,
}

impl RunTracker {
    /// Returns the runs that have progressed, oldest first. Runs that ended before the first list are not news;
    /// a run that asks is, however old: nothing else reports it.
    pub(crate) fn record_progress<'a>(&mut self, runs: &'a [TaskRun]) -> Vec<&'a TaskRun> {
        let is_first = !std::mem::replace(&mut self.has_list, true);
        let stages = runs.iter().map(|run| (run.id, (stage(&run.status), run.session))).collect();
        let previous = std::mem::replace(&mut self.stages, stages);
        let has_progressed = |run: &&TaskRun| {
            let stage = stage(&run.status);
            let previous_stage = previous.get(&run.id).map(|(stage, _)| *stage);
            previous_stage != Some(stage) && !(is_first && stage == RunStage::Over)
        };
        runs.iter().rev().filter(has_progressed).collect()
    }

    /// Returns how many missed runs ask.
    pub(crate) fn missed_count(&self) -> usize {
        self.stages.values().filter(|(stage, _)| *stage == RunStage::Asks).count()
    }

    /// Returns whether a run is active in this session.
    pub(crate) fn is_open_in(&self, session: SessionId) -> bool {
        self.stages.values().any(|stage| *stage == (RunStage::Open, Some(session)))
    }
}

fn stage(status: &RunStatus) -> RunStage {
    match status {
        RunStatus::Asked => RunStage::Asks,
        RunStatus::Waiting { .. } | RunStatus::Running | RunStatus::NeedsYou => RunStage::Open,
        RunStatus::Finished
        | RunStatus::Failed { .. }
        | RunStatus::TimedOut
        | RunStatus::OverBudget
        | RunStatus::Stopped
        | RunStatus::Interrupted
        | RunStatus::Skipped { .. } => RunStage::Over,
    }
}

/// Returns the notification for a run's status; `None` if the person caused it, knows it or reads it in the list.
/// A question inside a run is reported by its session.
pub(crate) fn notification_kind(status: &RunStatus) -> Option<(NotificationKind, Option<RunProblem>)> {
    match status {
        RunStatus::Asked => Some((NotificationKind::Question, Some(RunProblem::Missed))),
        RunStatus::Finished => Some((NotificationKind::Finished, None)),
        RunStatus::Failed { error }
        | RunStatus::Skipped {
            reason: SkipReason::CouldNotStart { error } | SkipReason::Unrunnable { error },
        } => Some((NotificationKind::Failed, Some(RunProblem::Error(error.clone())))),
        RunStatus::TimedOut => Some((NotificationKind::Failed, Some(RunProblem::TimedOut))),
        RunStatus::OverBudget => Some((NotificationKind::Failed, Some(RunProblem::OverBudget))),
        RunStatus::Waiting { .. }
        | RunStatus::Running
        | RunStatus::NeedsYou
        | RunStatus::Stopped
        | RunStatus::Interrupted
        | RunStatus::Skipped { .. } => None,
    }
}
