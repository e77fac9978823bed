//! Whether the machine slept: told by clocks, since not every system says so.

use std::time::Duration;

/// How often the clocks are looked at.
pub const TICK: Duration = Duration::from_secs(15);

/// How much longer than a tick must have passed to count as sleep. A busy machine is late by seconds.
pub const NAP: Duration = Duration::from_secs(30);

/// Compares clocks from tick to tick.
#[derive(Clone, Copy, Debug)]
pub struct Waking {
    wall: Duration,
    running: Duration,
}

impl Waking {
    /// Begins with the time of day (since any fixed moment) and the time the process has run.
    #[must_use]
    pub fn new(wall: Duration, running: Duration) -> Self {
        Self { wall, running }
    }

    /// Takes the clocks at a tick; for how long the machine slept since the last one, if it did.
    ///
    /// On some systems the second clock stands still during sleep and on others it does not, so the one that went
    /// further counts. A clock that was set forward looks like sleep, which does no harm: what is overdue by it is due.
    pub fn tick(&mut self, wall: Duration, running: Duration) -> Option<Duration> {
        // Set back, it tells nothing.
        let passed = wall.saturating_sub(self.wall).max(running.saturating_sub(self.running));
        *self = Self { wall, running };
        let slept = passed.saturating_sub(TICK);
        (slept >= NAP).then_some(slept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn sleep_is_told_by_either_clock() {
        for (wall, running, slept) in [
            (s(1015), s(25), None),
            (s(1044), s(54), None),
            (s(1000 + 15 + 3600), s(25), Some(s(3600))),
            (s(1000 + 15 + 3600), s(10 + 15 + 3600), Some(s(3600))),
            (s(400), s(25), None),
            (s(400), s(10 + 15 + 60), Some(s(60))),
        ] {
            let mut waking = Waking::new(s(1000), s(10));
            assert_eq!(waking.tick(wall, running), slept, "{wall:?} {running:?}");
        }
    }

    #[test]
    fn each_sleep_is_told_once() {
        let mut waking = Waking::new(s(1000), s(0));
        assert!(waking.tick(s(9000), s(15)).is_some());
        assert!(waking.tick(s(9015), s(30)).is_none());
        assert!(waking.tick(s(1000), s(45)).is_none(), "the clock was set back by hours");
        assert!(waking.tick(s(1015), s(60)).is_none());
    }
}
