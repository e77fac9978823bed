//! Interface between the agent and the wire formats.

use crate::{ModelEvent, ModelRequest, ProviderError};
use futures::stream::BoxStream;
use tokio_util::sync::CancellationToken;

/// A provider's stream. It ends after an error.
pub type ModelStream = BoxStream<'static, Result<ModelEvent, ProviderError>>;

/// Something that answers a [`ModelRequest`].
pub trait Provider: Send + Sync {
    /// Returns the name of the endpoint (protocol and host) to which reasoning blocks may be replayed.
    fn id(&self) -> &ProviderId;

    /// Starts the call. Cancelling the token immediately ends the stream with [`crate::ErrorClass::Cancelled`]
    /// and closes the connection. Nothing is sent until the stream is polled.
    fn stream(&self, request: ModelRequest, cancel: CancellationToken) -> ModelStream;
}

/// Name of a protocol at a host, for example `anthropic@api.anthropic.com`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProviderId(pub String);
