//! `octo-cli serve` with a clock that runs faster than real time.

use crate::support::{BINARY, environment};
use octo_protocol::Millis;
use octo_testkit::{FastTime, ServeProcess, TempHome};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

pub const MINUTE: Millis = 60_000;

/// Starts a process that uses this clock, with sessions that are idle after `idle_after` of real time.
pub fn serve(time: &FastTime, home: &TempHome, idle_after: Duration) -> ServeProcess {
    ServeProcess::start(&binary(), [time.to_argument(idle_after)], environment(home))
}

/// Returns the example next to the binary, which cargo builds with the tests.
fn binary() -> PathBuf {
    let binary = Path::new(BINARY);
    let name = format!("fast_clock{}", std::env::consts::EXE_SUFFIX);
    let example = binary.with_file_name("examples").join(name);
    assert!(example.exists(), "{} is not built: cargo build -p octo-cli --examples", example.display());
    example
}
