//! Checks over long periods, with random times, clocks and ends of runs.

use super::*;
use proptest::prelude::*;
use std::collections::HashMap;

/// Pseudo-random numbers with a fixed sequence.
struct RandomNumbers(u64);

impl RandomNumbers {
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
            let mut random = RandomNumbers(7);
            let (mut now, until) = (NEW_YEAR, NEW_YEAR + 365 * DAY);
            task.check(now, CheckKind::First);
            while now < until {
                let next_time = task.times.after(now).next().unwrap();
                // The scheduler wakes a little late, and sometimes for nothing.
                now = if random.below(4) == 0 {
                    now + random.below(30 * SECOND) + 1
                } else {
                    next_time + random.below(GRACE_PERIOD)
                };
                now = now.min(next_time + GRACE_PERIOD);
                task.check(now, CheckKind::Later);
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
        let zoned = |time| jiff::Timestamp::from_millisecond(time).unwrap().to_zoned(tz.clone());
        let mut days: HashMap<String, Vec<String>> = HashMap::new();
        for time in task.times.after(NEW_YEAR + DAY).take_while(|time| *time < NEW_YEAR + 364 * DAY) {
            let time = zoned(time);
            days.entry(time.date().to_string()).or_default().push(time.strftime("%H:%M").to_string());
        }
        assert!(days.len() >= 362, "{zone}: {}", days.len());
        let unexpected: Vec<&Vec<String>> = days.values().filter(|times| **times != ["02:10"]).collect();
        // The one night without ten past two.
        let moved_time = if zone == "Australia/Lord_Howe" { "02:30" } else { "03:00" };
        assert_eq!(unexpected, [&vec![moved_time.to_owned()]], "{zone}");
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
        let mut random = RandomNumbers(seed);
        let mut now = NEW_YEAR + 80 * DAY;
        let begin = now;
        task.check(now, CheckKind::First);
        for _ in 0..300 {
            let step = match random.below(10) {
                0 => random.below(3 * DAY),
                1..4 => random.below(6 * HOUR),
                _ => random.below(30 * SECOND),
            };
            now += step + 1;
            let kind = if random.below(8) == 0 { CheckKind::First } else { CheckKind::Later };
            task.check(now, kind);
            let concurrent = task.rows.iter().filter(|row| {
                matches!(row.run.status, RunStatus::Waiting { .. } | RunStatus::Running)
            });
            prop_assert!(concurrent.count() <= 1);
            match random.below(4) {
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
        let merged: u32 = task.rows.iter().filter_map(|row| match (&row.run.status, row.run.cause) {
            (RunStatus::Skipped { reason: SkipReason::Missed { times } }, RunCause::Missed { .. })
                if missed == MissedRun::Ask => Some(*times),
            _ => None,
        }).sum();
        let scheduled_rows = task.rows.iter().filter(|row| !matches!(row.run.cause, RunCause::Retry { .. }));
        let counted: u32 = scheduled_rows.map(|row| missed_times(row.run.cause)).sum();
        prop_assert!(counted as usize >= due, "{counted} of {due}");
        prop_assert!((counted - merged) as usize <= due, "{counted} - {merged} of {due}");
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
        let mut random = RandomNumbers(seed);
        let mut now = NEW_YEAR;
        task.check(now, CheckKind::First);
        for _ in 0..100 {
            now += match random.below(12) {
                0 => 365 * DAY,
                1 => -365 * DAY,
                2 => -random.below(2 * DAY),
                3 => random.below(2 * DAY),
                _ => random.below(6 * HOUR),
            };
            prop_assert!(task.check(now, CheckKind::Later) <= 1, "a check starts at most one run");
            task.finish(now);
        }
        let scheduled_times: Vec<Millis> = task.rows.iter().filter_map(|row| row.scheduled_at).collect();
        let distinct: HashSet<Millis> = scheduled_times.iter().copied().collect();
        prop_assert_eq!(scheduled_times.len(), distinct.len());
    }
}
