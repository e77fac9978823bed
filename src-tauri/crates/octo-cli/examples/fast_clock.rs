//! `octo-cli serve` by a clock that runs faster: for campaigns that would take hours by the computer's own.
//!
//! Its one argument is [`FastTime::argument`]. With others it is `octo-cli` itself, which is what Octo starts for its own
//! children (documents, `rm`).

use std::{env, process::ExitCode};

#[path = "../../octo-testkit/shared/fast_clock.rs"]
mod fast_clock;

fn main() -> ExitCode {
    if let Some(exit) = octo_cli::run_as_other_program(env::args_os()) {
        return exit;
    }
    match fast_clock::of_argument() {
        Some((clock, idle)) => octo_cli::serve_with_clock(clock, idle),
        None => octo_cli::run(env::args_os()),
    }
}
