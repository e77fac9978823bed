//! The headless programs as a person uses them: the built binary, a separate home, a scripted model server.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests report by failing; what supports them does too"
)]

mod budget;
mod campaign;
mod crash;
mod due;
mod exec;
mod exec_errors;
mod exec_stop;
mod fast;
mod forks;
mod full;
mod golden;
mod killed;
mod long;
mod moved;
mod neighbours;
mod rm;
mod secrets;
mod serve;
mod support;
mod trash;
mod witness;
