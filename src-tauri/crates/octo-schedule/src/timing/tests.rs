//! Timings against calendars.

use super::*;
use proptest::prelude::*;

/// Returns the next times of a timing in local wall-clock time.
fn next(timing: &Timing, zone: &str, after: &str, count: usize) -> Vec<String> {
    let after: Timestamp = after.parse().unwrap();
    let times = ZonedTiming::new(timing, zone).unwrap();
    let zone = TimeZone::get(zone).unwrap();
    let formatted = |time: Millis| {
        let time = Timestamp::from_millisecond(time).unwrap().to_zoned(zone.clone());
        time.strftime("%m-%d %H:%M %:z").to_string()
    };
    times.after(after.as_millisecond()).take(count).map(formatted).collect()
}

fn texts(times: &[&str]) -> Vec<String> {
    times.iter().map(|time| (*time).to_owned()).collect()
}

fn daily(times: &[&str]) -> Timing {
    let days = [
        Weekday::Monday,
        Weekday::Tuesday,
        Weekday::Wednesday,
        Weekday::Thursday,
        Weekday::Friday,
        Weekday::Saturday,
        Weekday::Sunday,
    ];
    Timing::Weekly { days: days.to_vec(), times: texts(times) }
}

fn every(count: u32, unit: TimeUnit, start: &str, end: Option<&str>) -> Timing {
    Timing::Every { count, unit, from: start.to_owned(), until: end.map(str::to_owned) }
}

fn cron(expression: &str) -> Timing {
    Timing::Cron { expression: expression.to_owned() }
}

#[test]
fn skipped_times_move_forward_and_repeated_times_count_once() {
    let cases: &[(Timing, &str, &str, &[&str])] = &[
        (
            daily(&["02:30"]),
            "Europe/Berlin",
            "2026-03-28T12:00:00Z",
            &["03-29 03:00 +02:00", "03-30 02:30 +02:00"],
        ),
        (
            daily(&["02:30"]),
            "Europe/Berlin",
            "2026-10-24T12:00:00Z",
            &["10-25 02:30 +02:00", "10-26 02:30 +01:00"],
        ),
        // Two that coincide are one.
        (
            daily(&["02:00", "02:30", "03:00"]),
            "Europe/Berlin",
            "2026-03-28T12:00:00Z",
            &["03-29 03:00 +02:00", "03-30 02:00 +02:00"],
        ),
        (
            cron("30 2 * * *"),
            "America/New_York",
            "2026-03-07T12:00:00Z",
            &["03-08 03:00 -04:00", "03-09 02:30 -04:00"],
        ),
        (
            cron("30 1 * * *"),
            "America/New_York",
            "2026-10-31T12:00:00Z",
            &["11-01 01:30 -04:00", "11-02 01:30 -05:00"],
        ),
        // Half an hour.
        (
            daily(&["02:10"]),
            "Australia/Lord_Howe",
            "2026-10-03T12:00:00Z",
            &["10-04 02:30 +11:00", "10-05 02:10 +11:00"],
        ),
        (
            daily(&["01:45"]),
            "Australia/Lord_Howe",
            "2026-04-04T02:00:00Z",
            &["04-05 01:45 +11:00", "04-06 01:45 +10:30"],
        ),
        // A date the zone skipped.
        (
            daily(&["09:00"]),
            "Pacific/Apia",
            "2011-12-29T00:00:00Z",
            &["12-29 09:00 -10:00", "12-31 00:00 +14:00", "12-31 09:00 +14:00"],
        ),
        (
            every(30, TimeUnit::Minutes, "00:00", None),
            "Europe/Berlin",
            "2026-03-29T00:10:00Z",
            &["03-29 01:30 +01:00", "03-29 03:00 +02:00", "03-29 03:30 +02:00"],
        ),
        // A repeating timing continues through a repeated hour.
        (
            every(30, TimeUnit::Minutes, "00:00", None),
            "Europe/Berlin",
            "2026-10-25T00:10:00Z",
            &[
                "10-25 02:30 +02:00",
                "10-25 02:00 +01:00",
                "10-25 02:30 +01:00",
                "10-25 03:00 +01:00",
                "10-25 03:30 +01:00",
            ],
        ),
        (
            every(1, TimeUnit::Hours, "00:00", None),
            "America/New_York",
            "2026-11-01T04:30:00Z",
            &["11-01 01:00 -04:00", "11-01 01:00 -05:00", "11-01 02:00 -05:00"],
        ),
        (
            every(5, TimeUnit::Minutes, "00:00", None),
            "Australia/Lord_Howe",
            "2026-04-04T14:52:00Z",
            &["04-05 01:55 +11:00", "04-05 01:30 +10:30", "04-05 01:35 +10:30"],
        ),
        (
            every(10, TimeUnit::Minutes, "08:00", Some("20:00")),
            "Europe/Berlin",
            "2026-10-24T17:55:00Z",
            &["10-24 20:00 +02:00", "10-25 08:00 +01:00"],
        ),
        // But not with less than its distance.
        (
            every(8, TimeUnit::Hours, "02:00", None),
            "Europe/Berlin",
            "2026-10-24T20:00:00Z",
            &["10-25 02:00 +02:00", "10-25 10:00 +01:00"],
        ),
        (
            every(45, TimeUnit::Minutes, "00:00", None),
            "Europe/Berlin",
            "2026-10-24T23:50:00Z",
            &["10-25 02:15 +02:00", "10-25 02:15 +01:00", "10-25 03:00 +01:00"],
        ),
        (
            every(1, TimeUnit::Days, "02:30", None),
            "Europe/Berlin",
            "2026-10-24T12:00:00Z",
            &["10-25 02:30 +02:00", "10-26 02:30 +01:00"],
        ),
    ];
    for (timing, zone, after, expected) in cases {
        assert_eq!(next(timing, zone, after, expected.len()), *expected, "{timing:?} in {zone}");
    }
}

#[test]
fn timings_mean_what_they_say() {
    let weekly =
        |days: &[Weekday], times: &[&str]| Timing::Weekly { days: days.to_vec(), times: texts(times) };
    let monthly = |days: &[u8], times: &[&str]| Timing::Monthly { days: days.to_vec(), times: texts(times) };
    let cases: &[(Timing, &[&str])] = &[
        (Timing::ByHand, &[]),
        (Timing::Once { at: "2026-06-01T08:30".to_owned() }, &["06-01 08:30"]),
        (Timing::Once { at: "2025-06-01T08:30".to_owned() }, &[]),
        (
            every(90, TimeUnit::Minutes, "08:00", Some("12:00")),
            &["01-01 08:00", "01-01 09:30", "01-01 11:00", "01-02 08:00"],
        ),
        (every(2, TimeUnit::Hours, "08:00", Some("10:00")), &["01-01 08:00", "01-01 10:00", "01-02 08:00"]),
        (
            every(8, TimeUnit::Hours, "01:00", None),
            &["01-01 01:00", "01-01 09:00", "01-01 17:00", "01-02 01:00"],
        ),
        (every(1, TimeUnit::Days, "07:15", None), &["01-01 07:15", "01-02 07:15"]),
        (
            weekly(&[Weekday::Friday, Weekday::Monday], &["18:00", "8:30"]),
            &["01-02 08:30", "01-02 18:00", "01-05 08:30"],
        ),
        (
            monthly(&[31, 1], &["00:05"]),
            &["01-01 00:05", "01-31 00:05", "02-01 00:05", "03-01 00:05", "03-31 00:05"],
        ),
        (cron("*/20 9-10 * * 1-5"), &["01-01 09:00", "01-01 09:20", "01-01 09:40", "01-01 10:00"]),
        (cron("0 12 1 * MON"), &["01-01 12:00", "01-05 12:00", "01-12 12:00"]),
        (cron("0 0 29 2 *"), &["02-29 00:00"]),
    ];
    for (timing, expected) in cases {
        let expected: Vec<String> = expected.iter().map(|time| format!("{time} +00:00")).collect();
        let after = "2025-12-31T23:59:59Z";
        let found = next(timing, "UTC", after, expected.len().max(1));
        assert_eq!(found, expected, "{timing:?}");
    }
}

#[test]
fn nonsensical_calls_are_refused() {
    let once = |once: &str| Timing::Once { at: once.to_owned() };
    let monthly = |day| Timing::Monthly { days: vec![day], times: texts(&["08:00"]) };
    let cases: Vec<(Timing, &str)> = vec![
        (once("2026-02-30T08:00"), "date"),
        (once("tomorrow"), "date"),
        (once("2026-01-01T24:00"), "date"),
        (daily(&["25:00"]), "time of day"),
        (daily(&["8"]), "time of day"),
        (daily(&["+8:00"]), "time of day"),
        (daily(&["08:5"]), "time of day"),
        (daily(&[]), "no day or no time"),
        (Timing::Weekly { days: vec![], times: texts(&["08:00"]) }, "no day or no time"),
        (every(4, TimeUnit::Minutes, "00:00", None), "five minutes"),
        (every(0, TimeUnit::Days, "00:00", None), "five minutes"),
        (every(1, TimeUnit::Hours, "10:00", Some("10:00")), "ends before"),
        (monthly(0), "day of a month"),
        (monthly(32), "day of a month"),
        (cron("* * * *"), "five fields"),
        (cron("* * * * * *"), "five fields"),
        (cron("@daily"), "five fields"),
        (cron("61 * * * *"), "cron"),
        (cron("a b c d e"), "cron"),
    ];
    for (timing, reason) in cases {
        let error = ZonedTiming::new(&timing, "UTC").unwrap_err().to_string();
        assert!(error.contains(reason), "{timing:?}: {error}");
    }
    for zone in ["", "Mars/Olympus", "../../etc/passwd", "/etc/localtime"] {
        assert!(matches!(ZonedTiming::new(&Timing::ByHand, zone), Err(TimingError::Zone(_))), "{zone}");
    }
    // It parses but never matches.
    assert_eq!(next(&cron("0 0 30 2 *"), "UTC", "2026-01-01T00:00:00Z", 1), Vec::<String>::new());
}

fn timings() -> impl Strategy<Value = Timing> {
    let clock = || (0..24u8, 0..60u8).prop_map(|(hour, minute)| format!("{hour:02}:{minute:02}"));
    let clocks = || prop::collection::vec(clock(), 1..4);
    let days = prop::collection::vec((0..7usize).prop_map(civil_day), 1..4);
    let cron =
        prop::sample::select(vec!["*/15 * * * *", "7 2 * * *", "30 1,2,3 * * 0", "0 3 1 * *", "45 23 * 2 *"]);
    prop_oneof![
        (5..3_000u32, clock()).prop_map(|(count, start)| every(count, TimeUnit::Minutes, &start, None)),
        (1..40u32, clock()).prop_map(|(count, start)| every(count, TimeUnit::Days, &start, None)),
        (5..300u32, 0..12u8, 13..24u8).prop_map(|(count, start, end)| {
            every(count, TimeUnit::Minutes, &format!("{start:02}:10"), Some(&format!("{end:02}:50")))
        }),
        (days, clocks()).prop_map(|(days, times)| Timing::Weekly { days, times }),
        (prop::collection::vec(1..32u8, 1..4), clocks())
            .prop_map(|(days, times)| Timing::Monthly { days, times }),
        cron.prop_map(|expression| Timing::Cron { expression: expression.to_owned() }),
    ]
}

fn civil_day(number: usize) -> Weekday {
    match daily(&["00:00"]) {
        Timing::Weekly { days, .. } => days[number % 7],
        _ => unreachable!("a weekly timing"),
    }
}

proptest! {
    /// The same moments result from any starting point, each later than the one before.
    #[test]
    fn the_times_do_not_depend_on_when_they_are_computed(
        timing in timings(),
        zone in prop::sample::select(vec!["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"]),
        // Two years around 2026, to the millisecond.
        after in 1_735_689_600_000i64..1_798_761_600_000,
        later in 0..90i64 * 24 * 60 * 60 * 1_000,
    ) {
        let times = ZonedTiming::new(&timing, zone).unwrap();
        let expected: Vec<Millis> = times.after(after).take(40).collect();
        prop_assert!(expected.windows(2).all(|pair| pair[0] < pair[1]), "{expected:?}");
        prop_assert!(expected.iter().all(|time| *time > after && time % 60_000 == 0));
        if let Some(last_time) = expected.last() {
            let middle = (after + later).min(*last_time);
            let rest: Vec<Millis> = expected.iter().copied().filter(|time| *time > middle).collect();
            let from_middle: Vec<Millis> = times.after(middle).take_while(|time| time <= last_time).collect();
            prop_assert_eq!(rest, from_middle);
        }
    }
}
