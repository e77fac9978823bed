//! Octo's window with a clock that runs faster, for tests of long use that would otherwise take hours.
//!
//! Its one argument is [`FastTime::argument`]. With other arguments it acts as `octo-cli`, which Octo starts
//! for its own children (documents, `rm`).

use std::{env, process::ExitCode};

#[path = "../crates/octo-testkit/shared/fast_clock.rs"]
mod fast_clock;

fn main() -> ExitCode {
    if let Some(exit) = octo_cli::run_as_other_program(env::args_os()) {
        return exit;
    }
    match fast_clock::of_argument() {
        Some((clock, idle)) => octo_app::AppBuilder::default().with_clock(clock, idle).run(),
        None => octo_cli::run(env::args_os()),
    }
}
