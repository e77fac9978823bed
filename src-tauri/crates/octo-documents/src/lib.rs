//! Text out of documents: PDF, Word, spreadsheets, PowerPoint and archives' lists of entries.
//!
//! Documents come from strangers, and their formats let a few kilobytes ask for any amount of time and memory.
//! So they are read in two halves: [`serve`] is the whole of a child process, which first binds itself to limits
//! the system enforces and then reads one document from its standard input; [`Reader`] starts such a child,
//! hands it the open file and takes the text. A document that breaks the reader ends the child and nothing else.
//!
//! What holds in the child: a limit on memory (Linux; where the system knows no such limit, only on what is read
//! and written), on processor time, on files it may open, and that it writes no file. The parent adds a limit on
//! time and on the text it takes.

mod archive;
mod capped;
mod child;
mod format;
mod parent;
mod pdf;
mod presentation;
mod sheet;
mod table;
#[cfg(test)]
mod tests;
mod word;
mod xml;
mod zipped;

pub use child::serve;
pub use format::Format;
pub use parent::{Reader, Reading};

use serde::{Deserialize, Serialize};
use std::io;

/// Why a document gave no text. The words are for the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum DocumentError {
    /// The bytes are not what the format asks for.
    #[error("it is damaged or not what its name says ({0})")]
    Broken(String),
    /// It opens only with a password.
    #[error("it is protected by a password")]
    Locked,
    /// There is nothing to read in it.
    #[error("{0}")]
    NoText(String),
    /// It is larger than what is read.
    #[error("it is larger than {0} MB, the most that is read")]
    TooLarge(u64),
    /// There is no reader for it here.
    #[error("Octo has no reader of its own for {0}")]
    NoReader(String),
    /// The reader was ended because it took too long or wanted too much.
    #[error("reading it {0}")]
    Limit(String),
    /// The reader could not be started, or ended in a way it never should.
    #[error("the reader failed: {0}")]
    Failed(String),
    /// Reading was stopped from outside.
    #[error("reading it was stopped")]
    Stopped,
}

impl From<io::Error> for DocumentError {
    fn from(error: io::Error) -> Self {
        Self::Broken(error.to_string())
    }
}
