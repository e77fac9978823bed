//! Octo's persistent state, in one SQLite file.
//!
//! [`Store`] is the handle. One thread writes: [`Store::write`] runs a closure over a [`Tx`] in one
//! transaction; [`Store::read`] runs one over a [`Reader`] on one of a few read-only connections.
//!
//! Events are the source of truth. [`Tx::emit`] appends an event to its topic and changes the tables it
//! describes in the same transaction; after the commit [`Store::published`] publishes it. Data that events do
//! not contain (the model's context, results of calls, drafts, rules, leases) is written in the same
//! transaction.

mod backup;
mod column;
mod error;
mod flush;
#[cfg(test)]
mod gates;
mod health;
mod inspect;
mod key;
mod lease;
mod open;
mod project;
mod reader;
mod replace;
mod rows;
mod schema;
mod store;
mod tables;
mod tx;
mod upcast;

pub use backup::BackupOutcome;
pub use error::{OpenError, StoreError};
pub use flush::{flush_file, flush_folder};
pub use health::DatabaseHealth;
pub use inspect::{CopyContents, HomeClaim, claim, inspect};
pub use lease::{Holder, HolderState, LeaseOutcome, probe};
pub use reader::Reader;
pub use replace::{
    ReplaceError, Replacement, SoundBackup, has_database, has_moved_damaged_database, replace_damaged,
    sound_backup,
};
pub use rows::*;
pub use store::Store;
pub use tables::chats::{ChatRow, FetchPosition, InboundMessageRow, PairingCodeRow};
pub use tables::library::{MemoryWriter, SkillChoice, SuggestionRow};
pub use tables::other_processes::{OtherProcessSession, StopRequest};
pub use tables::restores::RestoreRecord;
pub use tables::runs::{RunRow, RunStopReason, SessionDigest};
pub use tables::schedule::TaskStateRow;
pub use tx::Tx;
