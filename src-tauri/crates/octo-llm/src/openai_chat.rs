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

use reqwest::Url;

/// Data that ends a stream; the only data that is not JSON.
pub(crate) const DONE: &str = "[DONE]";

/// Returns the address of requests.
pub(crate) fn url(base: &Url) -> String {
    format!("{}/chat/completions", base.as_str().trim_end_matches('/'))
}
