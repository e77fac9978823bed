//! The agent against a scripted model server, through the application's public API.
//!
//! The server refuses unpaired tool calls and any changed byte in a conversation's prefix, so every test here
//! also tests those two.
#![expect(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "tests report by failing")]

mod agent {
    mod activity;
    mod after;
    mod attachments;
    #[cfg(unix)]
    mod background;
    mod branching;
    #[cfg(unix)]
    mod browser;
    mod budget;
    mod carrying;
    mod chats;
    mod compaction;
    mod creating;
    mod fallback;
    mod faults;
    mod golden;
    mod guards;
    mod headers;
    mod home;
    mod home_move;
    mod huge;
    mod idle;
    mod imports;
    mod installing;
    mod invoking;
    #[cfg(unix)]
    mod lasting;
    mod ledger;
    mod library;
    mod memories;
    mod mending;
    mod models;
    #[cfg(target_os = "linux")]
    mod network;
    mod other_processes;
    mod permission;
    mod prefix;
    mod restart;
    mod resting;
    mod rig;
    mod rules;
    mod schedule;
    mod stop;
    mod sub_agent_limits;
    mod sub_agent_rig;
    mod sub_agents;
    mod time;
    mod trash;
    mod turns;
    mod windows;
}
