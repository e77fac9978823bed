//! Detects whether the machine slept, from its clocks, since not every system reports it.

use std::time::Duration;

/// Interval between clock comparisons.
pub const TICK: Duration = Duration::from_secs(15);

/// Delay of a tick that counts as sleep. A busy machine is late by seconds.
pub const MIN_SLEEP: Duration = Duration::from_secs(30);

/// Compares the clocks at every tick.
#[derive(Clone, Copy, Debug)]
pub struct SleepDetector {
    wall: Duration,
    running: Duration,
}

impl SleepDetector {
    /// Starts with the time of day (since any fixed moment) and the process's running time.
    #[must_use]
    pub fn new(wall: Duration, running: Duration) -> Self {
        Self { wall, running }
    }

    /// Compares the clocks at a tick; returns how long the machine slept since the last one, if it did.
    ///
    /// On some systems the second clock pauses during sleep and on others it does not, so the larger difference
    /// counts. A clock that was set forward looks like sleep, which is harmless: whatever is overdue by that
    /// clock is due.
    pub fn tick(&mut self, wall: Duration, running: Duration) -> Option<Duration> {
        // A clock that was set back gives no information.
        let elapsed = wall.saturating_sub(self.wall).max(running.saturating_sub(self.running));
        *self = Self { wall, running };
        let sleep = elapsed.saturating_sub(TICK);
        (sleep >= MIN_SLEEP).then_some(sleep)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn sleep_is_detected_from_either_clock() {
        for (wall, running, sleep) in [
            (s(1015), s(25), None),
            (s(1044), s(54), None),
            (s(1000 + 15 + 3600), s(25), Some(s(3600))),
            (s(1000 + 15 + 3600), s(10 + 15 + 3600), Some(s(3600))),
            (s(400), s(25), None),
            (s(400), s(10 + 15 + 60), Some(s(60))),
        ] {
            let mut detector = SleepDetector::new(s(1000), s(10));
            assert_eq!(detector.tick(wall, running), sleep, "{wall:?} {running:?}");
        }
    }

    #[test]
    fn each_sleep_is_reported_once() {
        let mut detector = SleepDetector::new(s(1000), s(0));
        assert!(detector.tick(s(9000), s(15)).is_some());
        assert!(detector.tick(s(9015), s(30)).is_none());
        assert!(detector.tick(s(1000), s(45)).is_none(), "the clock was set back by hours");
        assert!(detector.tick(s(1015), s(60)).is_none());
    }
}
