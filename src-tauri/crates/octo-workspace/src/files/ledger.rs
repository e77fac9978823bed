//! What a session has seen of the files it read, so that it never overwrites what it has not seen.

use std::{
    collections::HashMap,
    fs::Metadata,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

/// What a file was like when it was read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
    /// Of the whole content; none for a file that was only read in part.
    hash: Option<blake3::Hash>,
}

impl Stamp {
    pub(crate) fn new(meta: &Metadata, content: Option<&[u8]>) -> Self {
        Self { len: meta.len(), modified: meta.modified().ok(), hash: content.map(blake3::hash) }
    }

    pub(crate) fn of_hash(meta: &Metadata, hash: blake3::Hash) -> Self {
        Self { len: meta.len(), modified: meta.modified().ok(), hash: Some(hash) }
    }

    /// Whether a file that is like this now is still what was seen. The content decides where it was seen as
    /// a whole, so a file that was only touched is not refused; length and time decide otherwise.
    fn still_holds(&self, meta: &Metadata, content: blake3::Hash) -> bool {
        match self.hash {
            Some(seen) => seen == content,
            None => self.len == meta.len() && self.modified == meta.modified().ok(),
        }
    }
}

/// The stamps of a session, in memory only: after a restart the model reads again what it wants to change,
/// or changes it by its text. Clones are one.
#[derive(Clone, Debug, Default)]
pub struct ReadLedger(Arc<Mutex<HashMap<PathBuf, Stamp>>>);

impl ReadLedger {
    pub(crate) fn note(&self, path: &Path, stamp: Stamp) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), stamp);
    }

    /// Whether the file is what the session saw last; a file it never saw counts as unchanged.
    pub(crate) fn is_current(&self, path: &Path, meta: &Metadata, content: blake3::Hash) -> bool {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(path).is_none_or(|stamp| stamp.still_holds(meta, content))
    }
}
