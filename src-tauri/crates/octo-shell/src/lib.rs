//! Commands: one PTY child each, cleaned output, and the policy that decides which may run without asking.
//!
//! * [`Shell`] runs a session's commands. Every command is a separate `bash` with a separate terminal, in the
//!   person's login environment; it ends when that `bash` ends, so Octo guesses nothing from its output. When a
//!   command ends, it writes the state a person expects to persist between lines (the directory, exported
//!   variables, functions), and the session's next command starts with it. A command that outlives the wait for
//!   it continues in the background; [`BackgroundNews`] reports on it.
//! * [`assess`] decides about a command line: refuse it, ask, or run it, possibly with replacements;
//!   [`read_path`] and [`write_path`] decide about paths, for commands and tools alike, and [`PolicyPaths`]
//!   decides which paths stay closed to a search; [`Policy`] is the person's own policy, [`PolicyFile`] the
//!   `policy.toml` that contains it. They only advise: the caller grants permission.
//! * [`HookProgram`] runs a program of the person's own (a hook) outside the session's commands.
//! * [`Confinement`] is the access the operating system then allows a command.

mod aside;
mod confine;
mod environment;
mod error;
mod language;
mod output;
mod policy;
mod report;
mod shell;

pub use aside::{HookProgram, HookProgramEnd};
pub use confine::{Confinement, Enforcement, is_available as confines, temporary_folders};
pub use environment::LoginEnvironment;
pub use error::ShellError;
pub use language::{Language, language};
pub use output::{MODEL_OUTPUT_BYTES, VIEW_OUTPUT_BYTES};
pub use policy::{
    Assessment, CommandRules, DecisionEntry, DecisionLog, Doubtful, LastingPart, LineContext, LoggedVerdict,
    OpenPaths, PathRules, PathVerdict, Policy, PolicyChange, PolicyChangeError, PolicyContent, PolicyContext,
    PolicyFault, PolicyFile, PolicyPaths, PolicyReading, PolicyRules, RuleFault, StartupFiles, TouchedPaths,
    Verdict, assess, read_path, sole_command, typed, would_start, write_path,
};
pub use report::{
    BackgroundNews, CarryScope, CommandReport, CommandRun, LiveSink, NewsListener, ProcessInput, RunMode,
};
pub use shell::{COMMAND_TIME_LIMIT, DEFAULT_WAIT, Removals, START_WINDOW, Shell, ShellConfig, prune_logs};
