//! Output: converts the bytes a program wrote to its terminal to text.
//!
//! The bytes pass through a terminal parser ([`screen`]): carriage returns and backspaces overwrite, colours
//! are kept separately, and everything else that needs a screen is dropped. The cleaned lines then have four
//! destinations: the model (head and tail, no colours), the person's card (the same, larger, with colours), a
//! log file if the model does not get all of it, and live listeners.

mod excerpt;
mod live;
mod log;
mod screen;
mod transcript;

pub(crate) use log::LogFile;
pub(crate) use transcript::{CommandStage, Excerpts, Transcript};

/// The bytes of a command's output shown to the model: about 3,000 tokens. Enough for the errors of a build,
/// and small enough that ten such results do not crowd out a conversation; the rest is in the log file.
pub const MODEL_OUTPUT_BYTES: usize = 12_000;

/// The bytes of a command's output shown on a card.
pub const VIEW_OUTPUT_BYTES: usize = 64 * 1024;
