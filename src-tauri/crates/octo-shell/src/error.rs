//! Failures before, or instead of, a command's own failure.

use std::{io, path::PathBuf};

/// The reason why a command could not be run or reached. A command that runs and fails is no error: its
/// [`crate::CommandReport`] says how it ended. The model reads the messages.
#[derive(Debug, thiserror::Error)]
pub enum ShellError {
    /// No command of this session has that handle, or the command ended and its end was reported.
    #[error(
        "handle {handle:?} not found: no running command of this session has it. If it ended, you were told or will be in a moment"
    )]
    UnknownHandle {
        /// The handle as given.
        handle: String,
    },
    /// The command's folder does not exist.
    #[error("the folder {} does not exist or is not a folder; nothing was run", .path.display())]
    NoFolder {
        /// The folder.
        path: PathBuf,
    },
    /// A link replaced the command's folder, or one above it, since the command was allowed.
    #[error("{} is a link now, or below one, and leads elsewhere; nothing was run", .path.display())]
    FolderReplaced {
        /// The folder.
        path: PathBuf,
    },
    /// The session's folder is gone, or a link replaced it.
    #[error(
        "the session's folder {} is gone: it was removed, moved, or replaced by a link. Nothing was run, and no command runs elsewhere. If it was removed, it is in the trash: restore it with trash_manager (action restore, file_path {}). Otherwise tell the person; do not create it anew",
        .path.display(), .path.display()
    )]
    SessionFolderGone {
        /// The folder.
        path: PathBuf,
    },
    /// A variable's name or value cannot be passed to a command.
    #[error("{name:?} cannot be set as an environment variable; nothing was run")]
    BadVariable {
        /// The name as given.
        name: String,
    },
    /// The command line contains a NUL byte, which no shell can read.
    #[error("the command holds a NUL byte; nothing was run")]
    NulByte,
    /// This machine has no bash.
    #[error("no bash was found on this machine; nothing was run")]
    NoBash,
    /// The session has reached its limit of running commands.
    #[error("{limit} commands of this session are still running; end one with `kill` first")]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// The same command already runs in the background.
    #[error(
        "the same command already runs in that folder as handle_id {handle}; nothing was started. You will be told when it ends; look at it with an empty input, or end it with kill"
    )]
    Duplicate {
        /// The handle of the running command.
        handle: String,
    },
    /// The call was stopped before its command was started.
    #[error("it was stopped before it began; nothing was run")]
    Cancelled,
    /// The session's commands were shut down.
    #[error("the session's commands were shut down; nothing was run")]
    Closed,
    /// Commands are limited to the network allow list, and the system cannot limit them.
    #[error(
        "the network allow list is on, but this system gives commands no network of their own ({0}); nothing was run. The person can turn it off in the settings"
    )]
    NoNetwork(#[source] io::Error),
    /// Starting a process or writing its files failed.
    #[error("the command could not be started: {0}")]
    Start(#[source] io::Error),
    /// Input could not be delivered: the program does not read its terminal.
    #[error("the input could not be delivered: {0}")]
    Input(#[source] io::Error),
}
