//! Providers of language models as stateless streams.
//!
//! A [`Provider`] turns one [`ModelRequest`] into one stream of [`ModelEvent`]s, and nothing more: no
//! retry, no tool loop, no memory. Each wire format is two pure halves, an encoder and a decoder, tested
//! on recorded streams; the transport between them is the same for all.

mod error;
mod event;
mod provider;
mod request;

pub use error::*;
pub use event::*;
pub use provider::*;
pub use request::*;
