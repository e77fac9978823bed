//! OpenAI Responses codec: items in, items out, nothing stored by the server.
//!
//! As with [`crate::anthropic`], a request is a byte-wise prefix of every later one of the same conversation,
//! apart from breakpoints. The server stores nothing (`store: false`), so the reasoning a model continues from
//! is returned encrypted and sent back unchanged.

mod decode;
mod encode;

pub use decode::Decoder;
pub use encode::encode;

use crate::{
    Caching,
    codec::{Codec, Credentials, Framing, VendorServer},
    wire,
};

pub(crate) static CODEC: Codec = Codec {
    name: "openai-responses",
    description: "OpenAI Responses",
    server: VendorServer::Address("https://api.openai.com/v1"),
    credentials: Credentials::Bearer,
    headers: &[],
    framing: Framing::Text,
    caching: || Caching::NONE,
    url: |base, _| wire::join_path(base, "responses"),
    models_url: |base| Ok(wire::join_path(base, "models")),
    encode,
    decoder: |provider, _| Box::new(Decoder::new(provider.clone())),
};
