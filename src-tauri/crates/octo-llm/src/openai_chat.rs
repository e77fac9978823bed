//! OpenAI Chat Completions codec, a protocol that many servers speak.
//!
//! As with [`crate::anthropic`], a request is a byte-wise prefix of every later one of the same conversation,
//! apart from markers. Servers of this protocol cache automatically; some also take markers.

mod decode;
mod encode;
mod markers;
mod sealed;

pub use decode::Decoder;
pub use encode::encode;

use crate::{
    Caching,
    codec::{Codec, Credentials, Framing, VendorServer},
    wire,
};

/// Data that ends a stream; the only data that is not JSON.
pub(crate) const DONE: &str = "[DONE]";

pub(crate) static CODEC: Codec = Codec {
    name: "openai-chat",
    description: "OpenAI Chat Completions",
    server: VendorServer::Address("https://api.openai.com/v1"),
    credentials: Credentials::Bearer,
    headers: &[],
    framing: Framing::Text,
    caching: || Caching::NONE,
    url: |base, _| wire::join_path(base, "chat/completions"),
    models_url: |base| Ok(wire::join_path(base, "models")),
    encode,
    decoder: |provider, _| Box::new(Decoder::new(provider.clone())),
};
