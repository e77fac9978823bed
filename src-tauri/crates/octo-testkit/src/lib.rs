//! Support for tests: a scripted model server, temporary homes, a driver for the headless binary.
//!
//! Everything here is for tests only and fails by panicking, with a message that names the expectation.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test kit reports by failing the test that uses it"
)]

mod anthropic;
mod bedrock;
mod board;
mod cache;
mod chromium;
pub mod day;
mod disk;
mod fast_time;
mod folder;
mod gate;
mod git;
mod golden;
mod grammar;
mod growth;
mod home;
mod openai_chat;
mod openai_responses;
mod page_server;
mod pairing;
mod prefix_check;
pub mod processes;
mod recorded;
mod reply;
mod script;
mod serve;
mod server;
mod server_format;
mod telegram;
mod wire;

pub use cache::*;
pub use chromium::{CHROMIUM_HEADLESS_SWITCHES, CHROMIUM_SWITCHES, chromium_or_skip, chromium_program};
pub use disk::{DiskMode, SmallDisk};
pub use fast_time::FastTime;
pub use folder::test_folder;
pub use gate::Gate;
pub use git::git_answer;
pub use golden::{check_golden, check_names, golden_text, restore_database};
pub use grammar::grammar;
pub use growth::{GrowthCheck, ResourceMeasure, check_database};
pub use home::TempHome;
pub use page_server::{PageRequest, PageServer};
pub use recorded::{RecordedRequest, RecordedResult};
pub use reply::{Reply, ReplyFinish, StreamCut};
pub use script::Script;
pub use serve::{ServeExit, ServeProcess};
pub use server::{AnswerOutcome, ModelServer, PrefixRule, RequestFault, RequestTiming, ServerOptions};
pub use telegram::{TelegramPost, TelegramServer};
pub use wire::{Wire, WireExamples};
