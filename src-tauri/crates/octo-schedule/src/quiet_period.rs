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
    /// Begins now; the next time is due in `next` milliseconds.
    pub fn new(now: Millis, next: Millis) -> Self {
        Self { at: now, until: now.saturating_add(next.min(MAX_QUIET)) }
    }

    /// Returns the remaining time. `None` if it is over, or if the clock was set back: times then occur again,
    /// some of them already decided.
    pub fn rest(&mut self, now: Millis) -> Option<Duration> {
        if now < std::mem::replace(&mut self.at, now) {
            return None;
        }
        let left = u64::try_from(self.until.saturating_sub(now)).ok()?;
        (left > 0).then(|| Duration::from_millis(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_when_its_time_comes_and_when_the_clock_goes_back() {
        let rests = |now: &[Millis]| {
            let mut quiet = QuietPeriod::new(1_000, 4_000);
            now.iter().map(|now| quiet.rest(*now).map(|rest| rest.as_millis())).collect::<Vec<_>>()
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
    fn without_a_time_it_ends_after_a_while() {
        let mut quiet = QuietPeriod::new(1_000, Millis::MAX);
        assert_eq!(quiet.rest(1_000), Some(Duration::from_secs(300)));
        assert_eq!(quiet.rest(301_000), None);
    }
}
