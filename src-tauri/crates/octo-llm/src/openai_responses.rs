//! OpenAI Responses: items in, items out, nothing kept by the server.
//!
//! As with [`crate::anthropic`], a request is a byte-wise prefix of every later one of the same conversation,
//! breakpoints apart. The server stores nothing (`store: false`), so the reasoning a model goes on from comes
//! back to us encrypted and is sent again as it came.

mod decode;
mod encode;

pub use decode::Decoder;
pub use encode::encode;

use reqwest::Url;

/// Where requests go.
pub(crate) fn url(base: &Url) -> String {
    format!("{}/responses", base.as_str().trim_end_matches('/'))
}
