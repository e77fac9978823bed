//! Searches: files by name, lines by content.

mod glob;
mod grep;
mod walk;

pub use glob::{GlobMatches, GlobQuery, glob, glob_base};
pub use grep::{CaseSensitivity, FileHits, GrepMatches, GrepQuery, ReachedLimit, grep};

use crate::FilesError;

/// The reason why a search failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// The base cannot be searched.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// The pattern is empty.
    #[error("The pattern is empty. Pattern cannot be empty.")]
    Empty,
    /// The pattern is invalid.
    #[error("The pattern is not valid: {reason}")]
    Pattern {
        /// The reason.
        reason: String,
    },
    /// The search was stopped.
    #[error("The search was stopped.")]
    Stopped,
}

/// The numbers of files that were visited but not searched, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SkippedFiles {
    /// Files with binary data.
    pub binary: u64,
    /// Files larger than the limit.
    pub too_large: u64,
    /// Files that count as secret, by their names or by the person's rules, and were not named.
    pub secret: u64,
    /// Closed files that are never touched.
    pub closed: u64,
    /// Files or folders that cannot be read.
    pub unreadable: u64,
}

#[cfg(test)]
mod tests;
