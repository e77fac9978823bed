//! The application.

use crate::{Config, Subscription};
use octo_protocol::{ApiError, BlobHash, Call, Envelope, Request, Topic};
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::broadcast;

/// The whole application without a face. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Octo {
    _inner: Arc<()>,
}

/// A blob, as the page shows it.
#[derive(Clone, Debug)]
pub struct BlobBytes {
    /// Its media type, found from its bytes.
    pub media_type: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Octo {
    /// Opens the home and goes on where it was left. Fails with a clear error (`start.*`, `store.*`) and
    /// changes nothing when the home cannot be used: not writable, from a newer Octo, or damaged.
    pub async fn start(_config: Config) -> Result<Self, ApiError> {
        Err(ApiError::new("start.no_home"))
    }

    /// Carries out a request; the reply is of the request's reply type.
    pub async fn request(&self, _request: Request) -> Result<Value, ApiError> {
        Err(ApiError::new("start.no_home"))
    }

    /// [`Octo::request`], typed.
    pub async fn call<C: Call>(&self, call: C) -> Result<C::Reply, ApiError> {
        let reply = self.request(call.into()).await?;
        serde_json::from_value(reply).map_err(|error| ApiError::new("internal").detail(error))
    }

    /// Watches a topic: first a snapshot, then what changes; deltas are merged for about 30 ms.
    pub async fn subscribe(&self, _topic: Topic) -> Result<Subscription, ApiError> {
        Err(ApiError::new("start.no_home"))
    }

    /// All durable events of all topics from now on, in the order they were stored.
    pub fn events(&self) -> broadcast::Receiver<Arc<Envelope>> {
        broadcast::channel(1).1
    }

    /// A blob's bytes.
    pub async fn blob(&self, _hash: &BlobHash) -> Result<BlobBytes, ApiError> {
        Err(ApiError::new("start.no_home"))
    }

    /// Ends everything that runs, keeps it, and lets go of the home. Running turns are left so that the
    /// next start goes on with them; their commands are killed.
    pub async fn shutdown(&self) {}
}
