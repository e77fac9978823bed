//! Paths a person closes, in addition to names that are secret anyway.

use std::{fmt, path::Path};

/// The restriction on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathRestriction {
    /// None.
    No,
    /// The path counts as secret: only a grant for it allows access.
    Secret,
    /// The path is never accessed, regardless of grants.
    Denied,
}

/// The closed paths. Searches query it for thousands of real paths (see [`crate::resolve`]).
pub trait ClosedPaths: fmt::Debug + Send + Sync {
    /// Returns the restriction of this path.
    fn restriction(&self, path: &Path) -> PathRestriction;
}
