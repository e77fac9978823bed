//! Reasons why a file operation was refused or failed, worded for the model.

use crate::PathError;
use std::{io, path::PathBuf};

/// The reason why a file operation was refused or failed. The message names the problem and the remedy; the
/// model reads it unchanged. Nothing was changed unless the variant says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilesError {
    /// The text is not a path.
    #[error("{0}")]
    BadPath(#[from] PathError),
    /// The path is outside the scope of this call.
    #[error("{} is outside what this call may {access}. Nothing was done.", .path.display())]
    Outside {
        /// The real path.
        path: PathBuf,
        /// The attempted access.
        access: Access,
    },
    /// The path was closed (see [`crate::ClosedPaths`]).
    #[error("{} is closed: the person's rules say it is never touched. Nothing was done.", .path.display())]
    Closed {
        /// The real path.
        path: PathBuf,
    },
    /// The file or folder does not exist.
    #[error("{} does not exist. Check the path, for example with glob.", .path.display())]
    NotFound {
        /// The path.
        path: PathBuf,
    },
    /// The session's folder is gone.
    #[error(
        "The session's folder {} no longer exists (it was deleted, moved or unmounted). Nothing was written. \
         If it was removed, it is in the trash: restore it with trash_manager (action restore, file_path {}). \
         Otherwise tell the person; do not recreate it yourself.",
        .folder.display(), .folder.display()
    )]
    FolderVanished {
        /// The session's folder.
        folder: PathBuf,
    },
    /// The path is a folder, but the operation needs a file.
    #[error("{} is a folder, not a file.", .path.display())]
    IsFolder {
        /// The path.
        path: PathBuf,
    },
    /// The path is not a folder, but the operation needs one.
    #[error("{} is not a folder.", .path.display())]
    NotFolder {
        /// The path.
        path: PathBuf,
    },
    /// The path is neither a file nor a folder: a device, a pipe or a socket.
    #[error("{} is a device, pipe or socket. Only ordinary files can be used.", .path.display())]
    Special {
        /// The path.
        path: PathBuf,
    },
    /// The file is marked read-only.
    #[error(
        "{} is read-only: nobody has write permission. It was left as it is. Ask the person before changing \
         its permissions.",
        .path.display()
    )]
    ReadOnly {
        /// The path.
        path: PathBuf,
    },
    /// The system denies access.
    #[error("Permission denied for {}: the system does not allow this account to {access} it.", .path.display())]
    Denied {
        /// The path.
        path: PathBuf,
        /// The attempted access.
        access: Access,
    },
    /// The disk is full. The old content is unchanged.
    #[error("The disk is full: {} could not be written. Its former content is unchanged.", .path.display())]
    Full {
        /// The path.
        path: PathBuf,
    },
    /// The file exceeds the size limit of the operation.
    #[error("{} is too large for this: {len} bytes, the limit is {limit} bytes.", .path.display())]
    TooLarge {
        /// The path.
        path: PathBuf,
        /// Its length in bytes.
        len: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The file changed on disk after the session read it. It was left unchanged.
    #[error("{} changed on disk since you read it. It was left as it is; read it again first.", .path.display())]
    Changed {
        /// The path.
        path: PathBuf,
    },
    /// The former content could not be stored for undo, so the change was not made.
    #[error(
        "{} was not changed, because its former content could not be kept for undo ({reason}). Tell the person.",
        .path.display()
    )]
    NotRecorded {
        /// The path.
        path: PathBuf,
        /// The cause.
        reason: String,
    },
    /// Any other system error. After a failed write the old content is intact.
    #[error("{} cannot be {}: {reason}.", .path.display(), .access.past_participle())]
    Failed {
        /// The path.
        path: PathBuf,
        /// The attempted access.
        access: Access,
        /// The system's error message.
        reason: String,
    },
}

/// A kind of access to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading a file or listing a folder.
    Read,
    /// Creating, replacing or changing a file.
    Write,
}

impl Access {
    fn past_participle(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "written",
        }
    }
}

impl std::fmt::Display for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
        })
    }
}

impl FilesError {
    pub(crate) fn from_io(path: &std::path::Path, access: Access, error: &io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound { path },
            io::ErrorKind::PermissionDenied => Self::Denied { path, access },
            io::ErrorKind::IsADirectory => Self::IsFolder { path },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path },
            _ => Self::Failed { path, access, reason: error.to_string() },
        }
    }
}
