//! The installed binary: the window, or with `exec` and `serve` the same agent without one.

// A release build on Windows opens no console next to the window.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

use std::process::ExitCode;

/// First arguments that select the headless program (or a child that reads one document); any other opens the
/// window.
const HEADLESS: &[&str] =
    &["exec", "serve", octo_cli::READ_DOCUMENT, "help", "-h", "--help", "-V", "--version"];

fn main() -> ExitCode {
    if let Some(exit) = octo_cli::run_as_other_program(std::env::args_os()) {
        return exit;
    }
    let headless =
        std::env::args_os().nth(1).is_some_and(|argument| HEADLESS.iter().any(|option| argument == *option));
    if headless { octo_cli::run(std::env::args_os()) } else { octo_app::run() }
}
