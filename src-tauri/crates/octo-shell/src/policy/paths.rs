//! The one policy on paths: for what commands touch and for the tools that read, write and edit.

use super::{
    file::{Policy, RulePlace},
    places::Around,
};
use octo_protocol::Refusal;
use octo_workspace::{Closed, ClosedPaths, is_inside, is_secret};
use std::path::{Path, PathBuf};

/// What is open to a session.
#[derive(Clone, Copy, Debug)]
pub struct Open<'a> {
    /// The session's folder, real.
    pub folder: &'a Path,
    /// Folders that may be read besides.
    pub readable: &'a [PathBuf],
    /// Folders that may be written besides.
    pub writable: &'a [PathBuf],
}

/// What the policy says about touching a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathVerdict {
    /// It lies where the session may go.
    Open,
    /// It usually holds secrets, or the person says so.
    Secret,
    /// It lies outside the session's folder.
    Outside,
    /// It can make later commands run something else.
    Protected,
    /// It is never touched.
    Denied(Refusal),
}

/// What the policy closes wherever it lies: Octo's own, and what the person's rules name. Made once for the many
/// paths of a search.
#[derive(Clone, Debug)]
pub struct PolicyPaths {
    around: Around,
    secret: Vec<RulePlace>,
    denied: Vec<RulePlace>,
}

impl PolicyPaths {
    /// The paths this policy closes.
    pub fn new(policy: &Policy, around: &Around) -> Self {
        Self {
            around: around.clone(),
            secret: policy.secret_places().collect(),
            denied: policy.denied_places().collect(),
        }
    }
}

impl ClosedPaths for PolicyPaths {
    fn closed(&self, path: &Path) -> Closed {
        let covered = |places: &[RulePlace]| places.iter().any(|place| place.covers(path));
        if self.around.is_own(path) || covered(&self.denied) {
            Closed::Denied
        } else if covered(&self.secret) {
            Closed::Secret
        } else {
            Closed::No
        }
    }
}

fn refused(path: &Path, around: &Around, policy: &Policy) -> Option<PathVerdict> {
    if around.is_own(path) {
        return Some(PathVerdict::Denied(Refusal::OctoOwn));
    }
    policy.is_denied(path).then_some(PathVerdict::Denied(Refusal::Ruled))
}

/// What the policy says about reading a real path (see [`octo_workspace::resolve`]).
pub fn read_path(path: &Path, open: Open<'_>, around: &Around, policy: &Policy) -> PathVerdict {
    if let Some(refused) = refused(path, around, policy) {
        return refused;
    }
    if is_secret(path) || policy.is_secret(path) {
        return PathVerdict::Secret;
    }
    let besides = open.readable.iter().chain(open.writable).any(|folder| is_inside(folder, path));
    if besides || is_inside(open.folder, path) { PathVerdict::Open } else { PathVerdict::Outside }
}

/// What the policy says about making, changing or removing a real path.
pub fn write_path(path: &Path, open: Open<'_>, around: &Around, policy: &Policy) -> PathVerdict {
    if let Some(refused) = refused(path, around, policy) {
        return refused;
    }
    if is_secret(path) || policy.is_secret(path) {
        return PathVerdict::Secret;
    }
    let besides = open.writable.iter().any(|folder| is_inside(folder, path));
    if !besides && !is_inside(open.folder, path) {
        return PathVerdict::Outside;
    }
    // A repository's hooks and settings.
    if path.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git")) {
        return PathVerdict::Protected;
    }
    PathVerdict::Open
}
