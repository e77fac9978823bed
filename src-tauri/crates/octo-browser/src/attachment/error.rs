//! Why there is no connection.

use crate::{CallError, DialError, LaunchError};

/// Why there is no connection to a browser.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// No browser can be attached to: none runs, or debugging is switched off in it.
    #[error("no browser that can be attached to is running")]
    NoBrowser,
    /// The port a browser should listen at is another program's.
    #[error("port {port} belongs to another program")]
    PortTaken {
        /// The port.
        port: u16,
    },
    /// The person declined in the browser.
    #[error("the connection was declined in the browser")]
    Declined,
    /// The person gave up waiting.
    #[error("connecting to the browser was given up")]
    Cancelled,
    /// There was a browser a moment ago.
    #[error("the browser could not be reached: {0}")]
    Unreachable(String),
    /// It let us in and then did not answer.
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
            DialError::Unreachable(why) | DialError::Stranger(why) => Self::Unreachable(why),
        }
    }
}

impl From<CallError> for ConnectError {
    fn from(error: CallError) -> Self {
        Self::Silent(error)
    }
}
