//! OpenAI Chat Completions, as spoken by many servers.
//!
//! As with [`crate::anthropic`], a request is a byte-wise prefix of every later one of the same
//! conversation, markers apart. Servers of this protocol cache by themselves; some take markers as well.

mod decode;
mod encode;
mod marks;
mod sealed;

pub use decode::Decoder;
pub use encode::encode;

use reqwest::Url;

/// The data that ends a stream; the only data that is no JSON.
pub(crate) const DONE: &str = "[DONE]";

/// Where requests go.
pub(crate) fn url(base: &Url) -> String {
    format!("{}/chat/completions", base.as_str().trim_end_matches('/'))
}
