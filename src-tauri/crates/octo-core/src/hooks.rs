//! The person's own programs, run at certain moments of a session: `hooks.toml` in Octo's home.
//!
//! ```toml
//! [[hook]]
//! on = "before_tool"              # session_start, before_tool, after_tool, error, finish
//! tools = ["terminal", "write"]   # for the two about tools; left out, for all
//! command = "~/bin/check-command"
//! seconds = 10                    # at most 60
//! ```
//!
//! A hook reads one JSON object on standard input and may answer with one: `{"deny": "why"}` before a tool, and
//! `{"context": "words for the model"}` before or after a tool and at a session's start. Exit status 2 also
//! denies, with the text on standard error as the reason. Any fault of a hook before a tool (another status, an
//! invalid answer, a timeout, an unreadable `hooks.toml`) denies the call: a check that did not happen is not a
//! yes. Other hooks' faults are logged and change nothing.
//!
//! The file is read each time, so a change applies at once. The model may not write it in any mode.

mod file;
mod run;

use file::HookFile;
pub(crate) use file::HookMoment;
pub(crate) use run::{HookVerdict, Hooks};

#[cfg(test)]
#[cfg(unix)]
mod tests;
