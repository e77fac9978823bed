//! Reasons why the time machine refused or failed.

use crate::BlobError;
use octo_protocol::{ApiError, StepNumber};
use octo_store::StoreError;
use std::{
    io,
    path::{Path, PathBuf},
};

/// The reason why the time machine refused or failed. Unless the variant says otherwise, the person's files are
/// unchanged.
#[derive(Debug, thiserror::Error)]
pub enum TimeError {
    /// A database error.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An error of the stored content.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The step does not exist.
    #[error("there is no task {0}")]
    UnknownTask(StepNumber),
    /// A file should be recorded, but no step is open.
    #[error("no task runs")]
    NoTask,
    /// Nothing precedes the start.
    #[error("this is the start")]
    AtStart,
    /// No step to redo exists.
    #[error("nothing was undone from here")]
    NothingToRedo,
    /// The path is not recorded.
    #[error("{} is not recorded", .0.display())]
    UnknownPath(PathBuf),
    /// A file changed after the plan was made.
    #[error("{} changed after the plan was made", .0.display())]
    ChangedSincePlan(PathBuf),
    /// An earlier restore was interrupted and is not completed yet.
    #[error("an earlier restore is not finished")]
    Unfinished,
    /// A file or folder blocks the path, or the system refuses. Everything was undone.
    #[error("{}: {error}", .path.display())]
    Disk {
        /// The path.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The restore failed, and undoing it failed too. The next start tries again.
    #[error("{}: {error}; taking the restore back failed too", .path.display())]
    Stuck {
        /// The path that could not be undone.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The journal of a restore cannot be written or read.
    #[error("the journal: {0}")]
    Journal(io::Error),
}

impl TimeError {
    pub(crate) fn disk(path: &Path, error: io::Error) -> Self {
        Self::Disk { path: path.to_owned(), error }
    }
}

impl From<TimeError> for ApiError {
    fn from(error: TimeError) -> Self {
        match error {
            TimeError::Store(error) => error.into(),
            TimeError::Blob(BlobError::Missing(_)) => ApiError::new("time.missing"),
            TimeError::Blob(BlobError::Damaged(_)) => ApiError::new("time.damaged"),
            TimeError::Blob(BlobError::Io(error)) if is_full(&error) => {
                ApiError::new("time.full").retryable()
            }
            TimeError::Blob(error) => ApiError::new("time.failed").detail(error).retryable(),
            TimeError::UnknownTask(number) => ApiError::new("time.unknown_task").arg("task", number),
            TimeError::NoTask => ApiError::new("time.no_task"),
            TimeError::AtStart => ApiError::new("time.at_start"),
            TimeError::NothingToRedo => ApiError::new("time.nothing_to_redo"),
            TimeError::UnknownPath(path) => ApiError::new("time.unknown_path").arg("path", path.display()),
            TimeError::ChangedSincePlan(path) => {
                ApiError::new("time.moved").arg("path", path.display()).retryable()
            }
            TimeError::Unfinished => ApiError::new("time.unfinished"),
            TimeError::Disk { error, .. } if is_full(&error) => ApiError::new("time.full").retryable(),
            TimeError::Disk { path, error } => {
                ApiError::new("time.refused").arg("path", path.display()).detail(error).retryable()
            }
            TimeError::Stuck { path, error } => {
                ApiError::new("time.stuck").arg("path", path.display()).detail(error)
            }
            TimeError::Journal(error) if is_full(&error) => ApiError::new("time.full").retryable(),
            TimeError::Journal(error) => ApiError::new("time.failed").detail(error).retryable(),
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
