//! Times at a fixed distance.

use jiff::{
    SignedDuration,
    civil::{Date, DateTime, Time},
};
use octo_protocol::Millis;

/// The day from which all grids without a daily end are counted.
const FIRST_DAY: Date = jiff::civil::date(1970, 1, 1);

/// Local times a fixed number of minutes apart.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    seconds: i64,
    from: Time,
    until: Option<Time>,
}

impl Grid {
    /// Counts from `from`: on each day up to `until`, or continuously without it.
    pub(super) fn new(minutes: u64, from: Time, until: Option<Time>) -> Self {
        // If the distance is out of range, there is no second time.
        let seconds = minutes.checked_mul(60).and_then(|seconds| i64::try_from(seconds).ok());
        Self { seconds: seconds.unwrap_or(i64::MAX), from, until }
    }

    /// Returns the distance, in milliseconds.
    pub(super) fn distance(&self) -> Millis {
        self.seconds.saturating_mul(1_000)
    }

    /// Returns the times starting at `begin`.
    pub(super) fn from(&self, begin: DateTime) -> Box<dyn Iterator<Item = DateTime> + '_> {
        match self.until {
            Some(until) => {
                let dates = std::iter::successors(Some(begin.date()), |date| date.tomorrow().ok());
                Box::new(dates.flat_map(move |date| {
                    let first = date.to_datetime(self.from);
                    self.steps(first).take_while(move |time| time.date() == date && time.time() <= until)
                }))
            }
            None => {
                let anchor = FIRST_DAY.to_datetime(self.from);
                let elapsed = begin.duration_since(anchor).as_secs();
                let whole_steps = elapsed.div_euclid(self.seconds).checked_mul(self.seconds);
                let first = whole_steps
                    .and_then(|seconds| anchor.checked_add(SignedDuration::from_secs(seconds)).ok());
                Box::new(first.into_iter().flat_map(|first| self.steps(first)))
            }
        }
    }

    fn steps(&self, first: DateTime) -> impl Iterator<Item = DateTime> {
        let step = SignedDuration::from_secs(self.seconds);
        std::iter::successors(Some(first), move |time| time.checked_add(step).ok())
    }
}
