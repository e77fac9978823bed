//! `octo-cli serve` by a clock that runs faster: for campaigns that would take hours by the computer's own.
//!
//! Arguments: from which moment on it runs faster (milliseconds since 1970), how many times as fast, how far it was put
//! forward besides (in milliseconds), and after how many milliseconds a session counts as idle. The moment is said, not
//! taken from the start, so that processes that follow one another, or run side by side, go by one time. Without arguments it is `octo-cli` itself, which is what Octo
//! starts for its own children (documents, `rm`).
#![expect(clippy::print_stderr, reason = "an example says what it was not told")]

use octo_core::Clock;
use std::{
    env,
    pin::Pin,
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// A clock that has run `speed` times as fast since `epoch`, and was put forward by `skipped`.
struct FastClock {
    epoch: i64,
    speed: u32,
    skipped: i64,
    begun: Instant,
}

impl Clock for FastClock {
    fn now(&self) -> i64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let passed = i64::try_from(now.as_millis()).unwrap_or(i64::MAX).saturating_sub(self.epoch);
        self.epoch.saturating_add(self.skipped).saturating_add(passed.saturating_mul(i64::from(self.speed)))
    }

    fn steady(&self) -> Duration {
        self.begun.elapsed() * self.speed
    }

    fn wait(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(tokio::time::sleep(time / self.speed))
    }
}

fn main() -> ExitCode {
    if let Some(exit) = octo_cli::stand_in(env::args_os()) {
        return exit;
    }
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [epoch, speed, skipped, idle] = arguments.as_slice() else { return octo_cli::run(env::args_os()) };
    match (epoch.parse(), speed.parse(), skipped.parse(), idle.parse()) {
        (Ok(epoch), Ok(speed @ 1..), Ok(skipped), Ok(idle)) => {
            let clock = FastClock { epoch, speed, skipped, begun: Instant::now() };
            octo_cli::serve_by_clock(Arc::new(clock), Duration::from_millis(idle))
        }
        _ => {
            eprintln!(
                "four numbers are wanted: the moment, how many times as fast, how far put forward, idle after"
            );
            ExitCode::from(2)
        }
    }
}
