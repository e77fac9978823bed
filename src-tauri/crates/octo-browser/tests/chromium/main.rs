//! The crate against the real Chromium, headed, on a display of its own. Every test has its own profile, and a port
//! the system chose or none. Without Chromium there is nothing to test: outside of continuous integration that is
//! said and passed over.
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
