//! Anthropic Messages codec.
//!
//! The encoder writes an allow-list of fields in a fixed order, and the encoding of a message depends only on
//! the messages before it: apart from the `cache_control` markers, a request is a byte-wise prefix of every
//! later request of the same conversation. This keeps the provider's cache hitting.

mod decode;
mod encode;

pub use decode::Decoder;
pub use encode::encode;

use crate::{
    Caching,
    codec::{Codec, Credentials, Framing, VendorServer},
};
use reqwest::Url;

pub(crate) static CODEC: Codec = Codec {
    name: "anthropic",
    description: "Anthropic Messages",
    server: VendorServer::Address("https://api.anthropic.com"),
    credentials: Credentials::ApiKey,
    // The protocol's version.
    headers: &[("anthropic-version", "2023-06-01")],
    framing: Framing::Text,
    caching: Caching::anthropic,
    url: |base, _| format!("{}/messages", versioned(base)),
    models_url: |base| Ok(format!("{}/models?limit=1000", versioned(base))),
    encode,
    decoder: |provider, dialect| Box::new(Decoder::new(provider.clone(), dialect.unsigned)),
};

/// Returns the base address with `/v1` at its end, whether it had it or not.
fn versioned(base: &Url) -> String {
    let base = base.as_str().trim_end_matches('/');
    if base.ends_with("/v1") { base.to_owned() } else { format!("{base}/v1") }
}
