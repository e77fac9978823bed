//! Providers of language models as stateless streams.
//!
//! A [`Provider`] turns one [`ModelRequest`] into one stream of [`ModelEvent`]s, and nothing more: no retry, no
//! tool loop, no memory. Each wire format is a pure encoder and a pure decoder, tested on recorded streams; all
//! share one transport between them. [`connect`] makes a provider from an [`Endpoint`].
//!
//! Callers also decide with [`RetryPolicy`] (whether and when to retry), [`plan`] (where to set cache markers),
//! [`Presets`] (a model's capabilities and prices) and [`host_of`] (the host a key is bound to).

mod answer;
pub mod anthropic;
pub mod bedrock;
mod caching;
mod catalogue;
mod codec;
mod connectivity;
mod content_timeout;
mod dialect;
mod effort;
mod endpoint;
mod error;
mod event;
mod event_stream;
mod expectation;
mod http;
mod local;
mod network;
pub mod openai_chat;
pub mod openai_responses;
mod planner;
mod presets;
mod prices;
mod provider;
mod redact;
mod request;
mod retry;
pub mod sse;
mod transport;
mod warm_keeping;
mod wire;

pub use answer::*;
pub use caching::*;
pub use catalogue::list_models;
pub use codec::{Codec, Credentials, Decode, VendorServer, codec};
pub use connectivity::{is_internet_address, test_connection};
pub use dialect::*;
pub use endpoint::*;
pub use error::*;
pub use event::*;
pub use expectation::*;
pub use local::find_local_servers;
pub use network::*;
pub use planner::*;
pub use presets::*;
pub use prices::*;
pub use provider::*;
pub use request::*;
pub use retry::*;
pub use warm_keeping::*;
