//! Exit statuses of a headless run.

use octo_protocol::ApiError;
use std::process::ExitCode;

/// Outcome of a headless run, as its exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The turn finished, or there was nothing left to serve.
    Finished,
    /// The run failed; the message is on standard error.
    Failed,
    /// The command line is wrong.
    Usage,
    /// A signal ended it. 128 + SIGINT, as in shells.
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

/// Reason why a run ends before its turn did.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Failure {
    /// The command line is wrong, with this message.
    Usage(String),
    /// The run failed.
    Failed(ApiError),
    /// A signal arrived before there was anything to stop.
    Interrupted,
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self::Failed(error)
    }
}
