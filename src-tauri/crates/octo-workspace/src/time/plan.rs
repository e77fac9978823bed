//! Computes the steps of a restore. Pure: recorded and present states in, steps out.

use super::{bytes::text_of, content::is_same_image, folder::PathStamp};
use octo_protocol::{
    ChangedPath, ConflictSource, FileImage, LastingEffects, RestoreConflict, RestorePreview, SessionId,
    StepChange, StepNumber, UnrestorablePath, UnrestorableReason, UnsavedReason,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

/// The permissions of a folder that is created only as a parent.
const DEFAULT_FOLDER_MODE: u32 = 0o755;

/// A change of a path from one state to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RestoreStep {
    pub(crate) path: PathBuf,
    pub(crate) from: FileImage,
    pub(crate) to: FileImage,
    /// The stamp of the path when `from` was read.
    pub(crate) stamp: Option<PathStamp>,
}

/// The files to restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestoreSelection {
    /// All: the session moves to the step.
    All,
    /// Only these: the session stays at its step, and the restored files form a new step.
    Files(BTreeSet<PathBuf>),
}

/// A planned restore, made by [`super::TimeMachine::plan`]; nothing is done yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestorePlan {
    pub(crate) session: SessionId,
    pub(crate) from: StepNumber,
    pub(crate) to: StepNumber,
    pub(crate) selection: RestoreSelection,
    pub(crate) steps: Vec<RestoreStep>,
    pub(crate) conflicts: Vec<(RestoreStep, ConflictSource)>,
    pub(crate) impossible: BTreeMap<PathBuf, UnrestorableReason>,
    pub(crate) lasting: LastingEffects,
}

impl RestorePlan {
    /// Returns the step that the session leaves.
    pub fn from(&self) -> StepNumber {
        self.from
    }

    /// Returns the target step, or the step whose files are restored.
    pub fn to(&self) -> StepNumber {
        self.to
    }

    /// Returns the paths changed by others since; they are kept unless the caller names them when it carries
    /// out the plan.
    pub fn conflicts(&self) -> impl Iterator<Item = &Path> {
        self.conflicts.iter().map(|(step, _)| step.path.as_path())
    }

    /// Returns the plan for clients.
    pub fn preview(&self) -> RestorePreview {
        RestorePreview {
            from: self.from,
            to: self.to,
            changes: self.steps.iter().map(changed_path).collect(),
            conflicts: self
                .conflicts
                .iter()
                .map(|(step, source)| RestoreConflict {
                    path: text_of(&step.path),
                    change: change(&step.from, &step.to),
                    source: *source,
                })
                .collect(),
            impossible: impossible(&self.impossible),
            lasting: self.lasting.clone(),
        }
    }
}

pub(crate) fn impossible(reasons: &BTreeMap<PathBuf, UnrestorableReason>) -> Vec<UnrestorablePath> {
    reasons.iter().map(|(path, reason)| UnrestorablePath { path: text_of(path), why: *reason }).collect()
}

fn changed_path(step: &RestoreStep) -> ChangedPath {
    ChangedPath {
        path: text_of(&step.path),
        change: change(&step.from, &step.to),
        folder: matches!(
            (&step.from, &step.to),
            (_, FileImage::Folder { .. }) | (FileImage::Folder { .. }, FileImage::Absent)
        ),
        added: None,
        removed: None,
        unsaved: None,
    }
}

/// Returns the kind of change from one state to the other.
pub(crate) fn change(before: &FileImage, after: &FileImage) -> StepChange {
    match (before, after) {
        (FileImage::Absent, _) => StepChange::Created,
        (_, FileImage::Absent) => StepChange::Deleted,
        (FileImage::File { blob, .. }, FileImage::File { blob: other, .. }) if blob == other => {
            StepChange::Mode
        }
        (FileImage::Folder { .. }, FileImage::Folder { .. }) => StepChange::Mode,
        (
            FileImage::File { .. } | FileImage::Unsaved { .. },
            FileImage::File { .. } | FileImage::Unsaved { .. },
        )
        | (FileImage::Link { .. }, FileImage::Link { .. }) => StepChange::Edited,
        _ => StepChange::Replaced,
    }
}

/// A path with its three states.
#[derive(Clone, Debug)]
pub(crate) struct RestoreCandidate {
    pub(crate) path: PathBuf,
    /// The state at the end of the step that the session leaves.
    pub(crate) at_current: FileImage,
    /// The state at the end of the target step.
    pub(crate) at_target: FileImage,
    /// The newest state that others gave the path between the steps of the restore; see
    /// [`super::tree::StateRecords::by_others`].
    pub(crate) by_others: Option<FileImage>,
    /// The present state.
    pub(crate) present: FileImage,
    pub(crate) stamp: Option<PathStamp>,
}

/// The decision about a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathDecision {
    Nothing,
    Clean(RestoreStep),
    /// The person decides about `step`. Unless they choose it, the path keeps the state that others gave it: its
    /// present one, or the one that `to_others` restores.
    Conflict {
        step: RestoreStep,
        source: ConflictSource,
        to_others: Option<RestoreStep>,
    },
    Impossible(UnrestorableReason),
}

/// Whether the state is a folder that is not entered because of its kind: only its existence is known.
fn is_left_out(image: &FileImage) -> bool {
    matches!(
        image,
        FileImage::Unsaved {
            why: UnsavedReason::VersionControl
                | UnsavedReason::Dependencies
                | UnsavedReason::BuildOutput
                | UnsavedReason::Cache
                | UnsavedReason::OctoHome,
            ..
        }
    )
}

/// Decides about a path.
///
/// A restore reverts the changes of steps, and never one that others made in between. It therefore ends at the
/// newest state by others, as if every step had been undone singly, and what leads beyond is a conflict.
pub(crate) fn decide(candidate: RestoreCandidate) -> PathDecision {
    let RestoreCandidate { path, at_current: current, at_target: target, by_others, mut present, stamp } =
        candidate;
    if matches!(present, FileImage::Folder { .. }) {
        if is_left_out(&target) {
            return PathDecision::Nothing;
        }
        if is_left_out(&current) {
            present = current.clone();
        }
    }
    if is_same_image(&target, &present) {
        return PathDecision::Nothing;
    }
    if let FileImage::Unsaved { why, .. } = target {
        return PathDecision::Impossible(UnrestorableReason::NotKept { why });
    }
    // The present content could not be restored later, so it is never destroyed.
    if let FileImage::Unsaved { why, .. } = present {
        return PathDecision::Impossible(UnrestorableReason::PresentNotSaved { why });
    }
    let source =
        if is_same_image(&current, &target) { ConflictSource::OthersOnly } else { ConflictSource::Both };
    let clean = is_same_image(&current, &present);
    let step = RestoreStep { path, from: present, to: target, stamp };
    match by_others.filter(|theirs| !is_same_image(theirs, &step.to)) {
        None if clean => PathDecision::Clean(step),
        Some(theirs) if clean => {
            // What was not saved cannot be restored; the present state then stays.
            let is_restorable =
                !matches!(theirs, FileImage::Unsaved { .. }) && !is_same_image(&theirs, &step.from);
            let to_others = is_restorable.then(|| RestoreStep { to: theirs, ..step.clone() });
            PathDecision::Conflict { step, source: ConflictSource::Both, to_others }
        }
        _ => PathDecision::Conflict { step, source, to_others: None },
    }
}

/// The disk queries needed to arrange steps.
pub(crate) trait DiskQueries {
    /// Returns the kind of object at a path; a path below a link or a file counts as absent.
    fn kind(&mut self, path: &Path) -> io::Result<DiskKind>;
    /// Returns the names in a folder.
    fn names(&mut self, path: &Path) -> io::Result<Vec<OsString>>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiskKind {
    Absent,
    Folder,
    Other,
}

/// The feasible steps, and the infeasible ones with the reason.
pub(crate) type ArrangedSteps = (Vec<RestoreStep>, BTreeMap<PathBuf, UnrestorableReason>);

/// Removes infeasible steps, and adds missing parent folders. A folder is removed only if nothing remains in
/// it; a file is created only if all its parents are, or will be, folders.
pub(crate) fn arrange(steps: Vec<RestoreStep>, disk: &mut impl DiskQueries) -> io::Result<ArrangedSteps> {
    let mut steps: BTreeMap<PathBuf, RestoreStep> =
        steps.into_iter().map(|step| (step.path.clone(), step)).collect();
    let mut impossible = BTreeMap::new();
    let mut dropped: BTreeMap<PathBuf, RestoreStep> = BTreeMap::new();
    loop {
        let mut out: Vec<(PathBuf, UnrestorableReason)> = Vec::new();
        let mut made: Vec<RestoreStep> = Vec::new();
        // Backwards: the content of a folder before the folder.
        for (path, step) in steps.iter().rev() {
            let is_folder = |image: &FileImage| matches!(image, FileImage::Folder { .. });
            if is_folder(&step.from) && !is_folder(&step.to) {
                let goes = |name: &OsString| {
                    let child = path.join(name);
                    let dropped = out.iter().any(|(path, _)| *path == child);
                    !dropped && steps.get(&child).is_some_and(|step| step.to == FileImage::Absent)
                };
                if !disk.names(path)?.iter().all(goes) {
                    out.push((path.clone(), UnrestorableReason::FolderNotEmpty));
                    continue;
                }
            }
            if step.to != FileImage::Absent {
                match missing_parents(path, &steps, disk)? {
                    Some(folders) => made.extend(folders),
                    None => out.push((path.clone(), UnrestorableReason::ParentNotFolder)),
                }
            }
        }
        if out.is_empty() && made.is_empty() {
            return Ok((steps.into_values().collect(), impossible));
        }
        for (path, reason) in out {
            if let Some(step) = steps.remove(&path) {
                dropped.insert(path.clone(), step);
            }
            impossible.insert(path, reason);
        }
        for step in made {
            // The obstacle to a requested folder may itself have been dropped since: then the folder is created
            // after all, as requested.
            impossible.remove(&step.path);
            let folder_step = dropped.remove(&step.path);
            let folder_step =
                folder_step.filter(|folder_step| matches!(folder_step.to, FileImage::Folder { .. }));
            steps.entry(step.path.clone()).or_insert(folder_step.unwrap_or(step));
        }
    }
}

/// Returns the parent folders that must be created for a path, or `None` if something blocks it.
fn missing_parents(
    path: &Path,
    steps: &BTreeMap<PathBuf, RestoreStep>,
    disk: &mut impl DiskQueries,
) -> io::Result<Option<Vec<RestoreStep>>> {
    let mut made = Vec::new();
    for ancestor in path.ancestors().skip(1) {
        if let Some(step) = steps.get(ancestor) {
            return Ok(matches!(step.to, FileImage::Folder { .. }).then_some(made));
        }
        match disk.kind(ancestor)? {
            DiskKind::Folder => return Ok(Some(made)),
            DiskKind::Other => return Ok(None),
            DiskKind::Absent => made.push(RestoreStep {
                path: ancestor.to_owned(),
                from: FileImage::Absent,
                to: FileImage::Folder { mode: DEFAULT_FOLDER_MODE },
                stamp: None,
            }),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
