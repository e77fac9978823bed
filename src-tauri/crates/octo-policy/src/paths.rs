//! The one policy on paths: for what commands touch and for the tools that read, write and edit.

use crate::{
    context::LineContext,
    file::{Policy, RulePath},
    roles::{self, FileRole},
    startup::StartupFiles,
};
use octo_protocol::Refusal;
use octo_workspace::{ClosedPaths, PathRestriction, is_inside, is_secret};
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// The paths open to a session.
#[derive(Clone, Copy, Debug)]
pub struct OpenPaths<'a> {
    /// The session's folder, real.
    pub folder: &'a Path,
    /// Additional readable folders.
    pub readable: &'a [PathBuf],
    /// Additional writable folders.
    pub writable: &'a [PathBuf],
}

/// What the policy says about touching a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathVerdict {
    /// It is where the session may work.
    Open,
    /// It usually holds secrets, or the person says so.
    Secret,
    /// It is outside the session's folder.
    Outside,
    /// It can make later commands run something else.
    Protected,
    /// It becomes code or instructions.
    Role(FileRole),
    /// It is never touched.
    Denied(Refusal),
}

/// What the policy closes wherever it lies: Octo's own, and what the person's rules name. Made once for the many
/// paths of a search; the disk is asked only once something is to be searched.
#[derive(Debug)]
pub struct PolicyPaths {
    context: LineContext,
    policy: Policy,
    rule_paths: OnceLock<RulePaths>,
    /// The restrictions of folders encountered: their files need no separate lookup on the disk.
    folders: Mutex<HashMap<PathBuf, PathRestriction>>,
}

/// What the person's rules name.
#[derive(Debug)]
struct RulePaths {
    secret: Vec<RulePath>,
    denied: Vec<RulePath>,
}

impl RulePaths {
    fn restriction(&self, covers: impl Fn(&RulePath) -> bool) -> PathRestriction {
        if self.denied.iter().any(&covers) {
            PathRestriction::Denied
        } else if self.secret.iter().any(covers) {
            PathRestriction::Secret
        } else {
            PathRestriction::No
        }
    }
}

impl PolicyPaths {
    /// The paths this policy closes.
    pub fn new(policy: &Policy, context: &LineContext) -> Self {
        Self {
            context: context.clone(),
            policy: policy.clone(),
            rule_paths: OnceLock::new(),
            folders: Mutex::default(),
        }
    }

    fn of_folder(&self, folder: &Path, rule_paths: &RulePaths) -> PathRestriction {
        let mut folders = self.folders.lock();
        if let Some(restriction) = folders.get(folder) {
            return *restriction;
        }
        let restriction = rule_paths.restriction(|place| place.covers(folder));
        folders.insert(folder.to_owned(), restriction);
        restriction
    }
}

impl ClosedPaths for PolicyPaths {
    fn restriction(&self, path: &Path) -> PathRestriction {
        if self.context.is_own(path) {
            return PathRestriction::Denied;
        }
        let rule_paths = self.rule_paths.get_or_init(|| RulePaths {
            secret: self.policy.secret_paths().collect(),
            denied: self.policy.denied_paths().collect(),
        });
        let above = path.parent().map_or(PathRestriction::No, |folder| self.of_folder(folder, rule_paths));
        match (above, rule_paths.restriction(|place| place.names(path))) {
            (PathRestriction::Denied, _) | (_, PathRestriction::Denied) => PathRestriction::Denied,
            (PathRestriction::Secret, _) | (_, PathRestriction::Secret) => PathRestriction::Secret,
            (PathRestriction::No, PathRestriction::No) => PathRestriction::No,
        }
    }
}

fn refused(path: &Path, context: &LineContext, policy: &Policy) -> Option<PathVerdict> {
    if context.is_own(path) {
        return Some(PathVerdict::Denied(Refusal::OctoOwn));
    }
    policy.is_denied(path).then_some(PathVerdict::Denied(Refusal::Ruled))
}

/// Returns what the policy says about reading a resolved path (see [`octo_workspace::resolve`]).
pub fn read_path(path: &Path, open: OpenPaths<'_>, context: &LineContext, policy: &Policy) -> PathVerdict {
    if let Some(refused) = refused(path, context, policy) {
        return refused;
    }
    if is_secret(path) || policy.is_secret(path) {
        return PathVerdict::Secret;
    }
    let besides = open.readable.iter().chain(open.writable).any(|folder| is_inside(folder, path));
    if besides || is_inside(open.folder, path) { PathVerdict::Open } else { PathVerdict::Outside }
}

/// Returns what the policy says about creating, changing or removing a resolved path.
pub fn write_path(
    path: &Path,
    open: OpenPaths<'_>,
    context: &LineContext,
    policy: &Policy,
    startup: &StartupFiles,
) -> PathVerdict {
    if let Some(refused) = refused(path, context, policy) {
        return refused;
    }
    // Paths the session may write are its own, even in Octo's home.
    let besides = open.writable.iter().any(|folder| is_inside(folder, path));
    let role = roles::role(path, context, startup).filter(|role| !besides || *role != FileRole::Code);
    if let Some(role @ (FileRole::Startup | FileRole::Instructs | FileRole::Code)) = role {
        return PathVerdict::Role(role);
    }
    if is_secret(path) || policy.is_secret(path) {
        return PathVerdict::Secret;
    }
    if !besides && !is_inside(open.folder, path) {
        return PathVerdict::Outside;
    }
    // A repository's own data.
    if path.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git")) {
        return PathVerdict::Protected;
    }
    role.map_or(PathVerdict::Open, PathVerdict::Role)
}
