//! The trash as a tool reaches it.

use crate::ToolError;
use futures::future::BoxFuture;
use octo_protocol::{TrashEntry, TrashId, TrashTotals};
use octo_workspace::TrashError;
use std::path::{Path, PathBuf};

/// What was deleted and can be brought back. Every look sees what commands have removed up to now.
pub trait Trashcan: Send + Sync {
    /// Files, those of the project first, each newest first; at most `limit`.
    fn files(&self, project: &Path, limit: u32) -> BoxFuture<'static, Result<TrashListing, ToolError>>;

    /// Files that were at exactly this path, newest first.
    fn at_path(&self, path: &Path) -> BoxFuture<'static, Result<Vec<TrashFile>, ToolError>>;

    /// One file.
    fn file(&self, id: TrashId) -> BoxFuture<'static, Result<Option<TrashFile>, ToolError>>;

    /// Files whose name contains this, newest first; at most `limit`.
    fn named(&self, name: &str, limit: u32) -> BoxFuture<'static, Result<Vec<TrashFile>, ToolError>>;

    /// Brings a file back to a path where nothing is. Parents that are missing are made.
    fn restore(&self, id: TrashId, to: &Path) -> BoxFuture<'static, Result<(), ToolError>>;

    /// How much there is that was deleted at least so many days ago.
    fn count(&self, days: u32) -> BoxFuture<'static, Result<TrashTotals, ToolError>>;

    /// Deletes that for good; how much it was.
    fn empty(&self, days: u32) -> BoxFuture<'static, Result<TrashTotals, ToolError>>;
}

/// A file in the trash.
#[derive(Clone, Debug, PartialEq)]
pub struct TrashFile {
    /// What is known of it.
    pub entry: TrashEntry,
    /// Where it was, exactly.
    pub path: PathBuf,
}

/// Files in the trash.
#[derive(Clone, Debug, PartialEq)]
pub struct TrashListing {
    /// Those that are listed.
    pub files: Vec<TrashFile>,
    /// How many of them, the first, belong to the project.
    pub of_project: usize,
    /// All there is in the trash.
    pub totals: TrashTotals,
}

/// Why something was not restored, in words for the model.
pub fn not_restored(error: &TrashError) -> ToolError {
    ToolError::new(match error {
        TrashError::Taken(present) => format!(
            "{} is there already; nothing was overwritten. Move it away (mv) or remove it (rm), then restore again.",
            present.path.display()
        ),
        other => format!("It could not be restored: {other}. It is still in the trash."),
    })
}
