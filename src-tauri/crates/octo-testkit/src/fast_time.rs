//! A clock that runs faster than real time, for tests that would otherwise take hours.

use octo_protocol::Millis;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Argument that makes a program use the fast clock.
const ARGUMENT: &str = "--pace=";

/// A clock that runs faster than real time from its creation on; all programs that use it agree on the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastTime {
    epoch: Millis,
    speed: u32,
    /// Total time skipped.
    skipped: Millis,
}

impl FastTime {
    /// Creates a clock that runs `speed` times as fast from now on.
    pub fn new(speed: u32) -> Self {
        Self { epoch: real_now(), speed, skipped: 0 }
    }

    /// Returns the current time.
    pub fn now(&self) -> Millis {
        self.epoch + (real_now() - self.epoch) * Millis::from(self.speed) + self.skipped
    }

    /// Skips time while no process uses the clock; the next process sees it as time the computer was off.
    pub fn skip(&mut self, time: Millis) {
        self.skipped += time;
    }

    /// Returns the fast time that passes in this much real time.
    pub fn to_fast(&self, duration: Duration) -> Duration {
        duration * self.speed
    }

    /// Returns the real time in which this much fast time passes.
    pub fn to_real(&self, fast: Duration) -> Duration {
        fast / self.speed
    }

    /// Returns the argument that makes a program (an example that reads it with [`FastTime::from_argument`]) use this
    /// clock, with sessions that are idle after `idle_after` of real time. The argument carries the start
    /// moment, so that programs that run in succession or in parallel share one time.
    pub fn to_argument(&self, idle_after: Duration) -> String {
        format!("{ARGUMENT}{},{},{},{}", self.epoch, self.speed, self.skipped, idle_after.as_millis())
    }

    /// Parses such an argument; returns `None` for any other argument.
    pub fn from_argument(argument: &str) -> Option<(Self, Duration)> {
        let numbers: Option<Vec<Millis>> =
            argument.strip_prefix(ARGUMENT)?.split(',').map(|number| number.parse().ok()).collect();
        let [epoch, speed, skipped, idle] = numbers?[..] else { return None };
        let speed = u32::try_from(speed).ok().filter(|speed| *speed > 0)?;
        Some((Self { epoch, speed, skipped }, Duration::from_millis(idle.try_into().ok()?)))
    }
}

fn real_now() -> Millis {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970");
    Millis::try_from(time.as_millis()).expect("a time of this age")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_reads_its_fast_time_argument() {
        let mut time = FastTime::new(60);
        time.skip(5_000);
        let idle = Duration::from_millis(300);
        assert_eq!(FastTime::from_argument(&time.to_argument(idle)), Some((time, idle)));
        for malformed in ["--pace=1,2,3", "--pace=1,0,3,4", "--pace=1,2,3,x", "1,2,3,4", "--pace=1,2,3,-4"] {
            assert_eq!(FastTime::from_argument(malformed), None, "{malformed}");
        }
    }

    #[test]
    fn a_minute_is_an_hour() {
        let time = FastTime::new(60);
        let hour = Duration::from_secs(3_600);
        assert_eq!((time.to_real(hour), time.to_fast(time.to_real(hour))), (Duration::from_secs(60), hour));
    }
}
