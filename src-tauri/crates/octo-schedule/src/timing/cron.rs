//! Cron expressions with five fields.
//!
//! They are matched against local times, like all timings, so that clock changes have the same effect.

use croner::parser::{CronParser, Seconds, Year};
use jiff::civil::DateTime;

/// Maximum length of an expression, in bytes.
const MAX_EXPRESSION_BYTES: usize = 200;

/// A parsed expression.
#[derive(Clone, Debug)]
pub(super) struct Cron(croner::Cron);

/// The reason why an expression is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no cron expression: {0}")]
pub struct CronError(String);

impl Cron {
    /// Parses an expression: minute, hour, day of the month, month, day of the week; if both days are given,
    /// either matches.
    pub(super) fn new(expression: &str) -> Result<Self, CronError> {
        let fields = expression.split_whitespace().count();
        if fields != 5 || expression.len() > MAX_EXPRESSION_BYTES {
            return Err(CronError(format!("five fields are wanted, there are {fields}")));
        }
        let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
        parser.parse(expression).map(Self).map_err(|error| CronError(error.to_string()))
    }

    /// Returns its local times, starting at `begin`.
    pub(super) fn from(&self, begin: DateTime) -> impl Iterator<Item = DateTime> {
        let start = self.0.find_next_occurrence(&begin, true).ok();
        std::iter::successors(start, move |previous| self.0.find_next_occurrence(previous, false).ok())
    }
}
