//! Extracts text from documents: PDF, Word, spreadsheets, PowerPoint and archives' lists of entries.
//!
//! Documents come from strangers, and their formats let a few kilobytes demand any amount of time and memory.
//! So reading is split between two processes: [`serve`] is the whole of a child process, which first binds
//! itself to limits enforced by the system and then reads one document from its standard input; [`DocumentReader`]
//! starts such a child, passes it the open file and receives the text. A document that breaks the reader ends
//! only the child.
//!
//! The child has a limit on memory (Linux; on systems without such a limit, only on the data read and written),
//! on processor time, and on open files, and it cannot write files. The parent adds a limit on time and on the
//! received text.

mod archive;
mod capped;
mod child;
mod format;
mod office_parts;
mod parent;
mod pdf;
mod presentation;
mod sheet;
mod table;
#[cfg(test)]
mod tests;
mod word;
mod xml;

pub use child::serve;
pub use format::Format;
pub use parent::{DocumentReader, DocumentSource};

use serde::{Deserialize, Serialize};
use std::io;

/// Reason why a document's text cannot be read. The messages are for the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum DocumentError {
    /// The bytes do not follow the format.
    #[error("it is damaged or not what its name says ({0})")]
    Broken(String),
    /// It opens only with a password.
    #[error("it is protected by a password")]
    Locked,
    /// It contains nothing to read.
    #[error("{0}")]
    NoText(String),
    /// It exceeds the maximum size.
    #[error("it is larger than {0} MB, the most that is read")]
    TooLarge(u64),
    /// Octo has no reader for it.
    #[error("Octo has no reader of its own for {0}")]
    NoReader(String),
    /// The reader was ended because it took too long or used too much memory.
    #[error("reading it {0}")]
    Limit(String),
    /// The reader could not be started, or ended unexpectedly.
    #[error("the reader failed: {0}")]
    Failed(String),
    /// The caller stopped the reading.
    #[error("reading it was stopped")]
    Stopped,
}

impl From<io::Error> for DocumentError {
    fn from(error: io::Error) -> Self {
        Self::Broken(error.to_string())
    }
}
