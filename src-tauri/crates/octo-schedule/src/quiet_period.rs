//! Avoids reads of the files and the store while nothing is due.

use octo_protocol::Millis;
use std::time::Duration;

/// Maximum time without reading the files and the store. Nothing reports some changes that move a due time: of
/// the system's time zone, which plans without a zone follow, and of files in a home on a network, made
/// elsewhere.
const MAX_QUIET: Millis = 5 * 60 * 1_000;

/// A period in which no run is open and no time is due before `until`, if nothing changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuietPeriod {
    /// When this was last confirmed.
    at: Millis,
    until: Millis,
}

impl QuietPeriod {
    /// Begins now; the next time is due in `until_due` milliseconds.
    pub fn new(now: Millis, until_due: Millis) -> Self {
        Self { at: now, until: now.saturating_add(until_due.min(MAX_QUIET)) }
    }

    /// Returns the remaining time. `None` if it is over, or if the clock was set back: times then occur again,
    /// some of them already decided.
    pub fn remaining(&mut self, now: Millis) -> Option<Duration> {
        if now < std::mem::replace(&mut self.at, now) {
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
        let rests = |now: &[Millis]| {
            let mut period = QuietPeriod::new(1_000, 4_000);
            now.iter()
                .map(|now| period.remaining(*now).map(|remaining| remaining.as_millis()))
                .collect::<Vec<_>>()
        };
        assert_eq!(rests(&[1_000, 4_999]), [Some(4_000), Some(1)]);
        assert_eq!(rests(&[5_000]), [None]);
        // The computer slept past it.
        assert_eq!(rests(&[90_000]), [None]);
        // Set back, first before the beginning and then after it.
        assert_eq!(rests(&[999]), [None]);
        assert_eq!(rests(&[4_000, 3_999]), [Some(1_000), None]);
    }

    #[test]
    fn a_quiet_period_without_a_time_is_bounded() {
        let mut period = QuietPeriod::new(1_000, Millis::MAX);
        assert_eq!(period.remaining(1_000), Some(Duration::from_secs(300)));
        assert_eq!(period.remaining(301_000), None);
    }
}
