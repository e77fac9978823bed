//! Commands: one PTY child each, cleaned output, and the policy that says which may run unasked.
//!
//! * [`Shell`] runs a session's commands. Every command is a `bash` of its own with a terminal of its own, in
//!   the person's login environment; it is over when that `bash` is, so nothing is guessed from its output.
//!   What a person expects to last from one line to the next (the directory, exported variables, functions)
//!   is written by the command when it ends and given to the session's next one.
//! * [`judge`] says whether a command line is known to only read, [`allowed_by`] whether rules the person gave
//!   cover it; [`judge_at`] and [`allowed_at`] look at the folder as well. They decide nothing by themselves:
//!   permission is the caller's.

mod environment;
mod error;
mod output;
mod policy;
mod report;
mod shell;

pub use environment::LoginEnvironment;
pub use error::ShellError;
pub use output::{MODEL_OUTPUT_BYTES, VIEW_OUTPUT_BYTES};
pub use policy::{Judgement, Permitted, allowed_at, allowed_by, judge, judge_at};
pub use report::{Carried, Input, Live, Report, Run};
pub use shell::{DEFAULT_WAIT, Removals, Shell, ShellConfig};
