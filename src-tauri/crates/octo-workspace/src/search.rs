//! Searching: files by name, lines by content.

mod glob;
mod grep;
mod walk;

pub use glob::{GlobFound, GlobQuery, glob, glob_base};
pub use grep::{Case, CutShort, FileHits, GrepFound, GrepQuery, grep};

use crate::FilesError;

/// Why a search could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// The base cannot be searched.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// The pattern is empty.
    #[error("The pattern is empty. Pattern cannot be empty.")]
    Empty,
    /// The pattern is not a pattern.
    #[error("The pattern is not valid: {reason}")]
    Pattern {
        /// What is wrong with it.
        reason: String,
    },
    /// The search was stopped.
    #[error("The search was stopped.")]
    Stopped,
}

/// Files that were looked over but not searched, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// They hold binary data.
    pub binary: u64,
    /// They are larger than the limit.
    pub too_large: u64,
    /// They hold secrets, by their names or by who closed them, and were not named.
    pub secret: u64,
    /// They were closed and are never touched.
    pub closed: u64,
    /// They or their folders cannot be read.
    pub unreadable: u64,
}

#[cfg(test)]
mod tests;
