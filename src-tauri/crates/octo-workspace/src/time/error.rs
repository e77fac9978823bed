//! Why the time machine refused or failed.

use crate::BlobError;
use octo_protocol::{ApiError, TaskNumber};
use octo_store::StoreError;
use std::{
    io,
    path::{Path, PathBuf},
};

/// Why the time machine refused or failed. Unless the variant says so, the person's files are as they were.
#[derive(Debug, thiserror::Error)]
pub enum TimeError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The kept content.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// There is no such task.
    #[error("there is no task {0}")]
    UnknownTask(TaskNumber),
    /// A file is to be recorded and no task runs.
    #[error("no task runs")]
    NoTask,
    /// There is nothing before the start.
    #[error("this is the start")]
    AtStart,
    /// There is nothing to go forward to.
    #[error("nothing was undone from here")]
    NothingToRedo,
    /// A path is not recorded.
    #[error("{} is not recorded", .0.display())]
    UnknownPath(PathBuf),
    /// A file changed after the plan was made.
    #[error("{} changed after the plan was made", .0.display())]
    Moved(PathBuf),
    /// An earlier restore was interrupted and could not be finished yet.
    #[error("an earlier restore is not finished")]
    Unfinished,
    /// A file or folder stands in the way, or the system refuses. Everything was put back.
    #[error("{}: {error}", .path.display())]
    Disk {
        /// The path.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The restore failed and could not be taken back either. It is tried again at the next start.
    #[error("{}: {error}; taking the restore back failed too", .path.display())]
    Stuck {
        /// The path that could not be put back.
        path: PathBuf,
        /// What the system said.
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
            TimeError::Moved(path) => ApiError::new("time.moved").arg("path", path.display()).retryable(),
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
