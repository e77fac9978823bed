//! Octo without a window: `exec` runs one turn, `serve` serves the protocol over standard input and output.
//!
//! The `octo-cli` binary contains only this library; the desktop binary passes its arguments here when the
//! first of them is `exec` or `serve`.

mod args;
mod exec;
mod exit;
mod feed;
mod model;
mod output;
mod serve;
mod signals;

use args::{CliArguments, CliCommand};
use clap::Parser;
use exit::Exit;
use octo_core::Clock;
use octo_workspace::rm;
use output::print_error_line;
use std::{ffi::OsString, process::ExitCode, sync::Arc, time::Duration};

/// First argument of a child process that reads a document; see
/// [`octo_documents::DocumentReader::from_this_program`].
pub const READ_DOCUMENT: &str = "read-document";

/// Runs as another program if the process was started as one: `rm` and `unlink` of a session's commands are
/// links to this program (see [`octo_workspace::rm`]), and the keeper is started by an argument (see
/// [`octo_keeper::run_as_keeper`]). Returns `None` otherwise. Call it before any other setup: a script may
/// start thousands of such processes, and the keeper must have a single thread.
pub fn run_as_other_program(args: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let args: Vec<OsString> = args.into_iter().collect();
    if let Some(exit) = octo_keeper::run_as_keeper(args.clone()) {
        return Some(exit);
    }
    let mut args = args.into_iter();
    let program = rm::RmProgram::named(&args.next()?)?;
    let arguments: Vec<OsString> = args.collect();
    Some(ExitCode::from(rm::run(program, &arguments)))
}

/// Runs the headless form with the process's arguments; the first is the program's name.
///
/// Exit status: 0 finished, 1 failed (message on standard error), 2 wrong usage, 130 interrupted.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    // A child process that reads one document does nothing else, so nothing else is set up.
    let args: Vec<OsString> = args.into_iter().collect();
    if let [_, argument, format] = args.as_slice()
        && argument == READ_DOCUMENT
    {
        return octo_documents::serve(&format.to_string_lossy());
    }
    let arguments = match CliArguments::try_parse_from(args) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and the version are "errors" in clap too; a closed standard output is ignored.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    match arguments.command {
        CliCommand::Exec(exec) => run_to_completion(exec::exec(exec)),
        CliCommand::Serve => run_to_completion(serve::serve(serve::ServeTiming::default())),
    }
}

/// Runs `serve` with another clock, which decides when scheduled tasks run, and another idle time of sessions:
/// effects of hours become visible in minutes.
pub fn serve_with_clock(clock: Arc<dyn Clock>, idle_after: Duration) -> ExitCode {
    run_to_completion(serve::serve(serve::ServeTiming { clock, idle_after }))
}

fn run_to_completion(future: impl Future<Output = Exit>) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            print_error_line(&error.to_string());
            return Exit::Failed.into();
        }
    };
    let exit = runtime.block_on(future);
    // A thread that still blocks (reading standard input) must not keep the process alive.
    runtime.shutdown_background();
    exit.into()
}
