//! Output: what a program wrote to its terminal, made into text.
//!
//! The bytes go through a terminal parser ([`screen`]): carriage returns and backspaces overwrite, colours are
//! kept apart, everything else that only a screen understands is dropped. The cleaned lines then go four ways:
//! to the model (head and tail, no colours), to the person's card (the same, larger, with colours), to a log
//! file when the model does not get all of it, and live to whoever watches.

mod excerpt;
mod live;
mod log;
mod screen;
mod transcript;

pub(crate) use log::LogFile;
pub(crate) use transcript::{Excerpts, Stage, Transcript};

/// Bytes of a command's output the model is shown: about 3,000 tokens. Enough for the errors of a build, little
/// enough that ten such results do not crowd out a conversation; the rest is in the log file.
pub const MODEL_OUTPUT_BYTES: usize = 12_000;

/// Bytes of a command's output a card shows.
pub const VIEW_OUTPUT_BYTES: usize = 64 * 1024;
