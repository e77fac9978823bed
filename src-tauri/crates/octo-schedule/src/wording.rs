//! Timings in words: the form used in task files and by `octo task add --when`.
//!
//! | Words | Meaning |
//! | --- | --- |
//! | `by hand` | only when asked for |
//! | `once 2026-11-24 08:30` | once |
//! | `every 15 minutes from 08:00 until 18:00` | again and again; `until` may be left out |
//! | `every 3 days at 07:30` | every so many days |
//! | `daily at 08:30, 12:00` | every day |
//! | `weekdays at 08:30` | Monday to Friday |
//! | `mon, thu at 08:30` | on these days of the week |
//! | `monthly on 1, 15 at 09:00` | on these days of the month |
//! | `cron 30 8 * * 1-5` | a cron expression |

use crate::timing::{parse_moment, parse_time};
use jiff::{Timestamp, tz::TimeZone};
use octo_protocol::{Language, Millis, TimeUnit, Timing, Weekday, words};
use std::collections::BTreeMap;

/// All days, in their order, as they are written.
const DAYS: [(Weekday, &str); 7] = [
    (Weekday::Monday, "mon"),
    (Weekday::Tuesday, "tue"),
    (Weekday::Wednesday, "wed"),
    (Weekday::Thursday, "thu"),
    (Weekday::Friday, "fri"),
    (Weekday::Saturday, "sat"),
    (Weekday::Sunday, "sun"),
];

/// The forms, shown after invalid input.
pub const FORMS: &str = "by hand | once 2026-11-24 08:30 | every 15 minutes from 08:00 until 18:00 | \
    every 3 days at 07:30 | daily at 08:30, 12:00 | weekdays at 08:30 | mon, thu at 08:30 | \
    monthly on 1, 15 at 09:00 | cron 30 8 * * 1-5";

/// Returns the words for a timing.
pub fn to_words(timing: &Timing) -> String {
    match timing {
        Timing::ByHand => "by hand".to_owned(),
        Timing::Once { at } => format!("once {}", at.replacen('T', " ", 1)),
        Timing::Every { count, unit: TimeUnit::Days, from, .. } => {
            format!("every {count} {} at {from}", unit_name(TimeUnit::Days, *count))
        }
        Timing::Every { count, unit, from, until } => {
            let until = until.as_ref().map(|until| format!(" until {until}")).unwrap_or_default();
            format!("every {count} {} from {from}{until}", unit_name(*unit, *count))
        }
        Timing::Weekly { days, times } => format!("{} at {}", day_names(days), times.join(", ")),
        Timing::Monthly { days, times } => {
            let days: Vec<String> = days.iter().map(u8::to_string).collect();
            format!("monthly on {} at {}", days.join(", "), times.join(", "))
        }
        Timing::Cron { expression } => format!("cron {expression}"),
    }
}

/// Formats a moment in the person's language, weekday first; `None` outside the calendar's years.
pub fn format_moment(language: Language, time: Millis, zone: TimeZone) -> Option<String> {
    let time = Timestamp::from_millisecond(time).ok()?.to_zoned(zone);
    let (_, day) = DAYS.get(usize::try_from(time.weekday().to_monday_zero_offset()).ok()?)?;
    let day = words::say(language, &format!("taskdesk.when.{day}"), &BTreeMap::new());
    Some(format!("{day} {}", time.strftime("%Y-%m-%d %H:%M")))
}

/// Formats a timing in the person's language.
pub fn to_sentence(language: Language, timing: &Timing) -> String {
    let text = |key: &str, args: &[(&str, String)]| {
        let args = args.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        words::say(language, &format!("taskdesk.when.{key}"), &args)
    };
    match timing {
        Timing::ByHand => text("by_hand", &[]),
        Timing::Once { at } => text("once", &[("at", at.replacen('T', " ", 1))]),
        Timing::Every { count, unit, from, until } => {
            let unit = match unit {
                TimeUnit::Minutes => "minutes",
                TimeUnit::Hours => "hours",
                TimeUnit::Days => "days",
            };
            let args = [
                ("count", count.to_string()),
                ("from", from.clone()),
                ("until", until.clone().unwrap_or_default()),
            ];
            let until = if until.is_some() { "_until" } else { "" };
            text(&format!("{unit}{until}"), &args)
        }
        Timing::Weekly { days, times } => {
            let times_argument = ("times", times.join(words::LIST_SEPARATOR));
            if DAYS.iter().all(|(day, _)| days.contains(day)) {
                return text("daily", &[times_argument]);
            }
            let days = DAYS.iter().filter(|(day, _)| days.contains(day));
            let names: Vec<String> = days.map(|(_, name)| text(name, &[])).collect();
            text("weekly", &[("days", names.join(words::LIST_SEPARATOR)), times_argument])
        }
        Timing::Monthly { days, times } => {
            let days: Vec<String> = days.iter().map(u8::to_string).collect();
            text(
                "monthly",
                &[("days", days.join(words::LIST_SEPARATOR)), ("times", times.join(words::LIST_SEPARATOR))],
            )
        }
        Timing::Cron { expression } => text("cron", &[("expression", expression.clone())]),
    }
}

/// Parses a timing in words, ignoring case. Returns `None` if the words match no form. [`crate::ZonedTiming`]
/// checks whether the timing is valid.
pub fn parse(text: &str) -> Option<Timing> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let lower = text.to_lowercase();
    if matches!(lower.as_str(), "by hand" | "manual" | "manually") {
        return Some(Timing::ByHand);
    }
    let (first, rest) = lower.split_once(' ')?;
    match first {
        // With its original case.
        "cron" => {
            text.split_once(' ').map(|(_, expression)| Timing::Cron { expression: expression.to_owned() })
        }
        "once" => parse_once(rest.trim_start_matches("at ").trim_start_matches("on ")),
        "every" => parse_every(rest),
        "daily" => Some(Timing::Weekly { days: all_days(), times: parse_times(rest.strip_prefix("at ")?)? }),
        "monthly" => {
            let (days, at) = rest.strip_prefix("on ")?.split_once(" at ")?;
            let days: Option<Vec<u8>> = split_list(days).map(|day| day.parse().ok()).collect();
            Some(Timing::Monthly { days: days?, times: parse_times(at)? })
        }
        _ => {
            let (days, at) = lower.split_once(" at ")?;
            Some(Timing::Weekly { days: parse_days(days)?, times: parse_times(at)? })
        }
    }
}

fn parse_once(text: &str) -> Option<Timing> {
    let at = parse_moment(&text.to_uppercase()).ok()?;
    Some(Timing::Once { at: at.strftime("%Y-%m-%dT%H:%M").to_string() })
}

fn parse_every(text: &str) -> Option<Timing> {
    if let Some((days, at)) = text.split_once(" at ")
        && let Some(days) = parse_days(days)
    {
        return Some(Timing::Weekly { days, times: parse_times(at)? });
    }
    let (amount, remaining) = match text.split_once(" from ").or_else(|| text.split_once(" at ")) {
        Some((amount, remaining)) => (amount, Some(remaining)),
        None => (text, None),
    };
    let (count, unit) = match amount.split_once(' ') {
        Some((count, unit)) => (count.parse().ok()?, unit),
        None => (1, amount),
    };
    let unit = match unit {
        "minute" | "minutes" | "min" => TimeUnit::Minutes,
        "hour" | "hours" => TimeUnit::Hours,
        "day" | "days" => TimeUnit::Days,
        _ => return None,
    };
    let (from, until) =
        match remaining.map(|remaining| remaining.split_once(" until ").unwrap_or((remaining, ""))) {
            Some((from, until)) => (parse_clock_time(from)?, (!until.is_empty()).then_some(until)),
            // Counting starts at midnight, which for days would mean at night.
            None if unit == TimeUnit::Days => return None,
            None => ("00:00".to_owned(), None),
        };
    let until = match until {
        Some(until) => Some(parse_clock_time(until)?),
        None => None,
    };
    Some(Timing::Every { count, unit, from, until })
}

fn parse_days(text: &str) -> Option<Vec<Weekday>> {
    let mut days = Vec::new();
    for name in text.replace(" and ", ", ").split(',').map(str::trim) {
        match name {
            "day" | "daily" | "every day" => days.extend(all_days()),
            "weekday" | "weekdays" => days.extend(DAYS.iter().take(5).map(|(day, _)| *day)),
            "weekend" | "weekends" => days.extend(DAYS.iter().skip(5).map(|(day, _)| *day)),
            // The first three letters identify a day; the rest must complete its name.
            name => {
                days.push(DAYS.iter().find(|(day, short)| is_day(name, short, *day)).map(|(day, _)| *day)?)
            }
        }
    }
    days.sort_unstable();
    days.dedup();
    Some(days)
}

fn is_day(name: &str, short: &str, day: Weekday) -> bool {
    let full_name = format!("{day:?}").to_lowercase();
    name == short || name == full_name || name.strip_suffix('s') == Some(full_name.as_str())
}

fn day_names(days: &[Weekday]) -> String {
    let has = |day: Weekday| days.contains(&day);
    let has_all_workdays = DAYS.iter().take(5).all(|(day, _)| has(*day));
    let weekend_days = DAYS.iter().skip(5).filter(|(day, _)| has(*day)).count();
    match (has_all_workdays, weekend_days) {
        (true, 2) => "daily".to_owned(),
        (true, 0) => "weekdays".to_owned(),
        _ => DAYS.iter().filter(|(day, _)| has(*day)).map(|(_, name)| *name).collect::<Vec<_>>().join(", "),
    }
}

fn all_days() -> Vec<Weekday> {
    DAYS.iter().map(|(day, _)| *day).collect()
}

fn parse_times(text: &str) -> Option<Vec<String>> {
    split_list(text).map(parse_clock_time).collect()
}

fn parse_clock_time(text: &str) -> Option<String> {
    parse_time(text).ok().map(|time| time.strftime("%H:%M").to_string())
}

fn split_list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').flat_map(|part| part.split(" and ")).map(str::trim).filter(|part| !part.is_empty())
}

fn unit_name(unit: TimeUnit, count: u32) -> &'static str {
    match (unit, count) {
        (TimeUnit::Minutes, 1) => "minute",
        (TimeUnit::Minutes, _) => "minutes",
        (TimeUnit::Hours, 1) => "hour",
        (TimeUnit::Hours, _) => "hours",
        (TimeUnit::Days, 1) => "day",
        (TimeUnit::Days, _) => "days",
    }
}

#[cfg(test)]
mod tests;
