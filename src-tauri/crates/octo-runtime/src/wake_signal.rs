//! Pauses that end at their due time of day, even if the machine sleeps meanwhile.
//!
//! While a machine sleeps, the clock of timers stops on most systems. Code that notices the wake-up reports it,
//! and every pause then checks the time of day.

use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

/// Signals to pauses that the machine slept.
#[derive(Debug)]
pub struct WakeSignal(watch::Sender<u64>);

impl Default for WakeSignal {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl WakeSignal {
    /// Reports that the machine slept or its clock was set.
    pub fn notify(&self) {
        self.0.send_modify(|times| *times += 1);
    }

    /// Waits for this time, including sleep of the machine.
    pub async fn pause(&self, time: Duration) {
        self.pause_by(time, || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()).await;
    }

    async fn pause_by(&self, time: Duration, now: impl Fn() -> Duration) {
        let mut woken = self.0.subscribe();
        let due = now() + time;
        let mut remaining = time;
        loop {
            tokio::select! {
                () = tokio::time::sleep(remaining) => return,
                changed = woken.changed() => match changed {
                    // A clock that was set back makes no pause longer than planned.
                    Ok(()) => remaining = due.saturating_sub(now()).min(time),
                    Err(_) => return,
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    const HOUR: u64 = 3600;

    /// Returns how long a pause of an hour lasts by the timers' clock, if after `awake` seconds of it the time
    /// of day says `wall` seconds and the pause is notified.
    async fn lasts(awake: u64, wall: u64) -> u64 {
        let waking = WakeSignal::default();
        let clock = AtomicU64::new(1_000_000);
        let started = tokio::time::Instant::now();
        let pause =
            waking.pause_by(Duration::from_secs(HOUR), || Duration::from_secs(clock.load(Ordering::Relaxed)));
        let timer = async {
            tokio::time::sleep(Duration::from_secs(awake)).await;
            clock.store(wall, Ordering::Relaxed);
            waking.notify();
        };
        tokio::join!(pause, timer);
        started.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_ends_at_its_wall_clock_time() {
        assert_eq!(lasts(60, 1_000_000 + 2 * HOUR).await, 60, "slept past its end");
        assert_eq!(lasts(60, 1_000_000 + 1800).await, 60 + 1800, "half of it was slept through");
        assert_eq!(lasts(60, 1_000_060).await, HOUR, "told for nothing");
        assert_eq!(lasts(60, 5).await, 60 + HOUR, "the clock was set back");
    }
}
