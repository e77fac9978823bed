//! A client's requests. One enum per domain under [`Request`], and one type per request that knows its reply,
//! which type-checks Rust and TypeScript callers.

use crate::{HostReply, HostRequest};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use ts_rs::TS;

/// Ties a request to its reply.
pub trait TypedRequest: Into<Request> {
    /// The type of the reply.
    type Reply: Serialize + DeserializeOwned;
}

/// Declares a domain's requests: one struct each, the domain enum over them, `TypedRequest` for each and the TypeScript
/// map from request to reply.
macro_rules! domain {
    (
        $(#[$meta:meta])*
        $domain:ident in $slot:ident, $map:ident {
            $( $(#[$doc:meta])* $name:ident $(as $wire:literal)? { $( $(#[$fdoc:meta])* $field:ident : $ty:ty ),* $(,)? } -> $reply:ty; )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
        #[serde(tag = "type", rename_all = "snake_case")]
        #[ts(export, export_to = "protocol.ts")]
        pub enum $domain {
            $( $(#[$doc])* $(#[serde(rename = $wire)])? $name($name), )*
        }
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
            #[ts(export, export_to = "protocol.ts")]
            pub struct $name { $( $(#[$fdoc])* pub $field: $ty, )* }

            impl From<$name> for Request {
                fn from(call: $name) -> Request {
                    Request::$slot($domain::$name(call))
                }
            }
            impl TypedRequest for $name {
                type Reply = $reply;
            }
        )*

        /// The reply of each request of the domain; only its TypeScript form is used.
        #[derive(TS)]
        #[ts(export, export_to = "protocol.ts", rename_all = "snake_case")]
        #[allow(non_snake_case, dead_code, reason = "field names are the request names the map is keyed by")]
        pub struct $map { $( $(#[ts(rename = $wire)])? $name: $reply, )* }
    };
}
use domain;

mod activity;
mod app;
mod browser;
mod chats;
mod home;
mod ledger;
mod library;
mod models;
mod policy;
mod schedule;
mod sessions;
mod time;
mod transcripts;
mod trash;

pub use activity::*;
pub use app::*;
pub use browser::*;
pub use chats::*;
pub use home::*;
pub use ledger::*;
pub use library::*;
pub use models::*;
pub use policy::*;
pub use schedule::*;
pub use sessions::*;
pub use time::*;
pub use transcripts::*;
pub use trash::*;

/// A client's request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "domain", content = "call", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
#[expect(clippy::large_enum_variant, reason = "a request is moved a few times; settings seldom change")]
pub enum Request {
    /// Sessions.
    Sessions(SessionRequest),
    /// Models.
    Models(ModelRequest),
    /// Usage and cost of model calls.
    Ledger(LedgerRequest),
    /// Settings and the application.
    App(AppRequest),
    /// The time machine.
    Time(TimeRequest),
    /// The trash.
    Trash(TrashRequest),
    /// The person's own rules.
    Policy(PolicyRequest),
    /// The person's browser.
    Browser(BrowserRequest),
    /// Skills.
    Skills(SkillRequest),
    /// Octo's memory.
    Memory(MemoryRequest),
    /// Scheduled tasks.
    Schedule(ScheduleRequest),
    /// Chat services.
    Chats(ChatRequest),
    /// Activity in this Octo.
    Activity(ActivityRequest),
    /// Octo's home and its state.
    Home(HomeRequest),
    /// Conversations: reading, branching and exporting them.
    Transcripts(TranscriptRequest),
    /// Requests that only a desktop can serve.
    Host(HostRequest),
}

impl From<HostRequest> for Request {
    fn from(request: HostRequest) -> Request {
        Request::Host(request)
    }
}

impl TypedRequest for HostRequest {
    type Reply = HostReply;
}

/// A reply without content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Acknowledgement {}
