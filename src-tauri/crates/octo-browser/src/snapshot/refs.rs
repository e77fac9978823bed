//! Refs: the small numbers by which a model names nodes.

use std::collections::{HashMap, HashSet, VecDeque};

use thiserror::Error;

use super::capture::DocumentId;
use super::lines::RefNumbers;
use super::name;
use super::tree::{Node, PageTree};
use super::view::Snapshot;

/// A tab's refs. A node of a document keeps its number while the tab is open, and no number is reused.
#[derive(Debug, Default)]
pub struct Refs {
    last_number: u32,
    /// Number of documents seen so far. It never decreases, so no document gets the number of one that is gone.
    documents_seen: u32,
    documents: HashMap<DocumentId, u32>,
    numbers: HashMap<(u32, i64), u32>,
    entries: HashMap<u32, RefEntry>,
    /// Numbers of documents that are gone, oldest first.
    expired: VecDeque<u32>,
    /// Fields that contained a secret at some time: a page that reveals its password on demand turns them into
    /// plain ones.
    secret_nodes: HashSet<(u32, i64)>,
    /// The documents of the newest snapshot.
    present_documents: HashSet<u32>,
    /// Number of snapshots so far.
    snapshot_count: u64,
}

#[derive(Clone, Debug)]
struct RefEntry {
    document: u32,
    node_ref: NodeRef,
    identity: NodeIdentity,
    /// Value of [`Refs::snapshot_count`] when the node was last seen.
    last_seen: u64,
}

/// The location of a ref's node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRef {
    /// The session that reads it, as named in the capture.
    pub session: String,
    /// Its frame.
    pub frame: String,
    /// Its document.
    pub document: DocumentId,
    /// The document's origin.
    pub origin: String,
    /// Its backend node id, valid within the session.
    pub node: i64,
}

/// The description by which a node can be recognised.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeIdentity {
    /// The role word before its name, such as `button`; empty for a part that can only be read.
    pub role: String,
    /// Its name, or the hint used in its place.
    pub name: String,
    /// The preceding heading.
    pub heading: String,
}

/// The reason why a ref leads to no node.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RefError {
    /// The number was never assigned; the model made it up.
    #[error("ref {number} was never given")]
    NeverGiven {
        /// The number.
        number: u32,
    },
    /// Its page or frame is gone.
    #[error("ref {number} was in a document that is gone")]
    DocumentGone {
        /// The number.
        number: u32,
        /// Its description, if still remembered.
        known: Option<NodeIdentity>,
    },
    /// Its document exists, but the node was not in the newest snapshot.
    #[error("ref {number} is no longer on the page")]
    NodeGone {
        /// The number.
        number: u32,
        /// Its description.
        known: NodeIdentity,
    },
}

/// The reason why a gone node was not found again.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RefindError {
    /// No such ref is remembered, or it was not a target.
    #[error("ref {number} is not known")]
    Unknown {
        /// The number.
        number: u32,
    },
    /// No target with this role and name is under this heading.
    #[error("nothing like ref {number} is on the page")]
    Nothing {
        /// The number.
        number: u32,
    },
    /// Several targets match, so choosing one would be a guess.
    #[error("{count} targets are like ref {number}")]
    Several {
        /// The number.
        number: u32,
        /// Number of matches.
        count: usize,
    },
}

/// Maximum number of remembered refs of gone documents.
const MAX_EXPIRED_REFS: usize = 5_000;

impl Refs {
    /// Returns the location of a ref's node.
    ///
    /// # Errors
    ///
    /// See [`RefError`].
    pub fn lookup(&self, number: u32) -> Result<&NodeRef, RefError> {
        let Some(entry) = self.entries.get(&number) else {
            let was_given = number != 0 && number <= self.last_number;
            return Err(match was_given {
                true => RefError::DocumentGone { number, known: None },
                false => RefError::NeverGiven { number },
            });
        };
        if !self.present_documents.contains(&entry.document) {
            return Err(RefError::DocumentGone { number, known: Some(entry.identity.clone()) });
        }
        if entry.last_seen != self.snapshot_count {
            return Err(RefError::NodeGone { number, known: entry.identity.clone() });
        }
        Ok(&entry.node_ref)
    }

    /// Returns whether a node ever was a field with a secret, however it looks now.
    pub(super) fn was_secret(&self, document: &DocumentId, node: i64) -> bool {
        self.documents.get(document).is_some_and(|document| self.secret_nodes.contains(&(*document, node)))
    }

    /// Returns the description of a ref's node from when it was last seen.
    pub fn identity(&self, number: u32) -> Option<&NodeIdentity> {
        self.entries.get(&number).map(|entry| &entry.identity)
    }

    /// Returns the single target of the newest snapshot with the role, name and heading of a gone ref, on a
    /// page of the same origin.
    ///
    /// # Errors
    ///
    /// See [`RefindError`]; several matches are an error too.
    pub fn refind(&self, number: u32, snapshot: &Snapshot) -> Result<u32, RefindError> {
        let entry = self.entries.get(&number).filter(|entry| !entry.identity.role.is_empty());
        let entry = entry.ok_or(RefindError::Unknown { number })?;
        let similar: Vec<u32> = snapshot.similar_targets(&entry.identity, &entry.node_ref.origin).collect();
        match similar.as_slice() {
            [] => Err(RefindError::Nothing { number }),
            [one] => Ok(*one),
            several => Err(RefindError::Several { number, count: several.len() }),
        }
    }

    /// Returns the numbering for another snapshot.
    pub(super) fn numbering<'t>(&'t mut self, tree: &PageTree<'_>) -> Numbering<'t> {
        self.snapshot_count += 1;
        self.present_documents.clear();
        let mut documents = Vec::with_capacity(tree.frames.len());
        for frame in tree.frames {
            let document = *self.documents.entry(frame.document.clone()).or_insert_with(|| {
                self.documents_seen += 1;
                self.documents_seen
            });
            self.present_documents.insert(document);
            documents.push(document);
        }
        Numbering { refs: self, documents, assigned: HashMap::new() }
    }

    /// Stores the descriptions of the snapshot's targets, and forgets the oldest refs of gone documents.
    pub(super) fn store_identities(&mut self, identities: impl Iterator<Item = (u32, NodeIdentity)>) {
        for (number, identity) in identities {
            if let Some(entry) = self.entries.get_mut(&number) {
                entry.identity = identity;
            }
        }
        let mut expired: Vec<u32> = self
            .numbers
            .iter()
            .filter(|((document, _), _)| !self.present_documents.contains(document))
            .map(|(_, number)| *number)
            .collect();
        expired.sort_unstable();
        self.numbers.retain(|(document, _), _| self.present_documents.contains(document));
        self.secret_nodes.retain(|(document, _)| self.present_documents.contains(document));
        self.documents.retain(|_, document| self.present_documents.contains(document));
        self.expired.extend(expired);
        while self.expired.len() > MAX_EXPIRED_REFS {
            if let Some(oldest) = self.expired.pop_front() {
                self.entries.remove(&oldest);
            }
        }
    }
}

/// The numbering of one snapshot while it is generated.
pub(super) struct Numbering<'t> {
    refs: &'t mut Refs,
    /// Documents by frame.
    documents: Vec<u32>,
    assigned: HashMap<(u32, i64), u32>,
}

impl Numbering<'_> {
    /// Returns the numbers assigned, by frame and backend node id.
    pub fn into_numbers(self) -> HashMap<(u32, i64), u32> {
        self.assigned
    }

    fn key(&self, node: &Node) -> (u32, i64) {
        (self.documents.get(node.frame as usize).copied().unwrap_or(u32::MAX), node.backend)
    }
}

impl RefNumbers for Numbering<'_> {
    fn number(&mut self, tree: &PageTree<'_>, node: &Node) -> u32 {
        let key = self.key(node);
        let refs = &mut *self.refs;
        let number = *refs.numbers.entry(key).or_insert_with(|| {
            refs.last_number += 1;
            refs.last_number
        });
        let snapshot_count = refs.snapshot_count;
        let frame = tree.frame(node);
        let node_ref = NodeRef {
            session: frame.and_then(|frame| tree.sessions.get(frame.session)).cloned().unwrap_or_default(),
            frame: frame.map(|frame| frame.frame.clone()).unwrap_or_default(),
            document: frame.map(|frame| frame.document.clone()).unwrap_or_else(|| DocumentId(String::new())),
            origin: frame.map(|frame| frame.origin.clone()).unwrap_or_default(),
            node: node.backend,
        };
        // A tab that was detached and attached again has another session; its numbers stay.
        let entry = refs
            .entries
            .entry(number)
            .and_modify(|entry| entry.node_ref.clone_from(&node_ref))
            .or_insert_with(|| RefEntry {
                document: key.0,
                node_ref,
                identity: NodeIdentity::default(),
                last_seen: snapshot_count,
            });
        entry.last_seen = snapshot_count;
        self.assigned.insert((node.frame, node.backend), number);
        number
    }

    fn is_secret(&mut self, tree: &PageTree<'_>, node: &Node) -> bool {
        let key = self.key(node);
        if name::is_secret(tree, node) {
            self.refs.secret_nodes.insert(key);
        }
        self.refs.secret_nodes.contains(&key)
    }
}
