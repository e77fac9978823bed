//! The core's clock by a time that runs faster. Part of each example that goes by it: what the examples stand on does not
//! know the core.

use octo_core::Clock;
use octo_testkit::FastTime;
use std::{
    pin::Pin,
    sync::Arc,
    time::{Duration, Instant},
};

/// A clock that runs as the only argument says, and after how long a session is idle; none where that is another one.
pub fn of_argument() -> Option<(Arc<dyn Clock>, Duration)> {
    let (time, idle) = std::env::args().nth(1).as_deref().and_then(FastTime::from_argument)?;
    Some((Arc::new(FastClock { time, begun: Instant::now() }), idle))
}

struct FastClock {
    time: FastTime,
    begun: Instant,
}

impl Clock for FastClock {
    fn now(&self) -> i64 {
        self.time.now()
    }

    fn steady(&self) -> Duration {
        self.time.to_fast(self.begun.elapsed())
    }

    fn wait(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(tokio::time::sleep(self.time.to_real(time)))
    }
}
