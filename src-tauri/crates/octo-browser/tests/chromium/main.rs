//! The crate against the real Chromium, headed, on its own display. Every test has its own profile, and either
//! no port or one the system chose. Without Chromium the tests are skipped with a message, except in continuous
//! integration.
#![expect(clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "a test")]
#![cfg(target_os = "linux")]

mod acting;
mod attaching;
mod covered;
mod fakes;
mod guards;
mod kit;
mod miniwob;
mod pages;
mod permissions;
