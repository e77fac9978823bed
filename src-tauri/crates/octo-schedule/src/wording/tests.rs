//! Timings in words.

use super::*;
use crate::ZonedTiming;
use proptest::prelude::*;

fn weekly(days: &[Weekday], times: &[&str]) -> Timing {
    Timing::Weekly { days: days.to_vec(), times: times.iter().map(|time| (*time).to_owned()).collect() }
}

fn every(count: u32, unit: TimeUnit, start: &str, end: Option<&str>) -> Timing {
    Timing::Every { count, unit, from: start.to_owned(), until: end.map(str::to_owned) }
}

#[test]
fn common_wordings_parse() {
    let every_day = all_days();
    let cases = [
        ("by hand", Timing::ByHand),
        ("Manual", Timing::ByHand),
        ("once 2026-11-24 08:30", Timing::Once { at: "2026-11-24T08:30".to_owned() }),
        ("Once at 2026-11-24T8:30", Timing::Once { at: "2026-11-24T08:30".to_owned() }),
        ("every 15 minutes from 08:00 until 18:00", every(15, TimeUnit::Minutes, "08:00", Some("18:00"))),
        ("every 2 hours", every(2, TimeUnit::Hours, "00:00", None)),
        ("every hour from 9:30", every(1, TimeUnit::Hours, "09:30", None)),
        ("every 3 days at 07:30", every(3, TimeUnit::Days, "07:30", None)),
        ("daily at 08:30, 12:00", weekly(&every_day, &["08:30", "12:00"])),
        ("every day at 8:30 and 12:00", weekly(&every_day, &["08:30", "12:00"])),
        ("weekdays at 08:30", weekly(&every_day[..5], &["08:30"])),
        ("every weekday at 08:30", weekly(&every_day[..5], &["08:30"])),
        ("weekends at 10:00", weekly(&every_day[5..], &["10:00"])),
        ("Mon, thu at 08:30", weekly(&[Weekday::Monday, Weekday::Thursday], &["08:30"])),
        ("fridays at 17:00", weekly(&[Weekday::Friday], &["17:00"])),
        ("every monday and friday at 17:00", weekly(&[Weekday::Monday, Weekday::Friday], &["17:00"])),
        ("monthly on 1, 15 at 09:00", Timing::Monthly { days: vec![1, 15], times: vec!["09:00".to_owned()] }),
        ("cron 30 8 * * Mon-Fri", Timing::Cron { expression: "30 8 * * Mon-Fri".to_owned() }),
    ];
    for (text, timing) in cases {
        assert_eq!(parse(text), Some(timing), "{text}");
    }
}

#[test]
fn other_wordings_are_refused() {
    let invalid = [
        "",
        "soon",
        "every day",
        "every 3 days",
        "daily",
        "daily at noon",
        "sometimes at 08:00",
        "mo at 08:00",
        "once tomorrow",
        "every x minutes",
        "every -5 minutes",
        "monthly at 08:00",
        "monthly on 999 at 08:00",
        "mon at",
        "at 08:00",
    ];
    for text in invalid {
        let found = parse(text);
        // An empty list of times parses, but is not a valid timing.
        let is_timing = found.as_ref().is_some_and(|timing| ZonedTiming::new(timing, "UTC").is_ok());
        assert!(!is_timing, "{text}: {found:?}");
    }
}

#[test]
fn every_offered_form_parses() {
    for form in FORMS.split('|') {
        assert!(parse(form).is_some_and(|timing| ZonedTiming::new(&timing, "UTC").is_ok()), "{form}");
    }
}

fn timings() -> impl Strategy<Value = Timing> {
    let clock = || (0..24u8, 0..60u8).prop_map(|(hour, minute)| format!("{hour:02}:{minute:02}"));
    let clocks = || prop::collection::vec(clock(), 1..4);
    let days = prop::collection::btree_set(0..7usize, 1..7)
        .prop_map(|days| days.into_iter().map(|day| DAYS[day].0).collect::<Vec<_>>());
    let unit = prop::sample::select(vec![TimeUnit::Minutes, TimeUnit::Hours]);
    prop_oneof![
        Just(Timing::ByHand),
        (2020..2100u32, 1..13u32, 1..29u32, clock())
            .prop_map(|(y, m, d, time)| Timing::Once { at: format!("{y}-{m:02}-{d:02}T{time}") }),
        (1..500u32, unit, clock(), prop::option::of(clock()))
            .prop_map(|(count, unit, start, end)| Timing::Every { count, unit, from: start, until: end }),
        (1..500u32, clock()).prop_map(|(count, start)| every(count, TimeUnit::Days, &start, None)),
        (days, clocks()).prop_map(|(days, times)| Timing::Weekly { days, times }),
        (prop::collection::vec(1..32u8, 1..4), clocks())
            .prop_map(|(days, times)| Timing::Monthly { days, times }),
        "[0-9*/,-]{1,4} [0-9*/,-]{1,4} [0-9*/,L-]{1,4} [A-Z0-9*]{1,3} [A-Z0-9*]{1,3}"
            .prop_map(|expression| Timing::Cron { expression }),
    ]
}

proptest! {
    #[test]
    fn any_timing_reads_back_from_its_words(timing in timings()) {
        prop_assert_eq!(parse(&to_words(&timing)), Some(timing));
    }

    #[test]
    fn any_text_parses_or_is_refused(text in "\\PC{0,60}") {
        let _parsed = parse(&text);
    }
}
