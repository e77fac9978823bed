//! Providers of language models as stateless streams.
//!
//! A [`Provider`] turns one [`ModelRequest`] into one stream of [`ModelEvent`]s, and nothing more: no
//! retry, no tool loop, no memory. Each wire format is two pure halves, an encoder and a decoder, tested
//! on recorded streams; the transport between them is the same for all. [`connect`] makes a provider from
//! an [`Endpoint`].
//!
//! What callers decide with, beside the stream: [`RetryPolicy`] (whether and when to try again),
//! [`plan`] (where cache markers go), [`limits`] (what a model takes), [`host_of`] (what a key is
//! bound to).

mod answer;
pub mod anthropic;
mod caching;
mod endpoint;
mod error;
mod event;
mod http;
mod limits;
mod marks;
pub mod openai_chat;
mod provider;
mod request;
mod retry;
pub mod sse;
mod transport;
mod wire;

pub use answer::*;
pub use caching::*;
pub use endpoint::*;
pub use error::*;
pub use event::*;
pub use limits::*;
pub use marks::*;
pub use provider::*;
pub use request::*;
pub use retry::*;
