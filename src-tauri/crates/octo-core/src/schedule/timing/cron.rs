//! Cron expressions of five fields.
//!
//! They are matched against local times, as all timings are, so that a change of the clocks means the same for them as
//! for the others. The library tells time with its own types; to it, the local clock is one that never changes.

use chrono::{Datelike, NaiveDate, TimeZone, Timelike, Utc};
use croner::parser::{CronParser, Seconds, Year};
use jiff::civil::DateTime;

/// The most characters of an expression.
const LONGEST: usize = 200;

/// An expression that was read.
#[derive(Clone, Debug)]
pub(super) struct Cron(croner::Cron);

/// Why an expression is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no cron expression: {0}")]
pub(crate) struct CronError(String);

impl Cron {
    /// Reads an expression: minute, hour, day of the month, month, day of the week; where both days are given, either
    /// will do.
    pub(super) fn new(expression: &str) -> Result<Self, CronError> {
        let fields = expression.split_whitespace().count();
        if fields != 5 || expression.len() > LONGEST {
            return Err(CronError(format!("five fields are wanted, there are {fields}")));
        }
        let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
        parser.parse(expression).map(Self).map_err(|error| CronError(error.to_string()))
    }

    /// The local times it means, from `begin` on.
    pub(super) fn from(&self, begin: DateTime) -> impl Iterator<Item = DateTime> {
        let first = plain(begin).and_then(|begin| self.0.find_next_occurrence(&begin, true).ok());
        let times =
            std::iter::successors(first, move |last| self.0.find_next_occurrence(last, false).ok());
        times.map_while(|at| local(&at))
    }
}

/// A local time as the library takes it: as if there were no zones. To the minute, below which nothing is planned.
fn plain(local: DateTime) -> Option<chrono::DateTime<Utc>> {
    let part = |value: i8| u32::try_from(value).ok();
    let date = NaiveDate::from_ymd_opt(local.year().into(), part(local.month())?, part(local.day())?)?;
    let at = date.and_hms_opt(part(local.hour())?, part(local.minute())?, 0)?;
    Some(Utc.from_utc_datetime(&at))
}

fn local(at: &chrono::DateTime<Utc>) -> Option<DateTime> {
    let part = |value: u32| i8::try_from(value).ok();
    let year = i16::try_from(at.year()).ok()?;
    DateTime::new(year, part(at.month())?, part(at.day())?, part(at.hour())?, part(at.minute())?, 0, 0).ok()
}
