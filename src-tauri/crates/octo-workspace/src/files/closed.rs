//! What a person closes besides what is secret by its name.

use std::{fmt, path::Path};

/// What is said about touching a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// Nothing.
    No,
    /// It counts as secret: only who was granted it may touch it.
    Secret,
    /// It is never touched, whatever was granted.
    Denied,
}

/// The paths somebody closed. Asked of real paths (see [`crate::resolve`]), of thousands in one search.
pub trait ClosedPaths: fmt::Debug + Send + Sync {
    /// What is said about this path.
    fn closed(&self, path: &Path) -> Closed;
}
