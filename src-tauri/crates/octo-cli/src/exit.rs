//! How a headless run ends.

use octo_protocol::ApiError;
use std::process::ExitCode;

/// How a headless run ended, as its exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The turn finished, or there was nothing left to serve.
    Finished,
    /// It could not be done; the words are on standard error.
    Failed,
    /// The command line is wrong.
    Usage,
    /// A signal ended it. 128 + SIGINT, as shells have it.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Finished => Self::SUCCESS,
            Exit::Failed => Self::from(1),
            Exit::Usage => Self::from(2),
            Exit::Interrupted => Self::from(130),
        }
    }
}

/// Why a run ends before its turn did.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Failure {
    /// The command line is wrong, in these words.
    Usage(String),
    /// It could not be done.
    Failed(ApiError),
    /// A signal came before there was anything to stop.
    Interrupted,
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self::Failed(error)
    }
}
