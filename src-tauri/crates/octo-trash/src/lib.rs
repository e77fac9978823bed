//! The single trash: the store's entries and the home's content, kept consistent.
//!
//! The content's slips are the source of truth. [`HomeTrash::scan`] creates entries for the removals of
//! commands, at the start after completing work interrupted by a kill; entries that leave the trash are removed
//! first from disk and then from the store, so the next start repairs a kill in between.

mod expiry;
mod home_trash;
mod removal;
mod time_passage;
mod tool;

pub use home_trash::{HomeTrash, Remover};
pub use removal::existing_folder;
