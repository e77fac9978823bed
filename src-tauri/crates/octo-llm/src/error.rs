//! Errors of a model call.

use octo_protocol::{ApiError, ErrorCode};
use std::time::Duration;

/// An error of a model call, classified by the possible response to it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{class:?}: {message}")]
pub struct ProviderError {
    /// Class that decides how to respond.
    pub class: ErrorClass,
    /// Message of the provider or the network, at most 500 characters, without secrets.
    pub message: String,
    /// Wait that the provider requested before a retry; `None` if it named none.
    pub retry_after: Option<Duration>,
}

/// Class of a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorClass {
    /// The key is wrong or missing.
    Auth,
    /// The account cannot pay.
    Billing,
    /// The key may not use this model or endpoint.
    Forbidden,
    /// The model or endpoint does not exist.
    NotFound,
    /// Too many requests.
    RateLimited,
    /// The provider is overloaded or broken (5xx).
    Overloaded,
    /// The network failed: connecting, TLS, a read time-out, a reset.
    Network,
    /// The stream ended before its terminal event.
    CutOff,
    /// The response does not follow the protocol: an HTML page, broken JSON.
    Malformed,
    /// The conversation is too long for the model.
    ContextTooLong,
    /// The request is wrong and will stay wrong.
    Invalid,
    /// The server's address is invalid: no http(s), no host, a query, a name and password in it.
    Address,
    /// The key or the conversation would cross the network unencrypted.
    Insecure,
    /// A header set by the person cannot be sent.
    Header,
    /// The proxy's address is invalid.
    Proxy,
    /// The certificates supplied by the person are invalid.
    Certificate,
    /// The server presented a certificate that cannot be verified; a retry gets the same one.
    Untrusted,
    /// The system's keychain has the key but does not return it: it is locked, or refused.
    KeyUnread,
    /// The key is in a keychain that is unavailable in this run.
    NoKeychain,
    /// The model was removed from the list; no server was called.
    Removed,
    /// The call was cancelled by its token.
    Cancelled,
}

impl ErrorClass {
    /// Whether the same request may succeed later.
    pub fn is_retryable(self) -> bool {
        match self {
            Self::RateLimited | Self::Overloaded | Self::Network | Self::CutOff | Self::Malformed => true,
            Self::Auth
            | Self::Billing
            | Self::Forbidden
            | Self::NotFound
            | Self::ContextTooLong
            | Self::Invalid
            | Self::Address
            | Self::Insecure
            | Self::Header
            | Self::Proxy
            | Self::Certificate
            | Self::Untrusted
            | Self::KeyUnread
            | Self::NoKeychain
            | Self::Removed
            | Self::Cancelled => false,
        }
    }

    /// Returns the key of its message.
    pub fn key(self) -> &'static str {
        match self {
            Self::Auth => "provider.auth",
            Self::Billing => "provider.billing",
            Self::Forbidden => "provider.forbidden",
            Self::NotFound => "provider.not_found",
            Self::RateLimited => "provider.rate_limited",
            Self::Overloaded => "provider.overloaded",
            Self::Network => "provider.network",
            Self::CutOff => "provider.cut_off",
            Self::Malformed => "provider.malformed",
            Self::ContextTooLong => "provider.context_too_long",
            Self::Invalid => "provider.invalid",
            Self::Address => "provider.address",
            Self::Insecure => "provider.insecure",
            Self::Header => "provider.header",
            Self::Proxy => "provider.proxy",
            Self::Certificate => "provider.certificate",
            Self::Untrusted => "provider.untrusted",
            Self::KeyUnread => "key.not_read",
            Self::NoKeychain => "key.no_keychain",
            Self::Removed => "model.removed",
            Self::Cancelled => "provider.cancelled",
        }
    }
}

impl ProviderError {
    /// Creates an error of a class.
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), retry_after: None }
    }

    /// Converts the error to its form for clients.
    pub fn to_api(&self) -> ApiError {
        let error = ApiError::new(self.class.key()).detail(&self.message);
        let error = if self.class.is_retryable() { error.retryable() } else { error };
        match self.class {
            ErrorClass::Auth | ErrorClass::NoKeychain => error.code(ErrorCode::KeyNeeded),
            ErrorClass::Removed => error.code(ErrorCode::ModelNeeded),
            _ => error,
        }
    }
}
