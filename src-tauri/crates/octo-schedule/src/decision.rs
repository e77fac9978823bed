//! Decisions about a task's times and runs, made from known facts, without a clock and without side effects.
//!
//! Each look at a task covers the time since the previous one, so the result does not depend on the exact
//! moments of the looks. A slightly late time runs as if it were on time. For later times (the computer slept,
//! Octo did not run, or the clock jumped) there is at most one run, according to the plan's policy. A clock
//! that was set back starts over from its present time; times that had their run get no second one, which the
//! store ensures. A waiting retry of a failed run blocks no other: a run that begins before it replaces it.

use crate::timing::ZonedTiming;
use octo_protocol::{
    ApiError, BudgetScope, Cost, Millis, MissedRun, RunCause, RunId, RunStatus, SessionStatus, SkipReason,
    Switch, TaskPlan, TaskRun, TurnEnd,
};
use octo_store::{RunRow, RunStopReason, SessionDigest};

const MINUTE: Millis = 60 * 1_000;
/// How late a time may be and still count as kept: the application is starting, or the machine is busy.
const GRACE_PERIOD: Millis = 2 * MINUTE;
/// Missed times further back are not counted.
const MAX_MISSED_AGE: Millis = 366 * 24 * 60 * MINUTE;

/// The state of a task.
#[derive(Clone, Copy, Debug)]
pub struct TaskInputs<'a> {
    /// Its file.
    pub task: &'a str,
    /// The plan in it.
    pub plan: &'a TaskPlan,
    /// The plan's times, in its zone.
    pub times: &'a ZonedTiming,
    /// Whether it runs at its times.
    pub on: Switch,
    /// Up to when its times have been decided; `None` if decisions begin now.
    pub decided: Option<Millis>,
    /// Its unfinished runs.
    pub open: &'a [RunRow],
}

/// Whether waiting runs may have been left by a process that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookKind {
    /// They may: this is the process's first look.
    First,
    /// They wait for their turn.
    Again,
}

/// The decision on a task's times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimesDecision {
    /// New runs, and times without a run.
    pub add: Vec<RunRow>,
    /// Runs with a changed state.
    pub change: Vec<RunRow>,
    /// Waiting retries, already marked as ended, that are replaced if an added run begins.
    pub replace: Vec<RunRow>,
    /// Up to when its times are now decided; `None` if that need not be stored.
    pub decided: Option<Millis>,
}

/// Decides on the times up to `now`.
pub fn decide(task: &TaskInputs<'_>, now: Millis, kind: LookKind) -> TimesDecision {
    let mut decision = TimesDecision::default();
    let since = task.decided.unwrap_or(now);
    if task.decided.is_none() || since > now {
        // Decisions begin now, or the clock was set back.
        decision.decided = Some(now);
    }
    let since = since.clamp(now.saturating_sub(MAX_MISSED_AGE), now);
    let due: Vec<Millis> = task.times.after(since).take_while(|time| *time <= now).collect();
    if !due.is_empty() {
        decision.decided = Some(now);
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
        .open
        .iter()
        .map(|row| decision.change.iter().find(|changed| changed.run.id == row.run.id).unwrap_or(row))
        .filter(|row| row.run.ended_at.is_none())
        .collect();
    let is_busy = open.iter().any(|row| blocks_other_runs(row));
    let tries: Vec<RunRow> =
        open.iter().filter(|row| is_waiting_retry(row)).map(|row| (*row).clone()).collect();
    let waiting: Vec<RunRow> =
        open.into_iter().filter(|row| row.run.status == RunStatus::Asked).cloned().collect();
    if let Some(latest) = missed.last().copied() {
        let times = u32::try_from(missed.len()).unwrap_or(u32::MAX);
        let row = |status| new_run(task, RunCause::Missed { times }, Some(latest), status, now);
        let left_out = |reason| RunStatus::Skipped { reason };
        match (on_time, is_busy, task.plan.missed) {
            // A run happens now anyway.
            (Some(_), ..) | (None, false, MissedRun::Skip) => {
                decision.add.push(row(left_out(SkipReason::Missed { times })));
            }
            (None, true, _) => decision.add.push(row(left_out(SkipReason::StillRunning))),
            (None, false, MissedRun::RunOnce) => decision.add.push(row(RunStatus::Waiting { until: now })),
            (None, false, MissedRun::Ask) => {
                let mut question = row(RunStatus::Asked);
                // One question about all of them is enough.
                for older in &waiting {
                    let before = missed_times(older.run.cause);
                    let reason = SkipReason::Missed { times: before };
                    decision.change.push(end_run(older, RunStatus::Skipped { reason }, now));
                    let times = missed_times(question.run.cause).saturating_add(before);
                    question.run.cause = RunCause::Missed { times };
                }
                decision.add.push(question);
            }
        }
    }
    if let Some(time) = on_time {
        let status = if is_busy {
            RunStatus::Skipped { reason: SkipReason::StillRunning }
        } else {
            RunStatus::Waiting { until: now }
        };
        decision.add.push(new_run(task, RunCause::Time, Some(time), status, now));
    }
    if let Some(started) = decision.add.iter().find(|row| is_starting(row)) {
        decision.replace = tries.iter().map(|row| replace_retry(row, started.run.due, now)).collect();
    }
    decision
}

/// Whether a run is about to begin.
pub fn is_starting(row: &RunRow) -> bool {
    matches!(row.run.status, RunStatus::Waiting { .. })
}

/// Whether a run is a waiting retry of a failed one: a day may pass before it begins.
pub fn is_waiting_retry(row: &RunRow) -> bool {
    is_starting(row) && matches!(row.run.cause, RunCause::Retry { .. })
}

/// Whether an unfinished run prevents other runs of the task.
pub fn blocks_other_runs(row: &RunRow) -> bool {
    row.run.status != RunStatus::Asked && !is_waiting_retry(row)
}

/// Returns a retry as replaced by a run that is due now, or was a moment ago.
pub fn replace_retry(row: &RunRow, due: Millis, now: Millis) -> RunRow {
    let mut row = end_run(row, RunStatus::Skipped { reason: SkipReason::Replaced }, now);
    // Not later than its replacement: the history is ordered by due time.
    row.run.due = row.run.due.min(due);
    row
}

/// Settles waiting runs: those of a paused task are withdrawn, and those an earlier process left too long ago
/// follow the policy for missed times.
fn decide_waiting(task: &TaskInputs<'_>, now: Millis, kind: LookKind, decision: &mut TimesDecision) {
    for row in task.open {
        let RunStatus::Waiting { .. } = row.run.status else { continue };
        if task.on == Switch::Off && row.run.cause != RunCause::Hand {
            decision.change.push(end_run(row, RunStatus::Stopped, now));
            continue;
        }
        let times = match (kind, row.run.cause) {
            (LookKind::First, RunCause::Time) => 1,
            (LookKind::First, RunCause::Missed { times }) => times,
            (LookKind::Again, _) | (LookKind::First, RunCause::Hand | RunCause::Retry { .. }) => continue,
        };
        if now - row.run.due <= GRACE_PERIOD {
            continue;
        }
        match task.plan.missed {
            MissedRun::Skip => {
                let reason = SkipReason::Missed { times };
                decision.change.push(end_run(row, RunStatus::Skipped { reason }, now));
            }
            MissedRun::RunOnce => {
                let mut row = row.clone();
                row.run.cause = RunCause::Missed { times };
                decision.change.push(row);
            }
            MissedRun::Ask => {
                let mut row = row.clone();
                row.run.cause = RunCause::Missed { times };
                row.run.status = RunStatus::Asked;
                decision.change.push(row);
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
    slot: Option<Millis>,
    status: RunStatus,
    now: Millis,
) -> RunRow {
    run_of(task.task, task.plan, cause, slot, status, now)
}

/// Records that a task's times are skipped from now on: like runs, skipped times have a recorded reason.
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

/// [`new_run`] for a plan.
pub fn run_of(
    task: &str,
    plan: &TaskPlan,
    cause: RunCause,
    slot: Option<Millis>,
    status: RunStatus,
    now: Millis,
) -> RunRow {
    let due = match status {
        RunStatus::Waiting { until } => slot.unwrap_or(until),
        _ => slot.unwrap_or(now),
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
        scheduled_at: slot,
        budget: plan.budget,
        minutes: plan.minutes,
        worked: 0,
        stop_reason: None,
    }
}

/// Returns the run as ended.
pub fn end_run(row: &RunRow, status: RunStatus, now: Millis) -> RunRow {
    let mut row = row.clone();
    row.run.status = status;
    row.run.ended_at = Some(now);
    row
}

/// The result of following a run in progress.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFollowUp {
    /// The run in its current state.
    pub row: RunRow,
    /// Whether to stop its session.
    pub session: RunSessionAction,
    /// The retry, if any.
    pub retry: Option<RunRow>,
}

/// The decision on a run's session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunSessionAction {
    /// It continues on its own, or has ended.
    Leave,
    /// It is stopped.
    Stop,
}

/// Follows a run whose session began. `passed` is this process's running time since the last look: sleep of the
/// computer and errors of its clock do not count as work. `plan` is the current plan of the task's file, if it
/// may be followed.
pub fn follow(
    row: &RunRow,
    outlook: Option<&SessionDigest>,
    passed: Millis,
    plan: Option<&TaskPlan>,
    now: Millis,
) -> RunFollowUp {
    let unchanged = |row| RunFollowUp { row, session: RunSessionAction::Leave, retry: None };
    let Some(outlook) = outlook else {
        // Deleted meanwhile.
        return unchanged(end_run(row, RunStatus::Interrupted, now));
    };
    let mut row = row.clone();
    row.run.cost = row.run.cost.max(outlook.cost);
    match (outlook.status, &outlook.end) {
        (SessionStatus::Idle | SessionStatus::Failed, Some(end)) => {
            row.run.result.clone_from(&outlook.answer);
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
            let is_out_of_money = outlook.budget.is_some_and(|stop| {
                stop.scope == BudgetScope::Task && row.budget.is_some_and(|limit| stop.spent >= limit)
            });
            if is_out_of_money {
                row.stop_reason = row.stop_reason.or(Some(RunStopReason::OverBudget));
            }
            row.run.status = RunStatus::NeedsYou;
            stop_if_ending(row)
        }
        (SessionStatus::Running | SessionStatus::Idle | SessionStatus::Failed, _) => {
            row.worked = row.worked.saturating_add(passed.max(0));
            row.run.status = RunStatus::Running;
            if row.worked >= Millis::from(row.minutes).saturating_mul(MINUTE) {
                row.stop_reason = row.stop_reason.or(Some(RunStopReason::TimedOut));
            }
            stop_if_ending(row)
        }
    }
}

fn stop_if_ending(row: RunRow) -> RunFollowUp {
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
    let deadline = now.saturating_add(Millis::from(plan.retry.minutes).saturating_mul(MINUTE));
    let cause = RunCause::Retry { of: row.run.id, number };
    Some(run_of(&row.run.task, plan, cause, None, RunStatus::Waiting { until: deadline }, now))
}

#[cfg(test)]
mod tests;
