//! Errors between Octo and a chat service.

use octo_protocol::ApiError;
use std::time::Duration;

/// Error of a chat service. It never contains the token, nor the address of a request, which includes the
/// token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChatError {
    /// The service does not know the token: it was mistyped, or revoked.
    #[error("the token is not known: {0}")]
    UnknownToken(String),
    /// Another program requests the same bot's updates, or the service sends them elsewhere.
    #[error("another program reads this bot: {0}")]
    Conflict(String),
    /// Too many requests; retry after this time.
    #[error("too much was asked; again in {0:?}")]
    RateLimited(Duration),
    /// The service refuses the request, and would refuse it again.
    #[error("refused: {0}")]
    Refused(ServiceRefusal),
    /// The service cannot be reached. Nothing was done.
    #[error("not reached: {0}")]
    Unreachable(String),
    /// The connection broke after the request was sent, or a gateway of the service failed: it is unknown
    /// whether the request was done.
    #[error("no answer: {0}")]
    Unanswered(String),
    /// A temporary problem of this computer: a locked keychain, a full disk.
    #[error("not now: {0}")]
    Local(ApiError),
    /// The proxy, the certificates or the server's address cannot be used.
    #[error("no way there: {0}")]
    Connection(ApiError),
}

/// A permanent refusal of the service.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct ServiceRefusal {
    /// The service's error code, like those of HTTP.
    pub code: u16,
    /// The service's message.
    pub message: String,
}

impl ChatError {
    /// Converts the error to a message for the person.
    pub fn to_api(&self) -> ApiError {
        match self {
            Self::UnknownToken(message) => ApiError::new("chat.token_wrong").detail(message),
            Self::Conflict(message) => ApiError::new("chat.conflict").detail(message),
            Self::RateLimited(delay) => {
                ApiError::new("chat.too_much").arg("seconds", delay.as_secs().max(1)).retryable()
            }
            Self::Refused(refusal) => ApiError::new("chat.refused").detail(refusal),
            Self::Unreachable(cause) | Self::Unanswered(cause) => {
                ApiError::new("chat.unreachable").detail(cause).retryable()
            }
            Self::Local(error) | Self::Connection(error) => error.clone(),
        }
    }
}
