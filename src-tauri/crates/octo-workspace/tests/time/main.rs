//! The time machine over a real store and a real disk, through its public API.

#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "functions the tests share are tests too"
)]

mod campaign;
mod crash;
mod disks;
mod edges;
#[cfg(target_os = "linux")]
mod idle;
mod restores;
mod snapshots;
mod space;
#[cfg(target_os = "linux")]
mod watching;
mod world;
