//! Programs of the person's own at certain moments of a session: `hooks.toml` in Octo's home.
//!
//! ```toml
//! [[hook]]
//! on = "before_tool"              # session_start, before_tool, after_tool, error, finish
//! tools = ["terminal", "write"]   # for the two about tools; left out, for all
//! command = "~/bin/check-command"
//! seconds = 10                    # at most 60
//! ```
//!
//! A hook reads one JSON object on its standard input and may answer with one: `{"deny": "why"}` before a tool, and
//! `{"context": "words for the model"}` before or after one and at a session's start. An exit status of 2 denies as
//! well, with what it said on standard error. Everything that goes wrong with a hook before a tool (another status,
//! an answer that is none, time that is over, a `hooks.toml` that cannot be read) denies the call: a check that did
//! not happen is not a yes. Elsewhere it is logged and changes nothing.
//!
//! The file is read each time, so a change holds at once. The model may not
//! write it in any mode.

mod file;
mod run;

use file::HookFile;
pub(crate) use file::Moment;
pub(crate) use run::{Heard, Hooks};

#[cfg(test)]
#[cfg(unix)]
mod tests;
