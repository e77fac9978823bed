//! Avoids reads of the files and the store while nothing is due.

use octo_protocol::Millis;
use std::time::Duration;

/// Maximum time without reading the files and the store. Some changes that affect due times are not reported:
/// of the system's time zone, which plans without a zone follow, and of files in a home on a network, made on
/// another computer.
const MAX_QUIET: Millis = 5 * 60 * 1_000;

/// A period in which no run is open and no time is due before `until`, if nothing changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuietPeriod {
    /// The time of the last check.
    checked_at: Millis,
    until: Millis,
}

impl QuietPeriod {
    /// Creates a period that begins now; the next time is due in `until_due` milliseconds.
    pub fn new(now: Millis, until_due: Millis) -> Self {
        Self { checked_at: now, until: now.saturating_add(until_due.min(MAX_QUIET)) }
    }

    /// Returns the remaining time. `None` if it is over, or if the clock was set back: times then occur again,
    /// some of them already decided.
    pub fn remaining(&mut self, now: Millis) -> Option<Duration> {
        if now < std::mem::replace(&mut self.checked_at, now) {
            return None;
        }
        let remaining = u64::try_from(self.until.saturating_sub(now)).ok()?;
        (remaining > 0).then(|| Duration::from_millis(remaining))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_period_ends_at_its_time_or_when_the_clock_is_set_back() {
        let remaining_times = |now: &[Millis]| {
            let mut period = QuietPeriod::new(1_000, 4_000);
            now.iter()
                .map(|now| period.remaining(*now).map(|remaining| remaining.as_millis()))
                .collect::<Vec<_>>()
        };
        assert_eq!(remaining_times(&[1_000, 4_999]), [Some(4_000), Some(1)]);
        assert_eq!(remaining_times(&[5_000]), [None]);
        // The computer slept beyond its end.
        assert_eq!(remaining_times(&[90_000]), [None]);
        // Set back, first before the beginning and then after it.
        assert_eq!(remaining_times(&[999]), [None]);
        assert_eq!(remaining_times(&[4_000, 3_999]), [Some(1_000), None]);
    }

    #[test]
    fn a_quiet_period_without_a_time_is_bounded() {
        let mut period = QuietPeriod::new(1_000, Millis::MAX);
        assert_eq!(period.remaining(1_000), Some(Duration::from_secs(300)));
        assert_eq!(period.remaining(301_000), None);
    }
}
