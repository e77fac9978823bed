//! Times and runs, over a year in three zones.

mod ends;
mod long_periods;

use super::*;
use octo_protocol::{ApiError, Mode, Profile, TaskNotifications, TaskRetry, Timing, Weekday};
use std::collections::HashSet;

const SECOND: Millis = 1_000;
const HOUR: Millis = 60 * MINUTE;
const DAY: Millis = 24 * HOUR;
/// 2026-01-01T00:00:00Z.
const NEW_YEAR: Millis = 1_767_225_600_000;

fn plan(policy: MissedRun, timing: Timing, zone: &str) -> TaskPlan {
    TaskPlan {
        name: "brief".to_owned(),
        prompt: "write it".to_owned(),
        when: timing,
        zone: zone.to_owned(),
        folder: "/tmp".to_owned(),
        profile: Profile::GENERAL,
        mode: Mode::AskRisky,
        model: None,
        budget: Some(Cost::DOLLAR),
        minutes: 30,
        retry: TaskRetry { times: 2, minutes: 10 },
        missed: policy,
        tell: TaskNotifications::Trouble,
    }
}

fn daily(times: &[&str]) -> Timing {
    use Weekday::*;
    let days = vec![Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday];
    Timing::Weekly { days, times: times.iter().map(|time| (*time).to_owned()).collect() }
}

/// Returns a plan that runs every hour of a day in UTC.
fn hourly(policy: MissedRun) -> TaskPlan {
    plan(policy, Timing::Cron { expression: "0 * * * *".to_owned() }, "UTC")
}

/// The stored state of one task.
struct Task {
    plan: TaskPlan,
    times: ZonedTiming,
    on: Switch,
    decided_until: Option<Millis>,
    rows: Vec<RunRow>,
    scheduled_times: HashSet<Millis>,
}

impl Task {
    fn new(plan: TaskPlan) -> Self {
        let times = ZonedTiming::new(&plan.when, &plan.zone).unwrap();
        Self {
            plan,
            times,
            on: Switch::On,
            decided_until: None,
            rows: Vec::new(),
            scheduled_times: HashSet::new(),
        }
    }

    /// Makes a check, stores its result and returns the number of runs that begin.
    fn check(&mut self, now: Millis, kind: CheckKind) -> usize {
        let open: Vec<RunRow> = self.rows.iter().filter(|row| row.run.ended_at.is_none()).cloned().collect();
        let inputs = TaskInputs {
            task: "brief",
            plan: &self.plan,
            times: &self.times,
            on: self.on,
            decided_until: self.decided_until,
            open_runs: &open,
        };
        let decision = decide(&inputs, now, kind);
        self.store(decision)
    }

    fn store(&mut self, decision: TimesDecision) -> usize {
        let mut started = 0;
        let replaced_retries = decision.replaced_retries;
        for row in decision.changed {
            let index = self.rows.iter().position(|candidate| candidate.run.id == row.run.id).unwrap();
            self.rows[index] = row;
        }
        for row in decision.added {
            if row.scheduled_at.is_none_or(|time| self.scheduled_times.insert(time)) {
                started += usize::from(matches!(row.run.status, RunStatus::Waiting { .. }));
                self.rows.push(row);
            }
        }
        for row in replaced_retries.into_iter().filter(|_| started > 0) {
            let index = self.rows.iter().position(|candidate| candidate.run.id == row.run.id).unwrap();
            self.rows[index] = row;
        }
        self.decided_until = decision.decided_until.or(self.decided_until);
        started
    }

    /// Lets the running run fail, so that a retry waits.
    fn fail(&mut self, now: Millis) {
        let error = ApiError::new("provider.overloaded");
        let failed = digest_of(SessionStatus::Failed, Some(TurnEnd::Failed { error }));
        let index = self.rows.iter().position(|row| row.run.status == RunStatus::Running).unwrap();
        let followed = follow(&self.rows[index], Some(&failed), 0, Some(&self.plan), now);
        self.rows[index] = followed.row;
        self.rows.extend(followed.retry);
    }

    /// Completes all waiting runs.
    fn finish(&mut self, now: Millis) {
        for row in &mut self.rows {
            if let RunStatus::Waiting { .. } = row.run.status {
                *row = end_run(row, RunStatus::Finished, now);
            }
        }
    }

    fn set_running(&mut self) {
        for row in &mut self.rows {
            if let RunStatus::Waiting { .. } = row.run.status {
                row.run.status = RunStatus::Running;
            }
        }
    }

    fn statuses(&self) -> Vec<(RunCause, RunStatus)> {
        self.rows.iter().map(|row| (row.run.cause, row.run.status.clone())).collect()
    }
}

fn skipped(reason: SkipReason) -> RunStatus {
    RunStatus::Skipped { reason }
}

#[test]
fn a_time_runs_once_however_often_it_is_checked() {
    let mut task = Task::new(hourly(MissedRun::RunOnce));
    assert_eq!(
        task.check(NEW_YEAR + MINUTE, CheckKind::First),
        0,
        "times before the first check do not count"
    );
    assert_eq!(task.decided_until, Some(NEW_YEAR + MINUTE));
    assert_eq!(task.check(NEW_YEAR + HOUR - 1, CheckKind::Later), 0);
    assert_eq!(task.check(NEW_YEAR + HOUR, CheckKind::Later), 1);
    for later in 0..100 {
        assert_eq!(task.check(NEW_YEAR + HOUR + later * SECOND, CheckKind::Later), 0);
    }
    let row = &task.rows[0];
    assert_eq!(
        (row.scheduled_at, row.run.due, row.run.cause),
        (Some(NEW_YEAR + HOUR), NEW_YEAR + HOUR, RunCause::Time)
    );
    assert_eq!((row.budget, row.minutes), (Some(Cost::DOLLAR), 30));
}

#[test]
fn missed_times_follow_the_policy_and_make_at_most_one_run() {
    let after_sleep = |policy| {
        let mut task = Task::new(hourly(policy));
        task.check(NEW_YEAR + MINUTE, CheckKind::First);
        // From one minute past midnight to half past five: five times.
        task.check(NEW_YEAR + 5 * HOUR + 30 * MINUTE, CheckKind::Later);
        task
    };
    let cause = RunCause::Missed { times: 5 };
    let until = NEW_YEAR + 5 * HOUR + 30 * MINUTE;
    assert_eq!(after_sleep(MissedRun::RunOnce).statuses(), [(cause, RunStatus::Waiting { until })]);
    assert_eq!(after_sleep(MissedRun::Skip).statuses(), [(cause, skipped(SkipReason::Missed { times: 5 }))]);
    let mut asks = after_sleep(MissedRun::Ask);
    assert_eq!(asks.statuses(), [(cause, RunStatus::Asked)]);
    // Missed again before an answer: one question about all.
    asks.check(NEW_YEAR + 7 * HOUR + 30 * MINUTE, CheckKind::Later);
    let missed_seven = RunCause::Missed { times: 7 };
    assert_eq!(
        asks.statuses(),
        [(cause, skipped(SkipReason::Missed { times: 5 })), (missed_seven, RunStatus::Asked)]
    );
    // A kept time asks nothing, and leaves the open question.
    assert_eq!(asks.check(NEW_YEAR + 8 * HOUR, CheckKind::Later), 1);
    assert_eq!(asks.rows.len(), 3);
}

#[test]
fn a_missed_time_is_skipped_if_one_on_time_follows() {
    for policy in [MissedRun::Skip, MissedRun::RunOnce, MissedRun::Ask] {
        let mut task = Task::new(hourly(policy));
        task.check(NEW_YEAR + MINUTE, CheckKind::First);
        assert_eq!(task.check(NEW_YEAR + 3 * HOUR + GRACE_PERIOD, CheckKind::Later), 1, "{policy:?}");
        let reason = SkipReason::Missed { times: 2 };
        let until = NEW_YEAR + 3 * HOUR + GRACE_PERIOD;
        assert_eq!(
            task.statuses(),
            [
                (RunCause::Missed { times: 2 }, skipped(reason)),
                (RunCause::Time, RunStatus::Waiting { until })
            ]
        );
    }
}

#[test]
fn a_task_never_has_two_runs_at_once() {
    let mut task = Task::new(hourly(MissedRun::RunOnce));
    task.check(NEW_YEAR + MINUTE, CheckKind::First);
    assert_eq!(task.check(NEW_YEAR + HOUR, CheckKind::Later), 1);
    assert_eq!(task.check(NEW_YEAR + 2 * HOUR, CheckKind::Later), 0, "a run that waits for its turn counts");
    task.set_running();
    assert_eq!(task.check(NEW_YEAR + 3 * HOUR, CheckKind::Later), 0);
    task.rows[0].run.status = RunStatus::NeedsYou;
    assert_eq!(task.check(NEW_YEAR + 9 * HOUR + 30 * MINUTE, CheckKind::Later), 0);
    let still_running = skipped(SkipReason::StillRunning);
    assert_eq!(
        task.statuses()[1..],
        [
            (RunCause::Time, still_running.clone()),
            (RunCause::Time, still_running.clone()),
            (RunCause::Missed { times: 6 }, still_running)
        ]
    );
    task.rows[0] = end_run(&task.rows[0], RunStatus::Finished, 0);
    assert_eq!(task.check(NEW_YEAR + 10 * HOUR, CheckKind::Later), 1);
}

#[test]
fn a_due_run_replaces_a_waiting_retry() {
    // The retry is in two hours; the next time is in one.
    let failed = |policy| {
        let mut task = Task::new(TaskPlan { retry: TaskRetry { times: 2, minutes: 120 }, ..hourly(policy) });
        task.check(NEW_YEAR + MINUTE, CheckKind::First);
        assert_eq!(task.check(NEW_YEAR + HOUR, CheckKind::Later), 1);
        task.set_running();
        task.fail(NEW_YEAR + HOUR + MINUTE);
        task
    };
    let waiting_status = RunStatus::Waiting { until: NEW_YEAR + 3 * HOUR + MINUTE };
    let replaced = skipped(SkipReason::Replaced);
    let mut task = failed(MissedRun::RunOnce);
    assert_eq!(task.rows[1].run.status, waiting_status);
    assert_eq!(task.check(NEW_YEAR + 2 * HOUR + SECOND, CheckKind::Later), 1);
    let until = NEW_YEAR + 2 * HOUR + SECOND;
    assert_eq!(
        (&task.rows[1].run.status, task.rows[1].run.ended_at, task.rows[1].run.due),
        (&replaced, Some(until), NEW_YEAR + 2 * HOUR)
    );
    assert_eq!(task.statuses()[2..], [(RunCause::Time, RunStatus::Waiting { until })], "one run only");
    // A run in progress is not replaced, and its own retries count from the beginning.
    task.set_running();
    task.fail(NEW_YEAR + 2 * HOUR + MINUTE);
    assert!(matches!(task.rows[3].run.cause, RunCause::Retry { number: 1, .. }));

    // A time whose run has already happened leaves the retry as it is.
    task.decided_until = Some(NEW_YEAR + HOUR + MINUTE);
    assert_eq!(task.check(NEW_YEAR + 2 * HOUR + 90 * SECOND, CheckKind::Later), 0);
    assert_eq!(task.rows[3].run.status, RunStatus::Waiting { until: NEW_YEAR + 4 * HOUR + MINUTE });

    // Missed times follow the policy.
    let later = NEW_YEAR + 5 * HOUR + 30 * MINUTE;
    let cases = [
        (MissedRun::RunOnce, 1, replaced),
        (MissedRun::Skip, 0, waiting_status.clone()),
        (MissedRun::Ask, 0, waiting_status),
    ];
    for (policy, started, expected_status) in cases {
        for kind in [CheckKind::First, CheckKind::Later] {
            let mut task = failed(policy);
            assert_eq!(task.check(later, kind), started, "{policy:?}");
            assert_eq!(task.rows[1].run.status, expected_status, "{policy:?}");
        }
    }
}

#[test]
fn a_paused_task_runs_nothing_and_catches_up_on_nothing() {
    let mut task = Task::new(hourly(MissedRun::RunOnce));
    task.check(NEW_YEAR + MINUTE, CheckKind::First);
    task.check(NEW_YEAR + HOUR, CheckKind::Later);
    task.on = Switch::Off;
    assert_eq!(task.check(NEW_YEAR + HOUR + SECOND, CheckKind::Later), 0);
    assert_eq!(task.statuses()[0].1, RunStatus::Stopped, "the waiting run is stopped");
    assert_eq!(task.check(NEW_YEAR + 5 * HOUR, CheckKind::Later), 0);
    assert_eq!(task.rows.len(), 1);
    task.on = Switch::On;
    assert_eq!(task.check(NEW_YEAR + 5 * HOUR + 30 * MINUTE, CheckKind::Later), 0);
    assert_eq!(task.check(NEW_YEAR + 6 * HOUR, CheckKind::Later), 1);
}

#[test]
fn waiting_runs_of_an_ended_process_follow_the_policy() {
    let state_after = |policy, later: Millis, kind| {
        let mut task = Task::new(hourly(policy));
        task.check(NEW_YEAR + MINUTE, CheckKind::First);
        task.check(NEW_YEAR + HOUR, CheckKind::Later);
        // Its process ends before it begins.
        task.check(NEW_YEAR + HOUR + later, kind);
        task.statuses().remove(0)
    };
    let until = NEW_YEAR + HOUR;
    let waiting_status = RunStatus::Waiting { until };
    let cause = RunCause::Missed { times: 1 };
    let delay = 30 * MINUTE;
    assert_eq!(
        state_after(MissedRun::Skip, GRACE_PERIOD, CheckKind::First),
        (RunCause::Time, waiting_status.clone())
    );
    assert_eq!(
        state_after(MissedRun::Skip, delay, CheckKind::Later),
        (RunCause::Time, waiting_status.clone()),
        "it waits for its turn"
    );
    let reason = SkipReason::Missed { times: 1 };
    assert_eq!(state_after(MissedRun::Skip, delay, CheckKind::First), (RunCause::Time, skipped(reason)));
    assert_eq!(state_after(MissedRun::RunOnce, delay, CheckKind::First), (cause, waiting_status));
    assert_eq!(state_after(MissedRun::Ask, delay, CheckKind::First), (cause, RunStatus::Asked));
}

#[test]
fn a_clock_a_year_ahead_makes_one_run_and_its_correction_none() {
    let mut task = Task::new(hourly(MissedRun::RunOnce));
    let mut now = NEW_YEAR + MINUTE;
    task.check(now, CheckKind::First);
    let ahead = now + 366 * DAY + 30 * MINUTE;
    assert_eq!(task.check(ahead, CheckKind::Later), 1);
    assert_eq!(task.rows[0].run.cause, RunCause::Missed { times: 366 * 24 });
    task.finish(ahead);
    // A jump far into the future: still one, and quickly.
    assert_eq!(task.check(ahead + 400 * 366 * DAY, CheckKind::Later), 1);
    task.finish(now);
    for hour in 1..=24 {
        now = NEW_YEAR + hour * HOUR;
        assert_eq!(task.check(now - SECOND, CheckKind::Later), 0);
        assert_eq!(task.check(now, CheckKind::Later), 1, "hour {hour}");
        task.finish(now);
    }
    // Set back by three hours: those hours had their run.
    assert_eq!(task.check(now - 3 * HOUR - MINUTE, CheckKind::Later), 0);
    for hour in 21..=24 {
        assert_eq!(task.check(NEW_YEAR + hour * HOUR, CheckKind::Later), 0, "hour {hour} again");
    }
    assert_eq!(task.check(NEW_YEAR + 25 * HOUR, CheckKind::Later), 1);
}

fn digest_of(status: SessionStatus, end: Option<TurnEnd>) -> SessionDigest {
    SessionDigest {
        status,
        end,
        budget: None,
        cost: Cost::from_nano_dollars(5),
        answer: Some("done it".to_owned()),
    }
}
