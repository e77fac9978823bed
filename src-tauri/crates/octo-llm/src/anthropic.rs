//! Anthropic Messages codec.
//!
//! The encoder writes an allow-list of fields in a fixed order, and the encoding of a message depends only on
//! the messages before it: apart from the `cache_control` markers, a request is a byte-wise prefix of every
//! later request of the same conversation. This keeps the provider's cache hitting.

mod decode;
mod encode;

pub use decode::Decoder;
pub use encode::encode;

use reqwest::Url;

/// Protocol version, sent with every request.
pub(crate) const VERSION: &str = "2023-06-01";

/// Returns the address of requests; the base address may or may not end in `/v1`.
pub(crate) fn url(base: &Url) -> String {
    let base = base.as_str().trim_end_matches('/');
    if base.ends_with("/v1") { format!("{base}/messages") } else { format!("{base}/v1/messages") }
}
