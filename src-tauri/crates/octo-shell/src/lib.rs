//! Commands: one PTY child each, cleaned output, and the policy that says which may run unasked.
//!
//! * [`Shell`] runs a session's commands. Every command is a `bash` of its own with a terminal of its own, in
//!   the person's login environment; it is over when that `bash` is, so nothing is guessed from its output.
//!   What a person expects to last from one line to the next (the directory, exported variables, functions)
//!   is written by the command when it ends and given to the session's next one.
//!   A command that outlives the wait for it goes on in the background; [`News`] tells what becomes of it.
//! * [`assess`] says what is to be done with a command line: refuse it, ask, or let it run, and with what in its
//!   place; [`read_path`] and [`write_path`] say the same about paths, for commands and tools alike, and
//!   [`PolicyPaths`] which paths stay closed to a search; [`Policy`] is the person's own, [`PolicyFile`] the
//!   `policy.toml` it is in. They decide nothing by themselves: permission is the caller's.
//! * [`Aside`] runs a program of the person's own (a hook) beside the session.
//! * [`Confinement`] is what the system itself then lets a command touch.

mod aside;
mod confine;
mod environment;
mod error;
mod language;
mod output;
mod policy;
mod report;
mod shell;

pub use aside::{Aside, AsideEnd};
pub use confine::{Confinement, Enforced, is_available as confines, temporary_folders};
pub use environment::LoginEnvironment;
pub use error::ShellError;
pub use language::{Language, language};
pub use output::{MODEL_OUTPUT_BYTES, VIEW_OUTPUT_BYTES};
pub use policy::{
    Around, Assessment, CommandRules, DecisionEntry, DecisionLog, Doubtful, Known, Lasts, LoggedVerdict,
    Open, PathRules, PathVerdict, Policy, PolicyChange, PolicyChangeError, PolicyContent, PolicyFault,
    PolicyFile, PolicyPaths, PolicyReading, PolicyRules, RuleFault, Standing, StartupFiles, Verdict, assess,
    read_path, sole_command, typed, would_start, write_path,
};
pub use report::{Carried, Input, Listener, Live, News, Pace, Report, Run};
pub use shell::{CEILING, DEFAULT_WAIT, Removals, START_WINDOW, Shell, ShellConfig, prune_logs};
