//! Times and runs, over a year in three zones.

mod ends;

use super::*;
use octo_protocol::{ApiError, Mode, Profile, TaskNotifications, TaskRetry, Timing, Weekday};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};

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
    decided: Option<Millis>,
    rows: Vec<RunRow>,
    slots: HashSet<Millis>,
}

impl Task {
    fn new(plan: TaskPlan) -> Self {
        let times = ZonedTiming::new(&plan.when, &plan.zone).unwrap();
        Self { plan, times, on: Switch::On, decided: None, rows: Vec::new(), slots: HashSet::new() }
    }

    /// Stores the result of a look and returns how many runs begin.
    fn look(&mut self, now: Millis, kind: LookKind) -> usize {
        let open: Vec<RunRow> = self.rows.iter().filter(|row| row.run.ended_at.is_none()).cloned().collect();
        let inputs = TaskInputs {
            task: "brief",
            plan: &self.plan,
            times: &self.times,
            on: self.on,
            decided: self.decided,
            open: &open,
        };
        let decision = decide(&inputs, now, kind);
        self.store(decision)
    }

    fn store(&mut self, decision: TimesDecision) -> usize {
        let mut started = 0;
        let replace = decision.replace;
        for row in decision.change {
            let index = self.rows.iter().position(|candidate| candidate.run.id == row.run.id).unwrap();
            self.rows[index] = row;
        }
        for row in decision.add {
            if row.scheduled_at.is_none_or(|slot| self.slots.insert(slot)) {
                started += usize::from(matches!(row.run.status, RunStatus::Waiting { .. }));
                self.rows.push(row);
            }
        }
        for row in replace.into_iter().filter(|_| started > 0) {
            let index = self.rows.iter().position(|candidate| candidate.run.id == row.run.id).unwrap();
            self.rows[index] = row;
        }
        self.decided = decision.decided.or(self.decided);
        started
    }

    /// Makes a begun run fail, so that a retry waits.
    fn fail(&mut self, now: Millis) {
        let error = ApiError::new("provider.overloaded");
        let failed = outlook(SessionStatus::Failed, Some(TurnEnd::Failed { error }));
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
    assert_eq!(task.look(NEW_YEAR + MINUTE, LookKind::First), 0, "what was before it began is no time of it");
    assert_eq!(task.decided, Some(NEW_YEAR + MINUTE));
    assert_eq!(task.look(NEW_YEAR + HOUR - 1, LookKind::Again), 0);
    assert_eq!(task.look(NEW_YEAR + HOUR, LookKind::Again), 1);
    for later in 0..100 {
        assert_eq!(task.look(NEW_YEAR + HOUR + later * SECOND, LookKind::Again), 0);
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
    let asleep = |policy| {
        let mut task = Task::new(hourly(policy));
        task.look(NEW_YEAR + MINUTE, LookKind::First);
        // From one minute past midnight to half past five: five times.
        task.look(NEW_YEAR + 5 * HOUR + 30 * MINUTE, LookKind::Again);
        task
    };
    let cause = RunCause::Missed { times: 5 };
    let until = NEW_YEAR + 5 * HOUR + 30 * MINUTE;
    assert_eq!(asleep(MissedRun::RunOnce).statuses(), [(cause, RunStatus::Waiting { until })]);
    assert_eq!(asleep(MissedRun::Skip).statuses(), [(cause, skipped(SkipReason::Missed { times: 5 }))]);
    let mut asks = asleep(MissedRun::Ask);
    assert_eq!(asks.statuses(), [(cause, RunStatus::Asked)]);
    // Missed again before an answer: one question about all.
    asks.look(NEW_YEAR + 7 * HOUR + 30 * MINUTE, LookKind::Again);
    let missed_seven = RunCause::Missed { times: 7 };
    assert_eq!(
        asks.statuses(),
        [(cause, skipped(SkipReason::Missed { times: 5 })), (missed_seven, RunStatus::Asked)]
    );
    // A kept time asks nothing, and leaves the open question.
    assert_eq!(asks.look(NEW_YEAR + 8 * HOUR, LookKind::Again), 1);
    assert_eq!(asks.rows.len(), 3);
}

#[test]
fn a_missed_time_is_skipped_if_one_on_time_follows() {
    for policy in [MissedRun::Skip, MissedRun::RunOnce, MissedRun::Ask] {
        let mut task = Task::new(hourly(policy));
        task.look(NEW_YEAR + MINUTE, LookKind::First);
        assert_eq!(task.look(NEW_YEAR + 3 * HOUR + GRACE_PERIOD, LookKind::Again), 1, "{policy:?}");
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
    task.look(NEW_YEAR + MINUTE, LookKind::First);
    assert_eq!(task.look(NEW_YEAR + HOUR, LookKind::Again), 1);
    assert_eq!(task.look(NEW_YEAR + 2 * HOUR, LookKind::Again), 0, "one that waits for its turn counts");
    task.set_running();
    assert_eq!(task.look(NEW_YEAR + 3 * HOUR, LookKind::Again), 0);
    task.rows[0].run.status = RunStatus::NeedsYou;
    assert_eq!(task.look(NEW_YEAR + 9 * HOUR + 30 * MINUTE, LookKind::Again), 0);
    let still = skipped(SkipReason::StillRunning);
    assert_eq!(
        task.statuses()[1..],
        [
            (RunCause::Time, still.clone()),
            (RunCause::Time, still.clone()),
            (RunCause::Missed { times: 6 }, still)
        ]
    );
    task.rows[0] = end_run(&task.rows[0], RunStatus::Finished, 0);
    assert_eq!(task.look(NEW_YEAR + 10 * HOUR, LookKind::Again), 1);
}

#[test]
fn a_due_run_replaces_a_waiting_retry() {
    // The retry is in two hours; the next time is in one.
    let failed = |policy| {
        let mut task = Task::new(TaskPlan { retry: TaskRetry { times: 2, minutes: 120 }, ..hourly(policy) });
        task.look(NEW_YEAR + MINUTE, LookKind::First);
        assert_eq!(task.look(NEW_YEAR + HOUR, LookKind::Again), 1);
        task.set_running();
        task.fail(NEW_YEAR + HOUR + MINUTE);
        task
    };
    let waits = RunStatus::Waiting { until: NEW_YEAR + 3 * HOUR + MINUTE };
    let replaced = skipped(SkipReason::Replaced);
    let mut task = failed(MissedRun::RunOnce);
    assert_eq!(task.rows[1].run.status, waits);
    assert_eq!(task.look(NEW_YEAR + 2 * HOUR + SECOND, LookKind::Again), 1);
    let until = NEW_YEAR + 2 * HOUR + SECOND;
    assert_eq!(
        (&task.rows[1].run.status, task.rows[1].run.ended_at, task.rows[1].run.due),
        (&replaced, Some(until), NEW_YEAR + 2 * HOUR)
    );
    assert_eq!(task.statuses()[2..], [(RunCause::Time, RunStatus::Waiting { until })], "one, and no second");
    // A run in progress is not replaced, and its own retries count from the beginning.
    task.set_running();
    task.fail(NEW_YEAR + 2 * HOUR + MINUTE);
    assert!(matches!(task.rows[3].run.cause, RunCause::Retry { number: 1, .. }));

    // A time whose run has already happened leaves the retry as it is.
    task.decided = Some(NEW_YEAR + HOUR + MINUTE);
    assert_eq!(task.look(NEW_YEAR + 2 * HOUR + 90 * SECOND, LookKind::Again), 0);
    assert_eq!(task.rows[3].run.status, RunStatus::Waiting { until: NEW_YEAR + 4 * HOUR + MINUTE });

    // Missed times follow the policy.
    let later = NEW_YEAR + 5 * HOUR + 30 * MINUTE;
    let cases =
        [(MissedRun::RunOnce, 1, replaced), (MissedRun::Skip, 0, waits.clone()), (MissedRun::Ask, 0, waits)];
    for (policy, started, stands) in cases {
        for kind in [LookKind::First, LookKind::Again] {
            let mut task = failed(policy);
            assert_eq!(task.look(later, kind), started, "{policy:?}");
            assert_eq!(task.rows[1].run.status, stands, "{policy:?}");
        }
    }
}

#[test]
fn a_paused_task_runs_nothing_and_catches_up_on_nothing() {
    let mut task = Task::new(hourly(MissedRun::RunOnce));
    task.look(NEW_YEAR + MINUTE, LookKind::First);
    task.look(NEW_YEAR + HOUR, LookKind::Again);
    task.on = Switch::Off;
    assert_eq!(task.look(NEW_YEAR + HOUR + SECOND, LookKind::Again), 0);
    assert_eq!(task.statuses()[0].1, RunStatus::Stopped, "what waited is taken back");
    assert_eq!(task.look(NEW_YEAR + 5 * HOUR, LookKind::Again), 0);
    assert_eq!(task.rows.len(), 1);
    task.on = Switch::On;
    assert_eq!(task.look(NEW_YEAR + 5 * HOUR + 30 * MINUTE, LookKind::Again), 0);
    assert_eq!(task.look(NEW_YEAR + 6 * HOUR, LookKind::Again), 1);
}

#[test]
fn waiting_runs_of_an_ended_process_follow_the_policy() {
    let state_after = |policy, later: Millis, kind| {
        let mut task = Task::new(hourly(policy));
        task.look(NEW_YEAR + MINUTE, LookKind::First);
        task.look(NEW_YEAR + HOUR, LookKind::Again);
        // Its process ends before it begins.
        task.look(NEW_YEAR + HOUR + later, kind);
        task.statuses().remove(0)
    };
    let until = NEW_YEAR + HOUR;
    let waits = RunStatus::Waiting { until };
    let cause = RunCause::Missed { times: 1 };
    let delay = 30 * MINUTE;
    assert_eq!(state_after(MissedRun::Skip, GRACE_PERIOD, LookKind::First), (RunCause::Time, waits.clone()));
    assert_eq!(
        state_after(MissedRun::Skip, delay, LookKind::Again),
        (RunCause::Time, waits.clone()),
        "its turn is late"
    );
    let reason = SkipReason::Missed { times: 1 };
    assert_eq!(state_after(MissedRun::Skip, delay, LookKind::First), (RunCause::Time, skipped(reason)));
    assert_eq!(state_after(MissedRun::RunOnce, delay, LookKind::First), (cause, waits));
    assert_eq!(state_after(MissedRun::Ask, delay, LookKind::First), (cause, RunStatus::Asked));
}

#[test]
fn a_clock_a_year_ahead_makes_one_run_and_its_correction_none() {
    let mut task = Task::new(hourly(MissedRun::RunOnce));
    let mut now = NEW_YEAR + MINUTE;
    task.look(now, LookKind::First);
    let ahead = now + 366 * DAY + 30 * MINUTE;
    assert_eq!(task.look(ahead, LookKind::Again), 1);
    assert_eq!(task.rows[0].run.cause, RunCause::Missed { times: 366 * 24 });
    task.finish(ahead);
    // A jump far into the future: still one, and quickly.
    assert_eq!(task.look(ahead + 400 * 366 * DAY, LookKind::Again), 1);
    task.finish(now);
    for hour in 1..=24 {
        now = NEW_YEAR + hour * HOUR;
        assert_eq!(task.look(now - SECOND, LookKind::Again), 0);
        assert_eq!(task.look(now, LookKind::Again), 1, "hour {hour}");
        task.finish(now);
    }
    // Set back by three hours: those hours had their run.
    assert_eq!(task.look(now - 3 * HOUR - MINUTE, LookKind::Again), 0);
    for hour in 21..=24 {
        assert_eq!(task.look(NEW_YEAR + hour * HOUR, LookKind::Again), 0, "hour {hour} again");
    }
    assert_eq!(task.look(NEW_YEAR + 25 * HOUR, LookKind::Again), 1);
}

/// Pseudo-random numbers with a fixed sequence.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: Millis) -> Millis {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Millis::try_from(self.0 >> 33).unwrap() % limit
    }
}

const ZONES: [&str; 3] = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"];

fn timings() -> Vec<Timing> {
    vec![
        daily(&["02:30", "08:00", "23:59"]),
        Timing::Monthly { days: vec![1, 29, 31], times: vec!["01:45".to_owned()] },
        Timing::Cron { expression: "15,45 1-3 * * *".to_owned() },
        Timing::Every {
            count: 50,
            unit: octo_protocol::TimeUnit::Minutes,
            from: "00:30".to_owned(),
            until: Some("06:00".to_owned()),
        },
    ]
}

#[test]
fn in_an_undisturbed_year_every_time_has_its_run() {
    for zone in ZONES {
        for timing in timings() {
            let mut task = Task::new(plan(MissedRun::Skip, timing.clone(), zone));
            let mut dice = Dice(7);
            let (mut now, until) = (NEW_YEAR, NEW_YEAR + 365 * DAY);
            task.look(now, LookKind::First);
            while now < until {
                let next_time = task.times.after(now).next().unwrap();
                // The scheduler wakes a little late, and sometimes for nothing.
                now = if dice.below(4) == 0 {
                    now + dice.below(30 * SECOND) + 1
                } else {
                    next_time + dice.below(GRACE_PERIOD)
                };
                now = now.min(next_time + GRACE_PERIOD);
                task.look(now, LookKind::Again);
                task.finish(now);
            }
            let expected: Vec<Millis> = task.times.after(NEW_YEAR).take_while(|time| *time <= now).collect();
            let fired: Vec<Millis> = task.rows.iter().filter_map(|row| row.scheduled_at).collect();
            assert_eq!(fired, expected, "{timing:?} in {zone}");
            assert!(task.rows.iter().all(|row| row.run.status == RunStatus::Finished));
        }
    }
}

#[test]
fn a_daily_time_has_a_run_on_each_day_of_a_year_in_each_zone() {
    for zone in ZONES {
        let task = Task::new(plan(MissedRun::Skip, daily(&["02:10"]), zone));
        let tz = jiff::tz::TimeZone::get(zone).unwrap();
        let zoned = |zoned| jiff::Timestamp::from_millisecond(zoned).unwrap().to_zoned(tz.clone());
        let mut days: HashMap<String, Vec<String>> = HashMap::new();
        for slot in task.times.after(NEW_YEAR + DAY).take_while(|zoned| *zoned < NEW_YEAR + 364 * DAY) {
            let slot = zoned(slot);
            days.entry(slot.date().to_string()).or_default().push(slot.strftime("%H:%M").to_string());
        }
        assert!(days.len() >= 362, "{zone}: {}", days.len());
        let unexpected: Vec<&Vec<String>> = days.values().filter(|times| **times != ["02:10"]).collect();
        // The one night without ten past two.
        let instead = if zone == "Australia/Lord_Howe" { "02:30" } else { "03:00" };
        assert_eq!(unexpected, [&vec![instead.to_owned()]], "{zone}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Sleeps, ending processes, slow runs and failing runs: every time is accounted for exactly once, and no
    /// two runs overlap.
    #[test]
    fn every_time_is_accounted_for_once(
        seed in any::<u64>(),
        zone in prop::sample::select(ZONES.to_vec()),
        timing in prop::sample::select(timings()),
        missed in prop::sample::select(vec![MissedRun::Skip, MissedRun::RunOnce, MissedRun::Ask]),
    ) {
        let mut task = Task::new(plan(missed, timing, zone));
        let mut dice = Dice(seed);
        let mut now = NEW_YEAR + 80 * DAY;
        let begin = now;
        task.look(now, LookKind::First);
        for _ in 0..300 {
            let step = match dice.below(10) {
                0 => dice.below(3 * DAY),
                1..4 => dice.below(6 * HOUR),
                _ => dice.below(30 * SECOND),
            };
            now += step + 1;
            let kind = if dice.below(8) == 0 { LookKind::First } else { LookKind::Again };
            task.look(now, kind);
            let at_once = task.rows.iter().filter(|row| {
                matches!(row.run.status, RunStatus::Waiting { .. } | RunStatus::Running)
            });
            prop_assert!(at_once.count() <= 1);
            match dice.below(4) {
                0 => task.set_running(),
                1 => task.finish(now),
                2 if task.rows.iter().any(|row| row.run.status == RunStatus::Running) => task.fail(now),
                _ => {
                    for row in &mut task.rows {
                        if row.run.status == RunStatus::Running {
                            *row = end_run(row, RunStatus::Finished, now);
                        }
                    }
                }
            }
        }
        let due = task.times.after(begin).take_while(|time| *time <= now).count();
        // A question merged into a later one is counted there.
        let taken_in: u32 = task.rows.iter().filter_map(|row| match (&row.run.status, row.run.cause) {
            (RunStatus::Skipped { reason: SkipReason::Missed { times } }, RunCause::Missed { .. })
                if missed == MissedRun::Ask => Some(*times),
            _ => None,
        }).sum();
        let of_times = task.rows.iter().filter(|row| !matches!(row.run.cause, RunCause::Retry { .. }));
        let counted: u32 = of_times.map(|row| missed_times(row.run.cause)).sum();
        prop_assert!(counted as usize >= due, "{counted} of {due}");
        prop_assert!((counted - taken_in) as usize <= due, "{counted} - {taken_in} of {due}");
        if missed != MissedRun::Ask {
            prop_assert_eq!(counted as usize, due);
        }
    }

    /// No time fires twice, whatever the clock does.
    #[test]
    fn no_clock_change_makes_a_time_run_twice(seed in any::<u64>(), missed in prop::sample::select(
        vec![MissedRun::Skip, MissedRun::RunOnce, MissedRun::Ask],
    )) {
        let mut task = Task::new(plan(missed, daily(&["06:00", "18:00"]), "UTC"));
        let mut dice = Dice(seed);
        let mut now = NEW_YEAR;
        task.look(now, LookKind::First);
        for _ in 0..100 {
            now += match dice.below(12) {
                0 => 365 * DAY,
                1 => -365 * DAY,
                2 => -dice.below(2 * DAY),
                3 => dice.below(2 * DAY),
                _ => dice.below(6 * HOUR),
            };
            prop_assert!(task.look(now, LookKind::Again) <= 1, "one run at most by one look");
            task.finish(now);
        }
        let slots: Vec<Millis> = task.rows.iter().filter_map(|row| row.scheduled_at).collect();
        let distinct: HashSet<Millis> = slots.iter().copied().collect();
        prop_assert_eq!(slots.len(), distinct.len());
    }
}

fn outlook(status: SessionStatus, until: Option<TurnEnd>) -> SessionDigest {
    SessionDigest {
        status,
        end: until,
        budget: None,
        cost: Cost::from_nano_dollars(5),
        answer: Some("done it".to_owned()),
    }
}
