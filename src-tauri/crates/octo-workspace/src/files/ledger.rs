//! The versions of files that a session has seen. They keep it from overwriting content it has not read.

use parking_lot::Mutex;
use std::{
    collections::HashMap,
    fs::Metadata,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

/// The state of a file when it was read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SeenFileStamp {
    len: u64,
    modified: Option<SystemTime>,
    /// The hash of the whole content; `None` if only part of the file was read.
    hash: Option<blake3::Hash>,
}

impl SeenFileStamp {
    pub(crate) fn new(meta: &Metadata, content: Option<&[u8]>) -> Self {
        Self { len: meta.len(), modified: meta.modified().ok(), hash: content.map(blake3::hash) }
    }

    pub(crate) fn of_hash(meta: &Metadata, hash: blake3::Hash) -> Self {
        Self { len: meta.len(), modified: meta.modified().ok(), hash: Some(hash) }
    }

    /// Whether a file in this state is still the version that was seen. If it was seen as a whole, the content
    /// decides, so a merely touched file is not refused; otherwise length and time decide.
    fn matches(&self, meta: &Metadata, content: blake3::Hash) -> bool {
        match self.hash {
            Some(known_content) => known_content == content,
            None => self.len == meta.len() && self.modified == meta.modified().ok(),
        }
    }
}

/// The stamps of a session, in memory only: after a restart the model reads a file again before it changes it,
/// or changes it by its text. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct ReadLedger(Arc<Mutex<HashMap<PathBuf, SeenFileStamp>>>);

impl ReadLedger {
    pub(crate) fn record(&self, path: &Path, stamp: SeenFileStamp) {
        self.0.lock().insert(path.to_owned(), stamp);
    }

    /// Whether the file is the version the session saw last. A file it never saw counts as unchanged.
    pub(crate) fn is_current(&self, path: &Path, meta: &Metadata, content: blake3::Hash) -> bool {
        let stamps = self.0.lock();
        stamps.get(path).is_none_or(|stamp| stamp.matches(meta, content))
    }
}
