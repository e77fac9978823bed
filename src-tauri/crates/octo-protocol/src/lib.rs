//! The shared types of Octo's parts.
//!
//! Types only: no I/O, no clock, no behaviour except constructors and conversions. Everything that crosses a
//! boundary (core to window, core to headless client, core to store) is one of these types, and the page's
//! TypeScript is generated from them, which prevents drift.
//!
//! * [`Message`] and [`Block`]: the conversation, as it is stored and as codecs read it.
//! * [`Request`] and its per-domain enums: a client's requests; [`Call`] ties each to its reply.
//! * [`Event`] in an [`Envelope`]: durable events, numbered per [`StoredTopic`].
//! * [`Update`]: an item of a subscription: an envelope, streamed delta or snapshot.
//! * [`ApiError`]: an error, as a key of the word catalogue, never as prose.

mod activity;
mod answer;
mod appearance;
mod browser;
mod chats;
mod cost;
mod desktop;
mod error;
mod event;
mod headless;
mod home;
mod home_move;
mod host;
mod ids;
mod lasting_effects;
mod ledger;
mod memory;
mod message;
mod model;
mod network;
mod onboarding;
mod policy;
mod preset;
mod profile;
mod request;
mod schedule;
mod search;
mod session;
mod session_filter;
mod settings;
mod settings_page;
mod shortcuts;
mod skill_import;
mod skills;
mod sub_agent;
mod time;
mod tool;
mod tool_names;
mod topic;
mod transcripts;
mod trash;
mod usage;
pub mod words;

pub use activity::*;
pub use answer::*;
pub use appearance::*;
pub use browser::*;
pub use chats::*;
pub use cost::*;
pub use desktop::*;
pub use error::*;
pub use event::*;
pub use headless::*;
pub use home::*;
pub use home_move::*;
pub use host::*;
pub use ids::*;
pub use lasting_effects::*;
pub use ledger::*;
pub use memory::*;
pub use message::*;
pub use model::*;
pub use network::*;
pub use onboarding::*;
pub use policy::*;
pub use preset::*;
pub use profile::*;
pub use request::*;
pub use schedule::*;
pub use search::*;
pub use session::*;
pub use session_filter::*;
pub use settings::*;
pub use settings_page::*;
pub use shortcuts::*;
pub use skill_import::*;
pub use skills::*;
pub use sub_agent::*;
pub use time::*;
pub use tool::*;
pub use tool_names::*;
pub use topic::*;
pub use transcripts::*;
pub use trash::*;
pub use usage::*;
