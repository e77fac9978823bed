//! The time of day, and a clock that tests may replace.

use futures::future::BoxFuture;
use octo_protocol::Millis;
use std::time::{Duration, Instant};

/// Provides the time and waits for it.
pub trait Clock: Send + Sync {
    /// Returns the computer's time of day. It may be wrong, the person may set it, and it jumps when the computer
    /// wakes.
    fn now(&self) -> Millis;

    /// Returns the running time of this process: it only grows, and pauses while the computer sleeps.
    fn steady(&self) -> Duration;

    /// Waits for about this time; the wait may end earlier.
    fn wait(&self, time: Duration) -> BoxFuture<'static, ()>;
}

/// The computer's own clock.
#[derive(Debug)]
pub struct SystemClock(Instant);

impl Default for SystemClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Millis {
        now()
    }

    fn steady(&self) -> Duration {
        self.0.elapsed()
    }

    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}

/// Returns the time of day in the stored form: milliseconds since 1970, UTC.
pub fn now() -> Millis {
    jiff::Timestamp::now().as_millisecond()
}
