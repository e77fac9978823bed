//! What can go wrong between Octo and a chat service.

use octo_protocol::ApiError;
use std::time::Duration;

/// What went wrong. Never with the token in it, nor with the address of a request, which holds it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChatError {
    /// The service does not know the token: it was mistyped, or taken back.
    #[error("the token is not known: {0}")]
    Token(String),
    /// Another program asks for the same bot's news, or the service sends them elsewhere.
    #[error("another program reads this bot: {0}")]
    Conflict(String),
    /// Too much was asked; it may be asked again after this time.
    #[error("too much was asked; again in {0:?}")]
    TooMuch(Duration),
    /// The service will not do it, however often it is asked.
    #[error("refused: {0}")]
    Refused(Refusal),
    /// The service is not reached. Nothing was done.
    #[error("not reached: {0}")]
    Unreachable(String),
    /// The connection broke after the request had gone out, or what stands before the service is not well: whether it
    /// was done is not known.
    #[error("no answer: {0}")]
    Unanswered(String),
    /// Something on this computer that is over by itself: a keychain that is locked, a full disk.
    #[error("not now: {0}")]
    Here(ApiError),
    /// The proxy, the certificates or the server's address cannot be used.
    #[error("no way there: {0}")]
    Way(ApiError),
}

/// Why the service will not do something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {said}")]
pub struct Refusal {
    /// The service's number for it, as of HTTP.
    pub code: u16,
    /// Its words.
    pub said: String,
}

impl ChatError {
    /// For the person.
    pub fn to_api(&self) -> ApiError {
        match self {
            Self::Token(said) => ApiError::new("chat.token_wrong").detail(said),
            Self::Conflict(said) => ApiError::new("chat.conflict").detail(said),
            Self::TooMuch(wait) => {
                ApiError::new("chat.too_much").arg("seconds", wait.as_secs().max(1)).retryable()
            }
            Self::Refused(refusal) => ApiError::new("chat.refused").detail(refusal),
            Self::Unreachable(why) | Self::Unanswered(why) => {
                ApiError::new("chat.unreachable").detail(why).retryable()
            }
            Self::Here(error) | Self::Way(error) => error.clone(),
        }
    }
}
