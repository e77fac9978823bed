//! A time that runs faster than the computer's, for what would take hours by the computer's own.

use octo_protocol::Millis;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How a program is told to go by it.
const ARGUMENT: &str = "--pace=";

/// A time that runs faster than the computer's from the moment it was made, the same for all who go by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastTime {
    epoch: Millis,
    speed: u32,
    /// How much time was left out in all.
    skipped: Millis,
}

impl FastTime {
    /// So many times as fast from now on.
    pub fn new(speed: u32) -> Self {
        Self { epoch: real(), speed, skipped: 0 }
    }

    /// What time it is.
    pub fn now(&self) -> Millis {
        self.epoch + (real() - self.epoch) * Millis::from(self.speed) + self.skipped
    }

    /// Time passes while no process goes by it: to the next one the computer was off.
    pub fn skip(&mut self, time: Millis) {
        self.skipped += time;
    }

    /// How much of it passes while so much of the computer's does.
    pub fn fast(&self, real: Duration) -> Duration {
        real * self.speed
    }

    /// How much of the computer's passes while so much of it does.
    pub fn real(&self, fast: Duration) -> Duration {
        fast / self.speed
    }

    /// The argument by which a program goes by it (an example that reads it with [`FastTime::read`]), with sessions
    /// that are idle after so much real time. The moment is said, not taken from the program's start, so that programs
    /// that follow one another, or run side by side, go by one time.
    pub fn argument(&self, idle_after: Duration) -> String {
        format!("{ARGUMENT}{},{},{},{}", self.epoch, self.speed, self.skipped, idle_after.as_millis())
    }

    /// What such an argument says; none where `argument` is another one.
    pub fn read(argument: &str) -> Option<(Self, Duration)> {
        let numbers: Option<Vec<Millis>> =
            argument.strip_prefix(ARGUMENT)?.split(',').map(|number| number.parse().ok()).collect();
        let [epoch, speed, skipped, idle] = numbers?[..] else { return None };
        let speed = u32::try_from(speed).ok().filter(|speed| *speed > 0)?;
        Some((Self { epoch, speed, skipped }, Duration::from_millis(idle.try_into().ok()?)))
    }
}

fn real() -> Millis {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970");
    Millis::try_from(now.as_millis()).expect("a time of this age")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_reads_what_it_was_told() {
        let mut time = FastTime::new(60);
        time.skip(5_000);
        let idle = Duration::from_millis(300);
        assert_eq!(FastTime::read(&time.argument(idle)), Some((time, idle)));
        for other in ["--pace=1,2,3", "--pace=1,0,3,4", "--pace=1,2,3,x", "1,2,3,4", "--pace=1,2,3,-4"] {
            assert_eq!(FastTime::read(other), None, "{other}");
        }
    }

    #[test]
    fn a_minute_is_an_hour() {
        let time = FastTime::new(60);
        let hour = Duration::from_secs(3_600);
        assert_eq!((time.real(hour), time.fast(time.real(hour))), (Duration::from_secs(60), hour));
    }
}
