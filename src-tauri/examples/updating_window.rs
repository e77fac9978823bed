//! Octo's window with updates from a test's own server, signed with a test's own key: for tests of an update
//! from its offer to the new program. In a release both are part of the build.
//!
//! Its one argument is `--updates=` and the configuration as JSON. With other arguments it acts as `octo-cli`,
//! which Octo starts for its own children (documents, `rm`).

use std::{env, process::ExitCode};

fn main() -> ExitCode {
    if let Some(exit) = octo_cli::run_as_other_program(env::args_os()) {
        return exit;
    }
    let argument = env::args().nth(1);
    let updates = argument.as_deref().and_then(|argument| argument.strip_prefix("--updates="));
    match updates.and_then(|updates| serde_json::from_str(updates).ok()) {
        Some(updates) => octo_app::AppBuilder::default().with_updates(updates).run(),
        None => octo_cli::run(env::args_os()),
    }
}
