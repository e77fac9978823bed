//! Cron expressions of five fields.
//!
//! They are matched against local times, as all timings are, so that a change of the clocks means the same for them as
//! for the others.

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
        let first = self.0.find_next_occurrence(&begin, true).ok();
        std::iter::successors(first, move |last| self.0.find_next_occurrence(last, false).ok())
    }
}
