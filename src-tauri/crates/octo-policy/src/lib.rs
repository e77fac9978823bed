//! The command policy decides which command lines and paths are allowed, asked about or refused.
//!
//! * [`assess`] decides about a command line: refuse it, ask, or run it, possibly rewritten. It parses the line as bash
//!   would and looks every command up in tables. A line with an unknown command asks.
//! * [`read_path`] and [`write_path`] decide about paths, for commands and tools alike, and [`PolicyPaths`]
//!   decides which paths stay closed to a search.
//! * [`Policy`] is the person's own policy, [`PolicyFile`] the `policy.toml` that contains it.
//! * [`unattended`] is the environment of a line that runs without approval: in it, words have the meaning that the
//!   policy assumed.
//!
//! The policy only advises: the caller grants permission. It inspects folders but starts no process and reads no
//! variables: its caller queries git for it ([`GitQuery`]) and hands in the login shell's variables
//! ([`StartupFiles`]).

mod bash;
mod changes;
mod context;
mod deny;
mod environment;
mod file;
mod folder;
mod follow;
mod footprint;
mod found;
mod grammar;
mod judge;
mod language;
mod lasting;
mod log;
mod names;
mod paths;
mod placement;
mod plain;
mod programs;
mod rewrite;
mod risk;
mod roles;
mod rules;
mod running;
mod scan;
mod script;
mod search;
mod sole;
mod startup;
mod targets;
mod touched;
mod tree;
mod verdict;

#[cfg(test)]
mod tests;

pub use context::LineContext;
pub use environment::{PATTERN_SETUP, Variables, unattended};
pub use file::{
    CommandRules, NetworkRules, PathRules, Policy, PolicyChange, PolicyChangeError, PolicyContent,
    PolicyFault, PolicyFile, PolicyReading, PolicyRules, RuleFault,
};
pub use folder::GitQuery;
pub use footprint::{Footprint, NameChange, Reliance};
pub use language::Language;
pub use lasting::{LastingPart, typed};
pub use log::{DecisionEntry, DecisionLog, LoggedVerdict};
pub use paths::{OpenPaths, PathVerdict, PolicyPaths, read_path, write_path};
pub use programs::known_programs;
pub use roles::FileRole;
pub use running::{RunningCall, RunningCallEntry, RunningCalls};
pub use sole::{sole_command, would_start};
pub use startup::{StartupFiles, login_startup_files};
pub use targets::RoleChange;
pub use touched::TouchedPaths;
pub use verdict::{Assessment, Doubtful, PolicyContext, Verdict, assess};
