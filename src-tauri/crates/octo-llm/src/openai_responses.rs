//! OpenAI Responses codec: items in, items out, nothing stored by the server.
//!
//! As with [`crate::anthropic`], a request is a byte-wise prefix of every later one of the same conversation,
//! apart from breakpoints. The server stores nothing (`store: false`), so the reasoning a model continues from
//! is returned encrypted and sent back unchanged.

mod decode;
mod encode;

pub use decode::Decoder;
pub use encode::encode;

use reqwest::Url;

/// Returns the address of requests.
pub(crate) fn url(base: &Url) -> String {
    format!("{}/responses", base.as_str().trim_end_matches('/'))
}
