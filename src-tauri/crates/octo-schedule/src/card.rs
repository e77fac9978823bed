//! Task cards, and the conditions under which a task may run.

use crate::{file::TaskFile, plan, timing::ZonedTiming};
use octo_protocol::{ApiError, Millis, Switch, TaskCard, TaskContent, TaskRun, TaskState, Timing};
use octo_store::TaskStateRow;

/// Returns whether the person wrote or accepted this version of a file.
pub fn is_accepted(file: &TaskFile, state: Option<&TaskStateRow>) -> bool {
    state.and_then(|state| state.accepted.as_ref()) == Some(&file.version)
}

/// Returns the reason why a task cannot run: its file is invalid, or the person has not accepted this version.
/// `None` if it can run.
pub fn unrunnable_reason(file: &TaskFile, state: Option<&TaskStateRow>) -> Option<ApiError> {
    match &file.plan {
        Err(error) => Some(error.clone()),
        Ok(plan) if !is_accepted(file, state) => Some(ApiError::new("task.unseen").arg("name", &plan.name)),
        Ok(_) => None,
    }
}

/// Returns a task as the list shows it.
pub fn card(
    file: TaskFile,
    state: Option<&TaskStateRow>,
    last_run: Option<TaskRun>,
    now: Millis,
) -> TaskCard {
    let is_accepted = is_accepted(&file, state);
    let (content, state, next) = match file.plan {
        Err(error) => (TaskContent::Broken { error, text: file.text }, TaskState::Broken, Vec::new()),
        Ok(plan) => {
            let times = ZonedTiming::new(&plan.when, &plan.zone);
            let next: Vec<Millis> =
                times.map(|times| times.after(now).take(plan::PREVIEWED_TIMES).collect()).unwrap_or_default();
            let state = if !is_accepted {
                TaskState::Unseen
            } else if plan.when == Timing::ByHand || next.is_empty() {
                TaskState::Resting
            } else if state.is_some_and(|state| state.on == Switch::Off) {
                TaskState::Paused
            } else {
                TaskState::Active
            };
            (TaskContent::Plan { plan: Box::new(plan) }, state, next)
        }
    };
    TaskCard { file: file.file, content, version: file.version, state, next, last: last_run }
}
