//! The seam between the agent and the wire.

use crate::{ModelEvent, ModelRequest, ProviderError};
use futures::stream::BoxStream;
use tokio_util::sync::CancellationToken;

/// A provider's stream. After an error nothing more comes.
pub type ModelStream = BoxStream<'static, Result<ModelEvent, ProviderError>>;

/// Something that answers a [`ModelRequest`].
pub trait Provider: Send + Sync {
    /// Names the endpoint (protocol and host) for which reasoning blocks may be replayed.
    fn id(&self) -> &ProviderId;

    /// Starts the call. Cancelling the token ends the stream with [`crate::ErrorClass::Cancelled`] at once
    /// and closes the connection. Nothing is sent before the stream is polled.
    fn stream(&self, request: ModelRequest, cancel: CancellationToken) -> ModelStream;
}

/// Names a protocol at a host, for example `anthropic@api.anthropic.com`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProviderId(pub String);
