//! The agent: the application, its session actors, the turn machine, prompt and permission.
//!
//! [`Octo`] is the whole application without a user interface. A window, the headless forms and tests each own
//! one and use the types of `octo_protocol` with it: [`Octo::request`] and [`Octo::subscribe`].

mod activity;
mod attachments;
mod base;
mod builtin;
mod chat_bridge;
mod chats;
mod compaction;
mod config;
mod diagnostics;
mod export;
mod hooks;
mod idle;
mod ledger;
mod library;
mod live;
pub mod logging;
mod models;
mod naming;
mod octo;
mod pairing;
mod permission;
mod prompt;
mod reply;
mod rules;
mod schedule;
mod scheduler;
mod searching;
mod services;
mod session;
mod sessions;
mod settings;
mod skills;
mod slash;
mod subscription;
mod suggestion;
mod topics;
mod troubles;
mod turn;
mod updates;

pub use config::*;
pub use octo::*;
pub use octo_keys::KeyStorage;
pub use octo_runtime::{Clock, SystemClock};
pub use octo_shell::Supervision;
pub use octo_tools::{BuiltinGrant, SkillTask};
pub use octo_trash::Remover;
pub use octo_workspace::{HomeAtStart, HomeLocation};
pub use subscription::Subscription;
