//! `octo-cli serve` by a clock that runs faster than the computer's own.

use crate::support::{BINARY, environment};
use octo_protocol::Millis;
use octo_testkit::{Serve, TempHome};
use std::{
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

pub const MINUTE: Millis = 60_000;

/// A time that runs faster than the computer's from the moment it was made, the same for all who go by it.
#[derive(Clone, Copy, Debug)]
pub struct FastTime {
    epoch: Millis,
    /// How much time was left out in all.
    skipped: Millis,
    speed: u32,
}

impl FastTime {
    pub fn new(speed: u32) -> Self {
        Self { epoch: real(), skipped: 0, speed }
    }

    /// What time it is.
    pub fn now(&self) -> Millis {
        self.epoch + (real() - self.epoch) * Millis::from(self.speed) + self.skipped
    }

    /// Time passes while no process goes by it: to the next one the computer was off.
    pub fn skip(&mut self, time: Millis) {
        self.skipped += time;
    }

    /// A process that goes by it, with sessions that are idle after so much real time.
    pub fn serve(&self, home: &TempHome, idle_after: Duration) -> Serve {
        let idle = Millis::try_from(idle_after.as_millis()).expect("a while");
        let arguments = [self.epoch, Millis::from(self.speed), self.skipped, idle];
        Serve::start(&binary(), arguments.map(|number| number.to_string()), environment(home))
    }
}

/// The example beside the binary, which cargo builds with the tests.
fn binary() -> PathBuf {
    let binary = Path::new(BINARY);
    let name = format!("fast_clock{}", std::env::consts::EXE_SUFFIX);
    let example = binary.with_file_name("examples").join(name);
    assert!(example.exists(), "{} is not built: cargo build -p octo-cli --examples", example.display());
    example
}

fn real() -> Millis {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970");
    Millis::try_from(now.as_millis()).expect("a time of this age")
}
