//! Commands: one PTY child each, cleaned output, and their confinement.
//!
//! Which commands may run is the subject of the crate `octo-policy`; [`startup_files`] is what it needs to know of the
//! system.
//!
//! * [`Shell`] runs a session's commands. Every command is a separate `bash` with a separate terminal, in the
//!   person's login environment; it ends when that `bash` ends, so Octo guesses nothing from its output. When a
//!   command ends, it writes the state a person expects to persist between lines (the directory, exported
//!   variables, functions), and the session's next command starts with it. A command that outlives the wait for
//!   it continues in the background; [`BackgroundNews`] reports on it.
//! * [`HookProgram`] runs a program of the person's own (a hook) outside the session's commands.
//! * [`Confinement`] is the access the operating system then allows a command.

mod confine;
mod environment;
mod error;
mod hook_program;
mod interpreter;
mod network;
mod output;
mod report;
mod shell;
#[cfg(test)]
#[cfg(unix)]
mod testing;

pub use confine::{Confinement, Enforcement, is_available as confines};
pub use environment::{LoginEnvironment, LoginSandbox, startup_files};
pub use error::ShellError;
pub use hook_program::{HookProgram, HookProgramEnd};
pub use interpreter::language;
pub use network::try_network;
pub use octo_keeper::Supervision;
pub use octo_network::Gate as NetworkGate;
pub use output::{MODEL_OUTPUT_BYTES, VIEW_OUTPUT_BYTES};
pub use report::{
    BackgroundNews, CarryScope, CommandReport, CommandRun, LiveSink, NewsListener, ProcessInput, RunGuard,
    RunMode,
};
pub use shell::{
    COMMAND_TIME_LIMIT, ClosedFolders, DEFAULT_WAIT, Removals, START_WINDOW, Shell, ShellConfig, prune_logs,
};
