//! Tests of the codecs and the transport through the crate's public seams.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod network;
mod requests;
mod server;
mod streams;
mod usage;

use octo_llm::{CachePlan, Caching, Layout, MarkerPolicy, plan};
use octo_protocol::Message;

/// The plan of a request for a server with Anthropic's rules.
fn marked(messages: &[Message]) -> CachePlan {
    plan(&Layout::new(messages), &Caching::anthropic(), &MarkerPolicy::default())
}
