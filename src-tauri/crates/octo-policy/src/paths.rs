//! The policy on paths, for the paths that commands touch and for the tools that read, write and edit.

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
    /// The session's folder, with links resolved.
    pub folder: &'a Path,
    /// Additional readable folders.
    pub readable: &'a [PathBuf],
    /// Additional writable folders.
    pub writable: &'a [PathBuf],
}

/// The policy's verdict on touching a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathVerdict {
    /// The session may work here.
    Open,
    /// The path usually contains a secret, or a rule of the person's makes it one.
    Secret,
    /// The path is outside the session's folder.
    Outside,
    /// The path can make later commands run something else.
    Protected,
    /// The file becomes code or instructions.
    Role(FileRole),
    /// Nothing may touch the path.
    Denied(Refusal),
}

/// The closed paths, inside and outside the session's folder: Octo's files, and the paths in the person's rules. One
/// value serves the many paths of a search, and reads the disk only on first use.
#[derive(Debug)]
pub struct PolicyPaths {
    context: LineContext,
    policy: Policy,
    rule_paths: OnceLock<RulePaths>,
    /// The restrictions of folders already looked up, so that their files need no lookup of their own.
    folders: Mutex<HashMap<PathBuf, PathRestriction>>,
}

/// The paths in the person's rules.
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
    /// Creates the closed paths of a policy. Does not read the disk.
    pub fn new(policy: &Policy, context: &LineContext) -> Self {
        Self {
            context: context.clone(),
            policy: policy.clone(),
            rule_paths: OnceLock::new(),
            folders: Mutex::default(),
        }
    }

    fn folder_restriction(&self, folder: &Path, rule_paths: &RulePaths) -> PathRestriction {
        let mut folders = self.folders.lock();
        if let Some(restriction) = folders.get(folder) {
            return *restriction;
        }
        let restriction = rule_paths.restriction(|rule_path| rule_path.covers(folder));
        folders.insert(folder.to_owned(), restriction);
        restriction
    }
}

impl ClosedPaths for PolicyPaths {
    fn restriction(&self, path: &Path) -> PathRestriction {
        if self.context.is_octo_file(path) {
            return PathRestriction::Denied;
        }
        let rule_paths = self.rule_paths.get_or_init(|| RulePaths {
            secret: self.policy.secret_paths().collect(),
            denied: self.policy.denied_paths().collect(),
        });
        let above =
            path.parent().map_or(PathRestriction::No, |folder| self.folder_restriction(folder, rule_paths));
        match (above, rule_paths.restriction(|rule_path| rule_path.names(path))) {
            (PathRestriction::Denied, _) | (_, PathRestriction::Denied) => PathRestriction::Denied,
            (PathRestriction::Secret, _) | (_, PathRestriction::Secret) => PathRestriction::Secret,
            (PathRestriction::No, PathRestriction::No) => PathRestriction::No,
        }
    }
}

fn refusal(path: &Path, context: &LineContext, policy: &Policy) -> Option<PathVerdict> {
    if context.is_octo_file(path) {
        return Some(PathVerdict::Denied(Refusal::OctoOwn));
    }
    policy.is_denied(path).then_some(PathVerdict::Denied(Refusal::Ruled))
}

/// Returns the verdict on reading a resolved path (see [`octo_workspace::resolve`]).
pub fn read_path(path: &Path, open: OpenPaths<'_>, context: &LineContext, policy: &Policy) -> PathVerdict {
    if let Some(verdict) = refusal(path, context, policy) {
        return verdict;
    }
    if is_secret(path) || policy.is_secret(path) || is_object_store(path) {
        return PathVerdict::Secret;
    }
    let is_in_additional = open.readable.iter().chain(open.writable).any(|folder| is_inside(folder, path));
    if is_in_additional || is_inside(open.folder, path) { PathVerdict::Open } else { PathVerdict::Outside }
}

/// Returns whether a path lies in the objects of a repository, which are the contents of all files it ever had, also of
/// secrets.
pub(crate) fn is_object_store(path: &Path) -> bool {
    let mut parts = path.components().map(|part| part.as_os_str());
    parts.any(|part| part.eq_ignore_ascii_case(".git"))
        && parts.any(|part| part.eq_ignore_ascii_case("objects") || part.eq_ignore_ascii_case("lfs"))
}

/// Returns the verdict on creating, changing or removing a resolved path.
pub fn write_path(
    path: &Path,
    open: OpenPaths<'_>,
    context: &LineContext,
    policy: &Policy,
    startup: &StartupFiles,
) -> PathVerdict {
    if let Some(verdict) = refusal(path, context, policy) {
        return verdict;
    }
    // The additional writable folders belong to the session, even in Octo's home.
    let is_in_additional = open.writable.iter().any(|folder| is_inside(folder, path));
    let role =
        roles::role(path, context, startup).filter(|role| !is_in_additional || *role != FileRole::Code);
    if let Some(role @ (FileRole::Startup | FileRole::Instructs | FileRole::Code)) = role {
        return PathVerdict::Role(role);
    }
    if is_secret(path) || policy.is_secret(path) {
        return PathVerdict::Secret;
    }
    if !is_in_additional && !is_inside(open.folder, path) {
        return PathVerdict::Outside;
    }
    // A repository's own data.
    if path.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git")) {
        return PathVerdict::Protected;
    }
    role.map_or(PathVerdict::Open, PathVerdict::Role)
}
