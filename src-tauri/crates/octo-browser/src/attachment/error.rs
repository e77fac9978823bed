//! Connection errors.

use crate::{CallError, DialError, LaunchError};

/// Reason why there is no connection to a browser.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// No browser accepts a connection: none is running, or its debugging is switched off.
    #[error("no browser that can be attached to is running")]
    NoBrowser,
    /// Another program uses the browser's expected port.
    #[error("port {port} belongs to another program")]
    PortTaken {
        /// The port.
        port: u16,
    },
    /// The person declined in the browser.
    #[error("the connection was declined in the browser")]
    Declined,
    /// The person cancelled the attempt.
    #[error("connecting to the browser was given up")]
    Cancelled,
    /// The browser was found but could not be reached.
    #[error("the browser could not be reached: {0}")]
    Unreachable(String),
    /// The browser accepted the connection and then did not answer.
    #[error("the browser did not answer: {0}")]
    Silent(CallError),
    /// The separate browser could not be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

impl From<DialError> for ConnectError {
    fn from(error: DialError) -> Self {
        match error {
            DialError::Declined => Self::Declined,
            DialError::Unreachable(cause) | DialError::WrongListener(cause) => Self::Unreachable(cause),
        }
    }
}

impl From<CallError> for ConnectError {
    fn from(error: CallError) -> Self {
        Self::Silent(error)
    }
}
