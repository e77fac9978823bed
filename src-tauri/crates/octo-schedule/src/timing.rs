//! The moments of a task's timing, in its zone.
//!
//! A timing is a pattern of local dates and times, the same every day whatever the clock changes. Each local
//! time becomes one moment: a time skipped when the clocks move forward becomes the first moment after the gap,
//! a time that occurs twice when they move back becomes the first of the two, and two that coincide become one.
//! Only repeating timings continue in the second pass of a repeated hour, provided their distance is kept.

mod cron;
mod grid;

pub use cron::CronError;

use jiff::{
    Timestamp,
    civil::{Date, DateTime, Time},
    tz::{AmbiguousOffset, TimeZone},
};
use octo_protocol::{Millis, TimeUnit, Timing, Weekday};
use std::collections::VecDeque;

/// Minimum distance between two runs, in minutes.
pub(crate) const MIN_INTERVAL_MINUTES: u64 = 5;

/// Maximum length of a repeated part of a day.
const MAX_FOLD: Millis = 3 * 60 * 60 * 1_000;

/// A parsed timing, in its zone.
#[derive(Clone, Debug)]
pub struct ZonedTiming {
    pattern: Pattern,
    zone: TimeZone,
}

#[derive(Clone, Debug)]
enum Pattern {
    Never,
    Once(DateTime),
    Grid(grid::Grid),
    /// On certain days, at certain times.
    Days(DayPattern, Vec<Time>),
    Cron(Box<cron::Cron>),
}

#[derive(Clone, Debug)]
enum DayPattern {
    OfWeek(Vec<jiff::civil::Weekday>),
    OfMonth(Vec<i8>),
}

/// The reason why a timing is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimingError {
    /// The zone is not one of the IANA database.
    #[error("no time zone {0}")]
    Zone(String),
    /// An invalid time of day.
    #[error("no time of day {0}")]
    Time(String),
    /// An invalid date and time.
    #[error("no date and time {0}")]
    Moment(String),
    /// A distance below five minutes.
    #[error("closer together than five minutes")]
    TooOften,
    /// An invalid day of the month.
    #[error("no day of a month {0}")]
    Day(u8),
    /// No day, or no time.
    #[error("no day or no time")]
    Empty,
    /// An end time that is not after the start time.
    #[error("ends before it begins")]
    EndsFirst,
    /// An invalid cron expression.
    #[error(transparent)]
    Cron(#[from] CronError),
}

impl ZonedTiming {
    /// Parses a timing.
    pub fn new(timing: &Timing, zone: &str) -> Result<Self, TimingError> {
        let zone = TimeZone::get(zone).map_err(|_| TimingError::Zone(zone.to_owned()))?;
        let pattern = match timing {
            Timing::ByHand => Pattern::Never,
            Timing::Once { at } => Pattern::Once(parse_moment(at)?),
            Timing::Every { count, unit, from, until } => {
                let from = parse_time(from)?;
                let until = until.as_deref().map(parse_time).transpose()?;
                let minutes = u64::from(*count)
                    * match unit {
                        TimeUnit::Minutes => 1,
                        TimeUnit::Hours => 60,
                        TimeUnit::Days => 24 * 60,
                    };
                if minutes < MIN_INTERVAL_MINUTES {
                    return Err(TimingError::TooOften);
                }
                match (unit, until) {
                    (TimeUnit::Minutes | TimeUnit::Hours, Some(until)) if until <= from => {
                        return Err(TimingError::EndsFirst);
                    }
                    // A timing in days has one time per day, which needs no end.
                    (TimeUnit::Days, _) => Pattern::Grid(grid::Grid::new(minutes, from, None)),
                    (TimeUnit::Minutes | TimeUnit::Hours, until) => {
                        Pattern::Grid(grid::Grid::new(minutes, from, until))
                    }
                }
            }
            Timing::Weekly { days, times } => {
                let days = DayPattern::OfWeek(days.iter().map(|day| civil_weekday(*day)).collect());
                Pattern::Days(days, parse_times(times)?)
            }
            Timing::Monthly { days, times } => {
                let day = |day: &u8| match i8::try_from(*day) {
                    Ok(number @ 1..=31) => Ok(number),
                    Ok(_) | Err(_) => Err(TimingError::Day(*day)),
                };
                let days = DayPattern::OfMonth(days.iter().map(day).collect::<Result<_, _>>()?);
                Pattern::Days(days, parse_times(times)?)
            }
            Timing::Cron { expression } => Pattern::Cron(Box::new(cron::Cron::new(expression)?)),
        };
        match &pattern {
            Pattern::Days(DayPattern::OfWeek(days), _) if days.is_empty() => Err(TimingError::Empty),
            Pattern::Days(DayPattern::OfMonth(days), _) if days.is_empty() => Err(TimingError::Empty),
            Pattern::Days(_, times) if times.is_empty() => Err(TimingError::Empty),
            _ => Ok(Self { pattern, zone }),
        }
    }

    /// Returns the moments after `after`, earliest first.
    pub fn after(&self, after: Millis) -> impl Iterator<Item = Millis> {
        let moments: Box<dyn Iterator<Item = Millis>> = match &self.pattern {
            Pattern::Grid(grid) => {
                // In the first pass of an hour, earlier local times occur once more.
                let locals = self.locals_from(after.saturating_sub(MAX_FOLD));
                Box::new(merge_passes(locals.filter_map(move |local| self.moments(local)), grid.distance()))
            }
            _ => Box::new(self.locals_from(after).filter_map(move |local| Some(self.moments(local)?.0))),
        };
        let mut previous = after;
        moments.filter(move |time| {
            let is_new = *time > previous;
            previous = previous.max(*time);
            is_new
        })
    }

    fn locals_from(&self, from: Millis) -> Box<dyn Iterator<Item = DateTime> + '_> {
        match Timestamp::from_millisecond(from) {
            Err(_) => Box::new(std::iter::empty()),
            Ok(start) => self.pattern.local_times(self.zone.to_datetime(start)),
        }
    }

    /// Returns the moment of a local time, and the second moment if it occurs twice; `None` if it is out of
    /// range.
    fn moments(&self, local: DateTime) -> Option<(Millis, Option<Millis>)> {
        let ambiguous = self.zone.to_ambiguous_timestamp(local);
        let time = match ambiguous.offset() {
            AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(local).ok()?,
            // The first of the two uses the clock before the change.
            AmbiguousOffset::Fold { before, after } => {
                let second = after.to_timestamp(local).ok().map(Timestamp::as_millisecond);
                return Some((before.to_timestamp(local).ok()?.as_millisecond(), second));
            }
            AmbiguousOffset::Gap { before, .. } => {
                // By the clock before the change it is at or after the change.
                let later = before.to_timestamp(local).ok()?;
                let after_gap = later.checked_add(jiff::SignedDuration::from_secs(1)).ok()?;
                self.zone.preceding(after_gap).next()?.timestamp()
            }
        };
        Some((time.as_millisecond(), None))
    }
}

/// Merges in the moments of the second pass, earliest first. These keep their `distance` from the previous
/// moment: a timing of every eight hours has no second run an hour later.
fn merge_passes(
    mut moments: impl Iterator<Item = (Millis, Option<Millis>)>,
    distance: Millis,
) -> impl Iterator<Item = Millis> {
    let mut upcoming = moments.next();
    let mut second_pass: VecDeque<Millis> = VecDeque::new();
    let mut previous = Millis::MIN;
    std::iter::from_fn(move || {
        loop {
            let repeated = second_pass.front().copied();
            match (upcoming, repeated) {
                (Some((first, _)), Some(repeated)) if repeated < first => {}
                (Some((first, second)), _) => {
                    second_pass.extend(second);
                    upcoming = moments.next();
                    previous = first;
                    return Some(first);
                }
                (None, Some(_)) => {}
                (None, None) => return None,
            }
            second_pass.pop_front();
            if let Some(repeated) = repeated.filter(|repeated| repeated.saturating_sub(previous) >= distance)
            {
                previous = repeated;
                return Some(repeated);
            }
        }
    })
}

impl Pattern {
    /// Returns the local times of the pattern, earliest first, starting at the minute of `begin`.
    fn local_times(&self, begin: DateTime) -> Box<dyn Iterator<Item = DateTime> + '_> {
        match self {
            Self::Never => Box::new(std::iter::empty()),
            Self::Once(moment) => Box::new(std::iter::once(*moment)),
            Self::Grid(grid) => Box::new(grid.from(begin)),
            Self::Days(days, times) => {
                let dates = days.from(begin.date());
                Box::new(dates.flat_map(move |date| times.iter().map(move |time| date.to_datetime(*time))))
            }
            Self::Cron(cron) => Box::new(cron.from(begin)),
        }
    }
}

impl DayPattern {
    /// Returns the dates of the pattern, starting at a date.
    fn from(&self, first: Date) -> impl Iterator<Item = Date> {
        let dates = std::iter::successors(Some(first), |date| date.tomorrow().ok());
        dates.filter(|date| match self {
            Self::OfWeek(days) => days.contains(&date.weekday()),
            Self::OfMonth(days) => days.contains(&date.day()),
        })
    }
}

/// Parses a local date and time, `YYYY-MM-DDTHH:MM`.
pub(crate) fn parse_moment(text: &str) -> Result<DateTime, TimingError> {
    let invalid = || TimingError::Moment(text.to_owned());
    let (date, clock) = text.trim().split_once(['T', ' ']).ok_or_else(invalid)?;
    let date: Date = date.parse().map_err(|_| invalid())?;
    let clock = parse_time(clock.trim()).map_err(|_| invalid())?;
    Ok(date.to_datetime(clock))
}

/// Parses a time of day, `HH:MM`.
pub(crate) fn parse_time(text: &str) -> Result<Time, TimingError> {
    let invalid = || TimingError::Time(text.to_owned());
    let (hour, minute) = text.trim().split_once(':').ok_or_else(invalid)?;
    let number = |digits: &str| match digits.len() {
        1 | 2 if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse::<i8>().ok(),
        _ => None,
    };
    if minute.len() != 2 {
        return Err(invalid());
    }
    let (hour, minute) = (number(hour).ok_or_else(invalid)?, number(minute).ok_or_else(invalid)?);
    Time::new(hour, minute, 0, 0).map_err(|_| invalid())
}

fn parse_times(times: &[String]) -> Result<Vec<Time>, TimingError> {
    let mut times: Vec<Time> = times.iter().map(|text| parse_time(text)).collect::<Result<_, _>>()?;
    times.sort_unstable();
    times.dedup();
    Ok(times)
}

fn civil_weekday(day: Weekday) -> jiff::civil::Weekday {
    match day {
        Weekday::Monday => jiff::civil::Weekday::Monday,
        Weekday::Tuesday => jiff::civil::Weekday::Tuesday,
        Weekday::Wednesday => jiff::civil::Weekday::Wednesday,
        Weekday::Thursday => jiff::civil::Weekday::Thursday,
        Weekday::Friday => jiff::civil::Weekday::Friday,
        Weekday::Saturday => jiff::civil::Weekday::Saturday,
        Weekday::Sunday => jiff::civil::Weekday::Sunday,
    }
}

#[cfg(test)]
mod tests;
