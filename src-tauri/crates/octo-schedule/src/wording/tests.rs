//! Timings in words.

use super::*;
use crate::ZonedTiming;
use proptest::prelude::*;

fn weekly(days: &[Weekday], times: &[&str]) -> Timing {
    Timing::Weekly { days: days.to_vec(), times: times.iter().map(|time| (*time).to_owned()).collect() }
}

fn every(count: u32, unit: TimeUnit, from: &str, until: Option<&str>) -> Timing {
    Timing::Every { count, unit, from: from.to_owned(), until: until.map(str::to_owned) }
}

#[test]
fn words_people_and_models_write_are_understood() {
    let all = all_days();
    let cases = [
        ("by hand", Timing::ByHand),
        ("Manual", Timing::ByHand),
        ("once 2026-11-24 08:30", Timing::Once { at: "2026-11-24T08:30".to_owned() }),
        ("Once at 2026-11-24T8:30", Timing::Once { at: "2026-11-24T08:30".to_owned() }),
        ("every 15 minutes from 08:00 until 18:00", every(15, TimeUnit::Minutes, "08:00", Some("18:00"))),
        ("every 2 hours", every(2, TimeUnit::Hours, "00:00", None)),
        ("every hour from 9:30", every(1, TimeUnit::Hours, "09:30", None)),
        ("every 3 days at 07:30", every(3, TimeUnit::Days, "07:30", None)),
        ("daily at 08:30, 12:00", weekly(&all, &["08:30", "12:00"])),
        ("every day at 8:30 and 12:00", weekly(&all, &["08:30", "12:00"])),
        ("weekdays at 08:30", weekly(&all[..5], &["08:30"])),
        ("every weekday at 08:30", weekly(&all[..5], &["08:30"])),
        ("weekends at 10:00", weekly(&all[5..], &["10:00"])),
        ("Mon, thu at 08:30", weekly(&[Weekday::Monday, Weekday::Thursday], &["08:30"])),
        ("fridays at 17:00", weekly(&[Weekday::Friday], &["17:00"])),
        ("every monday and friday at 17:00", weekly(&[Weekday::Monday, Weekday::Friday], &["17:00"])),
        ("monthly on 1, 15 at 09:00", Timing::Monthly { days: vec![1, 15], times: vec!["09:00".to_owned()] }),
        ("cron 30 8 * * Mon-Fri", Timing::Cron { expression: "30 8 * * Mon-Fri".to_owned() }),
    ];
    for (text, timing) in cases {
        assert_eq!(read(text), Some(timing), "{text}");
    }
}

#[test]
fn other_words_are_not_guessed_at() {
    let nothing = [
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
    for text in nothing {
        let found = read(text);
        // An empty list of times parses, but is not a valid timing.
        let is_timing = found.as_ref().is_some_and(|timing| ZonedTiming::new(timing, "UTC").is_ok());
        assert!(!is_timing, "{text}: {found:?}");
    }
}

#[test]
fn the_forms_that_are_offered_are_understood() {
    for form in FORMS.split('|') {
        assert!(read(form).is_some_and(|timing| ZonedTiming::new(&timing, "UTC").is_ok()), "{form}");
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
            .prop_map(|(y, m, d, at)| Timing::Once { at: format!("{y}-{m:02}-{d:02}T{at}") }),
        (1..500u32, unit, clock(), prop::option::of(clock()))
            .prop_map(|(count, unit, from, until)| Timing::Every { count, unit, from, until }),
        (1..500u32, clock()).prop_map(|(count, from)| every(count, TimeUnit::Days, &from, None)),
        (days, clocks()).prop_map(|(days, times)| Timing::Weekly { days, times }),
        (prop::collection::vec(1..32u8, 1..4), clocks())
            .prop_map(|(days, times)| Timing::Monthly { days, times }),
        "[0-9*/,-]{1,4} [0-9*/,-]{1,4} [0-9*/,L-]{1,4} [A-Z0-9*]{1,3} [A-Z0-9*]{1,3}"
            .prop_map(|expression| Timing::Cron { expression }),
    ]
}

proptest! {
    #[test]
    fn what_is_written_is_read_as_the_same(timing in timings()) {
        prop_assert_eq!(read(&written(&timing)), Some(timing));
    }

    #[test]
    fn no_text_breaks_it(text in "\\PC{0,60}") {
        let _read = read(&text);
    }
}
