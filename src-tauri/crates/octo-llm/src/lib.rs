//! Providers of language models as stateless streams.
//!
//! A [`Provider`] turns one [`ModelRequest`] into one stream of [`ModelEvent`]s, and nothing more: no
//! retry, no tool loop, no memory. Each wire format is two pure halves, an encoder and a decoder, tested
//! on recorded streams; the transport between them is the same for all. [`connect`] makes a provider from
//! an [`Endpoint`].
//!
//! What callers decide with, beside the stream: [`RetryPolicy`] (whether and when to try again),
//! [`plan`] (where cache markers go), [`Presets`] (what a model takes and costs), [`host_of`] (what a key is
//! bound to).

mod answer;
pub mod anthropic;
pub mod bedrock;
mod caching;
mod catalogue;
mod dialect;
mod effort;
mod endpoint;
mod error;
mod event;
mod event_stream;
mod expectation;
mod http;
mod last_word;
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
mod trial;
mod warmth;
mod wire;

pub use answer::*;
pub use caching::*;
pub use catalogue::list_models;
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
pub use trial::{is_of_world, try_way};
pub use warmth::*;
