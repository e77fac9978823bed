//! What can go wrong before, or instead of, a command's own failure.

use std::{io, path::PathBuf};

/// Why a command could not be run or reached. A command that runs and fails is no error: its [`crate::Report`]
/// says how it ended. The words are for the model.
#[derive(Debug, thiserror::Error)]
pub enum ShellError {
    /// No command of this session has that handle, or it ended and its end was reported.
    #[error(
        "handle {handle:?} not found: no running command of this session has it. If it ended, you were told or will be in a moment"
    )]
    UnknownHandle {
        /// The handle as given.
        handle: String,
    },
    /// The folder a command was to run in is not there.
    #[error("the folder {} does not exist or is not a folder; nothing was run", .path.display())]
    NoFolder {
        /// The folder.
        path: PathBuf,
    },
    /// A variable's name or value cannot be given to a command.
    #[error("{name:?} cannot be set as an environment variable; nothing was run")]
    BadVariable {
        /// The name as given.
        name: String,
    },
    /// The command line holds a NUL byte, which no shell can read.
    #[error("the command holds a NUL byte; nothing was run")]
    NulByte,
    /// This machine has no bash.
    #[error("no bash was found on this machine; nothing was run")]
    NoBash,
    /// The session has as many running commands as it may have.
    #[error("{limit} commands of this session are still running; end one with `kill` first")]
    TooMany {
        /// How many a session may have.
        limit: usize,
    },
    /// The very same command runs in the background already.
    #[error(
        "the same command already runs in that folder as handle_id {handle}; nothing was started. You will be told when it ends; look at it with an empty input, or end it with kill"
    )]
    Duplicate {
        /// The one that runs.
        handle: String,
    },
    /// The call was stopped before its command was started.
    #[error("it was stopped before it began; nothing was run")]
    Cancelled,
    /// The session's commands were shut down.
    #[error("the session's commands were shut down; nothing was run")]
    Closed,
    /// Starting a process or writing its files failed.
    #[error("the command could not be started: {0}")]
    Start(#[source] io::Error),
    /// Input could not be delivered: the program does not read its terminal.
    #[error("the input could not be delivered: {0}")]
    Input(#[source] io::Error),
}
