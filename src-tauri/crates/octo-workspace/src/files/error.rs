//! Why a file operation was refused or failed, in words for the model.

use crate::PathError;
use std::{io, path::PathBuf};

/// Why a file operation was refused or failed. The words say what is wrong and what to do instead; the model
/// reads them as they are. Nothing was changed unless the variant says so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilesError {
    /// The text names no path.
    #[error("{0}")]
    Path(#[from] PathError),
    /// The path is not in the scope of this call.
    #[error("{} is outside what this call may {access}. Nothing was done.", .path.display())]
    Outside {
        /// The real path.
        path: PathBuf,
        /// What was tried.
        access: Access,
    },
    /// The path was closed (see [`crate::ClosedPaths`]).
    #[error("{} is closed: the person's rules say it is never touched. Nothing was done.", .path.display())]
    Closed {
        /// The real path.
        path: PathBuf,
    },
    /// There is no such file or folder.
    #[error("{} does not exist. Check the path, for example with glob.", .path.display())]
    NotFound {
        /// The path.
        path: PathBuf,
    },
    /// The session's folder is gone.
    #[error(
        "The session's folder {} no longer exists (it was deleted, moved or unmounted). Nothing was written. \
         Tell the person; do not recreate it yourself.",
        .folder.display()
    )]
    FolderVanished {
        /// The session's folder.
        folder: PathBuf,
    },
    /// A file is needed and this is a folder.
    #[error("{} is a folder, not a file.", .path.display())]
    IsFolder {
        /// The path.
        path: PathBuf,
    },
    /// A folder is needed and this is not one.
    #[error("{} is not a folder.", .path.display())]
    NotFolder {
        /// The path.
        path: PathBuf,
    },
    /// Neither a file nor a folder: a device, a pipe, a socket.
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
    /// The system denies it.
    #[error("Permission denied for {}: the system does not allow this account to {access} it.", .path.display())]
    Denied {
        /// The path.
        path: PathBuf,
        /// What was tried.
        access: Access,
    },
    /// The disk is full. The old content is whole.
    #[error("The disk is full: {} could not be written. Its former content is unchanged.", .path.display())]
    Full {
        /// The path.
        path: PathBuf,
    },
    /// The file is larger than the operation handles.
    #[error("{} is too large for this: {len} bytes, the limit is {limit} bytes.", .path.display())]
    TooLarge {
        /// The path.
        path: PathBuf,
        /// Its length in bytes.
        len: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The file was changed by someone else since the session read it. It was left as it is.
    #[error("{} changed on disk since you read it. It was left as it is; read it again first.", .path.display())]
    Changed {
        /// The path.
        path: PathBuf,
    },
    /// The former state cannot be kept, so the change could not be undone. It was not made.
    #[error(
        "{} was not changed, because its former content could not be kept for undo ({reason}). Tell the person.",
        .path.display()
    )]
    NotRecorded {
        /// The path.
        path: PathBuf,
        /// What went wrong.
        reason: String,
    },
    /// Anything else the system says. For a write, the old content is whole.
    #[error("{} cannot be {}: {reason}.", .path.display(), .access.past())]
    Failed {
        /// The path.
        path: PathBuf,
        /// What was tried.
        access: Access,
        /// The system's words.
        reason: String,
    },
}

/// What is done with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading a file or listing a folder.
    Read,
    /// Creating, replacing or changing a file.
    Write,
}

impl Access {
    fn past(self) -> &'static str {
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
