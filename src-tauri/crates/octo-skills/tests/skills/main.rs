//! Skills through the crate's public API, on real files.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "functions the tests share are tests too")]

mod discovery;
mod exporting;
mod fixtures;
mod hostile;
mod installing;
mod listing;
mod properties;
mod watching;
mod words;
mod world;
