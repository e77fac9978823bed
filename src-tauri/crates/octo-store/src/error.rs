//! Errors of the store.

use octo_protocol::{ApiError, ErrorCode, MessageId, SessionId};
use rusqlite::ffi;
use std::path::PathBuf;

/// Why the store could not be opened. In every case the file is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A newer Octo wrote the file.
    #[error("{path} was written by a newer Octo (schema {found}, this one knows {known})")]
    Newer {
        /// The database.
        path: PathBuf,
        /// The newest backup this Octo can use, if any.
        backup: Option<PathBuf>,
        /// The schema version of the file.
        found: u32,
        /// The newest schema version this Octo knows.
        known: u32,
    },
    /// The file is not an Octo database, or parts of it cannot be read.
    #[error("{path} is damaged: {detail}")]
    Damaged {
        /// The database.
        path: PathBuf,
        /// The newest undamaged backup, if any.
        backup: Option<PathBuf>,
        /// The damage found.
        detail: String,
    },
    /// The home cannot be used: it is not writable, there is no space, the path does not exist, or another Octo
    /// is using it.
    #[error("{path} cannot be used: {detail}")]
    Unavailable {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        detail: String,
    },
}

/// Why a read or write failed. A failed write changed nothing.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The session does not exist, or was deleted.
    #[error("no session {0}")]
    UnknownSession(SessionId),
    /// The session has no such message.
    #[error("no message {0}")]
    UnknownMessage(MessageId),
    /// The disk (or the quota) is full.
    #[error("no space left for the database")]
    Full,
    /// Another process kept the database locked for too long.
    #[error("the database is busy")]
    Busy,
    /// A part of the file cannot be read.
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// The store was closed.
    #[error("the database is closed")]
    Closed,
    /// Any other failure: a violated schema constraint, an unreadable stored value, a failed disk.
    #[error("the database failed: {0}")]
    Failed(String),
}

impl From<OpenError> for ApiError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Newer { path, backup, found, known } => {
                let error = match backup {
                    Some(backup) => ApiError::new("store.newer_backup").arg("backup", backup.display()),
                    None => ApiError::new("store.newer"),
                };
                error.arg("path", path.display()).detail(format!("schema {found}, this Octo knows {known}"))
            }
            OpenError::Damaged { path, backup: Some(backup), detail } => ApiError::new("store.damaged")
                .arg("path", path.display())
                .arg("backup", backup.display())
                .detail(detail)
                .code(ErrorCode::Damaged),
            OpenError::Damaged { path, backup: None, detail } => ApiError::new("store.damaged_no_backup")
                .arg("path", path.display())
                .detail(detail)
                .code(ErrorCode::Damaged),
            OpenError::Unavailable { path, detail } => {
                ApiError::new("store.unavailable").arg("path", path.display()).detail(detail).retryable()
            }
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::UnknownSession(_) => ApiError::new("session.unknown").code(ErrorCode::UnknownSession),
            StoreError::UnknownMessage(_) => ApiError::new("session.unknown_message"),
            StoreError::Full => ApiError::new("store.full").retryable(),
            StoreError::Busy => ApiError::new("store.busy").retryable(),
            StoreError::Damaged(detail) => ApiError::new("store.unreadable").detail(detail),
            StoreError::Closed => ApiError::new("store.closed"),
            StoreError::Failed(detail) => ApiError::new("store.failed").detail(detail),
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match class(&error) {
            SqliteFailure::Full => StoreError::Full,
            SqliteFailure::Busy => StoreError::Busy,
            SqliteFailure::Damaged => StoreError::Damaged(error.to_string()),
            SqliteFailure::Other => StoreError::Failed(error.to_string()),
        }
    }
}

impl From<serde_json::Error> for StoreError {
    fn from(error: serde_json::Error) -> Self {
        // The message names a position and a type, never the stored text itself.
        StoreError::Failed(format!("a stored value cannot be read: {error}"))
    }
}

/// The class of an SQLite error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SqliteFailure {
    Full,
    Busy,
    Damaged,
    Other,
}

pub(crate) fn class(error: &rusqlite::Error) -> SqliteFailure {
    let Some(code) = error.sqlite_error() else { return SqliteFailure::Other };
    match code.extended_code {
        // A full disk is reported as a failed disk in only one case: while growing the shared-memory index of
        // the WAL.
        ffi::SQLITE_IOERR_SHMSIZE => return SqliteFailure::Full,
        ffi::SQLITE_IOERR_CORRUPTFS => return SqliteFailure::Damaged,
        _ => {}
    }
    match code.code {
        rusqlite::ErrorCode::DiskFull => SqliteFailure::Full,
        rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked => SqliteFailure::Busy,
        rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase => SqliteFailure::Damaged,
        _ => SqliteFailure::Other,
    }
}
