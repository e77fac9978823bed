//! Decisions about a task's times and runs, made from known facts, without a clock and without side effects.
//!
//! Each check of a task covers the time since the previous check, so the result does not depend on the exact
//! moments of the checks. A slightly late time runs as if it were on time. If times are later than that (the
//! computer slept, Octo did not run, or the clock jumped), there is at most one run, according to the plan's
//! policy. After the clock is set back, checks continue from its new time; the store ensures that no time runs
//! twice. A waiting retry of a failed run does not block other runs: a run that begins first replaces it.

use crate::timing::ZonedTiming;
use octo_protocol::{
    ApiError, BudgetScope, Cost, Millis, MissedRun, RunCause, RunId, RunStatus, SessionStatus, SkipReason,
    Switch, TaskPlan, TaskRun, TurnEnd,
};
use octo_store::{RunRow, RunStopReason, SessionDigest};

const MINUTE: Millis = 60 * 1_000;
/// Maximum delay with which a time still counts as on time: the application is starting, or the machine is busy.
const GRACE_PERIOD: Millis = 2 * MINUTE;
/// Missed times further back are not counted.
const MAX_MISSED_AGE: Millis = 366 * 24 * 60 * MINUTE;

/// The facts on which decisions about a task are based.
#[derive(Clone, Copy, Debug)]
pub struct TaskInputs<'a> {
    /// The name of its file, without `.md`.
    pub task: &'a str,
    /// The plan in it.
    pub plan: &'a TaskPlan,
    /// The plan's times, in its zone.
    pub times: &'a ZonedTiming,
    /// Off while the task is paused.
    pub on: Switch,
    /// The moment up to which its times have been decided; `None` if decisions begin now.
    pub decided_until: Option<Millis>,
    /// Its unfinished runs.
    pub open_runs: &'a [RunRow],
}

/// The position of a check within a process: waiting runs may have been left by a process that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckKind {
    /// The process's first check: waiting runs are from an earlier process.
    First,
    /// A later check: waiting runs are from this process, and wait for their turn.
    Later,
}

/// The decision on a task's times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimesDecision {
    /// New runs, and times without a run.
    pub added: Vec<RunRow>,
    /// Runs with a changed state.
    pub changed: Vec<RunRow>,
    /// Waiting retries, already marked as replaced; they are stored only if an added run begins.
    pub replaced_retries: Vec<RunRow>,
    /// The moment up to which its times are now decided; `None` if it need not be stored.
    pub decided_until: Option<Millis>,
}

/// Decides on the times up to `now`.
pub fn decide(task: &TaskInputs<'_>, now: Millis, kind: CheckKind) -> TimesDecision {
    let mut decision = TimesDecision::default();
    let since = task.decided_until.unwrap_or(now);
    if task.decided_until.is_none() || since > now {
        // Decisions begin now, or the clock was set back.
        decision.decided_until = Some(now);
    }
    let since = since.clamp(now.saturating_sub(MAX_MISSED_AGE), now);
    let due: Vec<Millis> = task.times.after(since).take_while(|time| *time <= now).collect();
    if !due.is_empty() {
        decision.decided_until = Some(now);
    }
    decide_waiting(task, now, kind, &mut decision);
    if task.on == Switch::Off {
        return decision;
    }
    let on_time = due.last().copied().filter(|time| now - time <= GRACE_PERIOD);
    let missed = match (on_time, due.as_slice()) {
        (Some(_), [missed @ .., _]) => missed,
        (_, missed) => missed,
    };
    let open: Vec<&RunRow> = task
        .open_runs
        .iter()
        .map(|row| decision.changed.iter().find(|changed| changed.run.id == row.run.id).unwrap_or(row))
        .filter(|row| row.run.ended_at.is_none())
        .collect();
    let is_busy = open.iter().any(|row| blocks_other_runs(row));
    let waiting_retries: Vec<RunRow> =
        open.iter().filter(|row| is_waiting_retry(row)).map(|row| (*row).clone()).collect();
    let open_questions: Vec<RunRow> =
        open.into_iter().filter(|row| row.run.status == RunStatus::Asked).cloned().collect();
    if let Some(latest) = missed.last().copied() {
        let times = u32::try_from(missed.len()).unwrap_or(u32::MAX);
        let row = |status| new_run(task, RunCause::Missed { times }, Some(latest), status, now);
        let skipped = |reason| RunStatus::Skipped { reason };
        match (on_time, is_busy, task.plan.missed) {
            // A run happens now anyway.
            (Some(_), ..) | (None, false, MissedRun::Skip) => {
                decision.added.push(row(skipped(SkipReason::Missed { times })));
            }
            (None, true, _) => decision.added.push(row(skipped(SkipReason::StillRunning))),
            (None, false, MissedRun::RunOnce) => decision.added.push(row(RunStatus::Waiting { until: now })),
            (None, false, MissedRun::Ask) => {
                let mut question = row(RunStatus::Asked);
                // One question about all of them is enough.
                for older in &open_questions {
                    let merged_times = missed_times(older.run.cause);
                    let reason = SkipReason::Missed { times: merged_times };
                    decision.changed.push(end_run(older, RunStatus::Skipped { reason }, now));
                    let times = missed_times(question.run.cause).saturating_add(merged_times);
                    question.run.cause = RunCause::Missed { times };
                }
                decision.added.push(question);
            }
        }
    }
    if let Some(time) = on_time {
        let status = if is_busy {
            RunStatus::Skipped { reason: SkipReason::StillRunning }
        } else {
            RunStatus::Waiting { until: now }
        };
        decision.added.push(new_run(task, RunCause::Time, Some(time), status, now));
    }
    if let Some(started) = decision.added.iter().find(|row| is_starting(row)) {
        decision.replaced_retries =
            waiting_retries.iter().map(|row| replace_retry(row, started.run.due, now)).collect();
    }
    decision
}

/// Returns whether a run is about to begin.
pub fn is_starting(row: &RunRow) -> bool {
    matches!(row.run.status, RunStatus::Waiting { .. })
}

/// Returns whether a run is a waiting retry of a failed one, which may begin only a day later.
pub fn is_waiting_retry(row: &RunRow) -> bool {
    is_starting(row) && matches!(row.run.cause, RunCause::Retry { .. })
}

/// Returns whether an unfinished run prevents other runs of the task.
pub fn blocks_other_runs(row: &RunRow) -> bool {
    row.run.status != RunStatus::Asked && !is_waiting_retry(row)
}

/// Returns a retry with the status "replaced", for a new run with this due time.
pub fn replace_retry(row: &RunRow, due: Millis, now: Millis) -> RunRow {
    let mut row = end_run(row, RunStatus::Skipped { reason: SkipReason::Replaced }, now);
    // Not later than its replacement: the history is ordered by due time.
    row.run.due = row.run.due.min(due);
    row
}

/// Decides on waiting runs: those of a paused task are stopped, and those that an earlier process left too long
/// ago follow the policy for missed times.
fn decide_waiting(task: &TaskInputs<'_>, now: Millis, kind: CheckKind, decision: &mut TimesDecision) {
    for row in task.open_runs {
        let RunStatus::Waiting { .. } = row.run.status else { continue };
        if task.on == Switch::Off && row.run.cause != RunCause::Hand {
            decision.changed.push(end_run(row, RunStatus::Stopped, now));
            continue;
        }
        let times = match (kind, row.run.cause) {
            (CheckKind::First, RunCause::Time) => 1,
            (CheckKind::First, RunCause::Missed { times }) => times,
            (CheckKind::Later, _) | (CheckKind::First, RunCause::Hand | RunCause::Retry { .. }) => continue,
        };
        if now - row.run.due <= GRACE_PERIOD {
            continue;
        }
        match task.plan.missed {
            MissedRun::Skip => {
                let reason = SkipReason::Missed { times };
                decision.changed.push(end_run(row, RunStatus::Skipped { reason }, now));
            }
            MissedRun::RunOnce => {
                let mut row = row.clone();
                row.run.cause = RunCause::Missed { times };
                decision.changed.push(row);
            }
            MissedRun::Ask => {
                let mut row = row.clone();
                row.run.cause = RunCause::Missed { times };
                row.run.status = RunStatus::Asked;
                decision.changed.push(row);
            }
        }
    }
}

fn missed_times(cause: RunCause) -> u32 {
    match cause {
        RunCause::Missed { times } => times,
        RunCause::Time | RunCause::Hand | RunCause::Retry { .. } => 1,
    }
}

/// Creates a new run of a task, or the record of a time without a run.
fn new_run(
    task: &TaskInputs<'_>,
    cause: RunCause,
    scheduled_at: Option<Millis>,
    status: RunStatus,
    now: Millis,
) -> RunRow {
    run_of(task.task, task.plan, cause, scheduled_at, status, now)
}

/// Creates the record that a task's times are skipped from now on because of `error`.
pub fn skip_times(task: &str, name: &str, error: ApiError, now: Millis) -> RunRow {
    RunRow {
        run: TaskRun {
            id: RunId::new(),
            task: task.to_owned(),
            name: name.to_owned(),
            cause: RunCause::Time,
            due: now,
            started_at: None,
            ended_at: Some(now),
            status: RunStatus::Skipped { reason: SkipReason::Unrunnable { error } },
            session: None,
            cost: Cost::ZERO,
            result: None,
        },
        scheduled_at: None,
        budget: None,
        minutes: 0,
        worked: 0,
        stop_reason: None,
    }
}

/// Creates a new run of a plan, or the record of a time without a run. `scheduled_at` is the scheduled time it
/// belongs to, if any.
pub fn run_of(
    task: &str,
    plan: &TaskPlan,
    cause: RunCause,
    scheduled_at: Option<Millis>,
    status: RunStatus,
    now: Millis,
) -> RunRow {
    let due = match status {
        RunStatus::Waiting { until } => scheduled_at.unwrap_or(until),
        _ => scheduled_at.unwrap_or(now),
    };
    RunRow {
        run: TaskRun {
            id: RunId::new(),
            task: task.to_owned(),
            name: plan.name.clone(),
            cause,
            due,
            started_at: None,
            ended_at: matches!(status, RunStatus::Skipped { .. }).then_some(now),
            status,
            session: None,
            cost: Cost::ZERO,
            result: None,
        },
        scheduled_at,
        budget: plan.budget,
        minutes: plan.minutes,
        worked: 0,
        stop_reason: None,
    }
}

/// Returns a run as ended with this status.
pub fn end_run(row: &RunRow, status: RunStatus, now: Millis) -> RunRow {
    let mut row = row.clone();
    row.run.status = status;
    row.run.ended_at = Some(now);
    row
}

/// The state of a run in progress, and the resulting actions.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFollowUp {
    /// The run in its current state.
    pub row: RunRow,
    /// What to do with its session.
    pub session: RunSessionAction,
    /// The retry, if any.
    pub retry: Option<RunRow>,
}

/// An action on the session of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunSessionAction {
    /// Nothing: it continues on its own, or has ended.
    Leave,
    /// Stop it.
    Stop,
}

/// Updates a run whose session has started; `digest` is `None` if the session was deleted. `elapsed` is this
/// process's running time since the last check: sleep of the computer and errors of its clock do not count as
/// work. `plan` is the current plan of the task's file, if it may run.
pub fn follow(
    row: &RunRow,
    digest: Option<&SessionDigest>,
    elapsed: Millis,
    plan: Option<&TaskPlan>,
    now: Millis,
) -> RunFollowUp {
    let unchanged = |row| RunFollowUp { row, session: RunSessionAction::Leave, retry: None };
    let Some(digest) = digest else {
        // Deleted meanwhile.
        return unchanged(end_run(row, RunStatus::Interrupted, now));
    };
    let mut row = row.clone();
    row.run.cost = row.run.cost.max(digest.cost);
    match (digest.status, &digest.end) {
        (SessionStatus::Idle | SessionStatus::Failed, Some(end)) => {
            row.run.result.clone_from(&digest.answer);
            let status = match (end, row.stop_reason) {
                (TurnEnd::Finished, _) => RunStatus::Finished,
                (TurnEnd::Stopped, None | Some(RunStopReason::Stopped)) => RunStatus::Stopped,
                (TurnEnd::Stopped, Some(RunStopReason::TimedOut)) => RunStatus::TimedOut,
                (TurnEnd::Stopped, Some(RunStopReason::OverBudget)) => RunStatus::OverBudget,
                (TurnEnd::Failed { error }, _) => RunStatus::Failed { error: error.clone() },
            };
            let row = end_run(&row, status, now);
            let retry = plan.and_then(|plan| retry(&row, plan, now));
            RunFollowUp { row, session: RunSessionAction::Leave, retry }
        }
        (SessionStatus::Waiting, _) => {
            let is_over_budget = digest.budget.is_some_and(|stop| {
                stop.scope == BudgetScope::Task && row.budget.is_some_and(|limit| stop.spent >= limit)
            });
            if is_over_budget {
                row.stop_reason = row.stop_reason.or(Some(RunStopReason::OverBudget));
            }
            row.run.status = RunStatus::NeedsYou;
            stop_if_requested(row)
        }
        (SessionStatus::Running | SessionStatus::Idle | SessionStatus::Failed, _) => {
            row.worked = row.worked.saturating_add(elapsed.max(0));
            row.run.status = RunStatus::Running;
            if row.worked >= Millis::from(row.minutes).saturating_mul(MINUTE) {
                row.stop_reason = row.stop_reason.or(Some(RunStopReason::TimedOut));
            }
            stop_if_requested(row)
        }
    }
}

fn stop_if_requested(row: RunRow) -> RunFollowUp {
    let session = if row.stop_reason.is_some() { RunSessionAction::Stop } else { RunSessionAction::Leave };
    RunFollowUp { row, session, retry: None }
}

/// Returns the retry after a failed run.
fn retry(row: &RunRow, plan: &TaskPlan, now: Millis) -> Option<RunRow> {
    let RunStatus::Failed { .. } = row.run.status else { return None };
    let number = match row.run.cause {
        RunCause::Retry { number, .. } => number.saturating_add(1),
        RunCause::Time | RunCause::Missed { .. } | RunCause::Hand => 1,
    };
    if number > plan.retry.times {
        return None;
    }
    let retry_at = now.saturating_add(Millis::from(plan.retry.minutes).saturating_mul(MINUTE));
    let cause = RunCause::Retry { of: row.run.id, number };
    Some(run_of(&row.run.task, plan, cause, None, RunStatus::Waiting { until: retry_at }, now))
}

#[cfg(test)]
mod tests;
