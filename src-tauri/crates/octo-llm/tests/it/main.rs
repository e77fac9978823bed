//! Tests of the codecs and the transport through the crate's public seams.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod requests;
mod server;
mod streams;
