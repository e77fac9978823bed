//! While nothing is due, nothing is read.

use octo_protocol::Millis;
use std::time::Duration;

/// The longest without a look at the files and the store. Not everything that moves a time is told: the system's time
/// zone, which plans without one follow, and files in a home that somebody else changes, as over a network.
const LONGEST: Millis = 5 * 60 * 1_000;

/// No run is open and no time comes before `until`, as long as nobody changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Calm {
    /// When that was last so.
    at: Millis,
    until: Millis,
}

impl Calm {
    /// From now on, where the next time comes in `next` milliseconds.
    pub(crate) fn new(now: Millis, next: Millis) -> Self {
        Self { at: now, until: now.saturating_add(next.min(LONGEST)) }
    }

    /// How long it lasts yet. Not over a clock that was set back: times come again then, of which some were decided.
    pub(crate) fn rest(&mut self, now: Millis) -> Option<Duration> {
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
            let mut calm = Calm::new(1_000, 4_000);
            now.iter().map(|now| calm.rest(*now).map(|rest| rest.as_millis())).collect::<Vec<_>>()
        };
        assert_eq!(rests(&[1_000, 4_999]), [Some(4_000), Some(1)]);
        assert_eq!(rests(&[5_000]), [None]);
        // The computer slept through it.
        assert_eq!(rests(&[90_000]), [None]);
        // Set back, before the beginning and after it.
        assert_eq!(rests(&[999]), [None]);
        assert_eq!(rests(&[4_000, 3_999]), [Some(1_000), None]);
    }

    #[test]
    fn without_a_time_it_ends_after_a_while() {
        let mut calm = Calm::new(1_000, Millis::MAX);
        assert_eq!(calm.rest(1_000), Some(Duration::from_secs(300)));
        assert_eq!(calm.rest(301_000), None);
    }
}
