//! Interface to the trash for tools.

use crate::ToolError;
use futures::future::BoxFuture;
use octo_protocol::{TrashEntry, TrashId, TrashTotals};
use octo_workspace::TrashError;
use std::path::{Path, PathBuf};

/// The trash: deleted files that can be restored. Every query includes the removals of commands up to now.
pub trait Trashcan: Send + Sync {
    /// Returns files, those of the project first, each newest first; at most `limit`.
    fn files(&self, project: &Path, limit: u32) -> BoxFuture<'static, Result<TrashListing, ToolError>>;

    /// Returns files that were at exactly this path, newest first.
    fn at_path(&self, path: &Path) -> BoxFuture<'static, Result<Vec<TrashFile>, ToolError>>;

    /// Returns one file.
    fn file(&self, id: TrashId) -> BoxFuture<'static, Result<Option<TrashFile>, ToolError>>;

    /// Returns files whose name contains this, newest first; at most `limit`.
    fn find_named(&self, name: &str, limit: u32) -> BoxFuture<'static, Result<Vec<TrashFile>, ToolError>>;

    /// Restores a file to a free path. Missing parents are created.
    fn restore(&self, id: TrashId, target: &Path) -> BoxFuture<'static, Result<(), ToolError>>;

    /// Counts the entries deleted at least this many days ago.
    fn count(&self, days: u32) -> BoxFuture<'static, Result<TrashTotals, ToolError>>;

    /// Permanently deletes these entries and returns their totals.
    fn empty(&self, days: u32) -> BoxFuture<'static, Result<TrashTotals, ToolError>>;
}

/// A file in the trash.
#[derive(Clone, Debug, PartialEq)]
pub struct TrashFile {
    /// Its entry.
    pub entry: TrashEntry,
    /// Its exact original path.
    pub path: PathBuf,
}

/// A list of files in the trash.
#[derive(Clone, Debug, PartialEq)]
pub struct TrashListing {
    /// The listed files.
    pub files: Vec<TrashFile>,
    /// How many of them, from the start, belong to the project.
    pub of_project: usize,
    /// Totals of the whole trash.
    pub totals: TrashTotals,
}

/// Returns why a file was not restored, in words for the model.
pub fn restore_error(error: &TrashError) -> ToolError {
    ToolError::new(match error {
        TrashError::Taken(present) => format!(
            "{} is there already; nothing was overwritten. Move it away (mv) or remove it (rm), then restore again.",
            present.path.display()
        ),
        other => format!("It could not be restored: {other}. It is still in the trash."),
    })
}
