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
mod fast_time;
mod full_disk;
mod golden;
mod killed;
mod login;
mod long;
mod moved_home;
mod other_processes;
mod rm;
mod secrets;
mod serve;
mod sub_agents;
mod support;
mod third_party;
mod trash;
