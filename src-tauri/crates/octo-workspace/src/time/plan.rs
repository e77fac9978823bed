//! What going to another task has to do to files. Pure: what is recorded and what is there go in, steps come
//! out.

use super::{bytes::text_of, folder::Stamp, keep::same};
use octo_protocol::{
    ChangedPath, ConflictSource, FileImage, Impossible, ImpossibleReason, Lasting, RestoreConflict,
    RestorePreview, SessionId, TaskChange, TaskNumber, Unsaved,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

/// Permissions of a folder that has to be made only because something is to lie in it.
const USUAL_FOLDER: u32 = 0o755;

/// What goes from one state to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) path: PathBuf,
    pub(crate) from: FileImage,
    pub(crate) to: FileImage,
    /// What the path was like when `from` was looked at.
    pub(crate) stamp: Option<Stamp>,
}

/// Which files are brought back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All: the session goes to the task.
    All,
    /// Only these: the session stays where it is, and what was brought back is a task of its own.
    Files(BTreeSet<PathBuf>),
}

/// What going to a task would do. Made by [`super::TimeMachine::plan`]; nothing is done yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestorePlan {
    pub(crate) session: SessionId,
    pub(crate) from: TaskNumber,
    pub(crate) to: TaskNumber,
    pub(crate) selection: Selection,
    pub(crate) steps: Vec<Step>,
    pub(crate) conflicts: Vec<(Step, ConflictSource)>,
    pub(crate) impossible: BTreeMap<PathBuf, ImpossibleReason>,
    pub(crate) lasting: Lasting,
}

impl RestorePlan {
    /// The task that is left.
    pub fn from(&self) -> TaskNumber {
        self.from
    }

    /// The task that is gone to, or whose files are taken.
    pub fn to(&self) -> TaskNumber {
        self.to
    }

    /// Paths somebody changed since; they stay unless they are named when the plan is carried out.
    pub fn conflicts(&self) -> impl Iterator<Item = &Path> {
        self.conflicts.iter().map(|(step, _)| step.path.as_path())
    }

    /// The plan for clients.
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

pub(crate) fn impossible(reasons: &BTreeMap<PathBuf, ImpossibleReason>) -> Vec<Impossible> {
    reasons.iter().map(|(path, why)| Impossible { path: text_of(path), why: *why }).collect()
}

fn changed_path(step: &Step) -> ChangedPath {
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

/// What becomes of a path that goes from one state to the other.
pub(crate) fn change(from: &FileImage, to: &FileImage) -> TaskChange {
    match (from, to) {
        (FileImage::Absent, _) => TaskChange::Created,
        (_, FileImage::Absent) => TaskChange::Deleted,
        (FileImage::File { blob, .. }, FileImage::File { blob: other, .. }) if blob == other => {
            TaskChange::Mode
        }
        (FileImage::Folder { .. }, FileImage::Folder { .. }) => TaskChange::Mode,
        (
            FileImage::File { .. } | FileImage::Unsaved { .. },
            FileImage::File { .. } | FileImage::Unsaved { .. },
        )
        | (FileImage::Link { .. }, FileImage::Link { .. }) => TaskChange::Edited,
        _ => TaskChange::Replaced,
    }
}

/// A path with its three states.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) path: PathBuf,
    /// At the end of the task that is left.
    pub(crate) left: FileImage,
    /// At the end of the task that is gone to.
    pub(crate) wanted: FileImage,
    /// Now.
    pub(crate) present: FileImage,
    pub(crate) stamp: Option<Stamp>,
}

/// What is to be done about a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Nothing,
    Clean(Step),
    Conflict(Step, ConflictSource),
    Impossible(ImpossibleReason),
}

/// A folder that is not looked into because of its kind: it is there or not, and that is all that is known.
fn is_left_out(image: &FileImage) -> bool {
    matches!(
        image,
        FileImage::Unsaved {
            why: Unsaved::VersionControl
                | Unsaved::Dependencies
                | Unsaved::BuildOutput
                | Unsaved::Cache
                | Unsaved::OctoHome,
            ..
        }
    )
}

pub(crate) fn judge(candidate: Candidate) -> Verdict {
    let Candidate { path, left, wanted, mut present, stamp } = candidate;
    if matches!(present, FileImage::Folder { .. }) {
        if is_left_out(&wanted) {
            return Verdict::Nothing;
        }
        if is_left_out(&left) {
            present = left.clone();
        }
    }
    if same(&wanted, &present) {
        return Verdict::Nothing;
    }
    if let FileImage::Unsaved { why, .. } = wanted {
        return Verdict::Impossible(ImpossibleReason::NotKept { why });
    }
    // What is there now could not come back: it is never destroyed.
    if let FileImage::Unsaved { why, .. } = present {
        return Verdict::Impossible(ImpossibleReason::PresentNotSaved { why });
    }
    let source = if same(&left, &wanted) { ConflictSource::OthersOnly } else { ConflictSource::Both };
    let clean = same(&left, &present);
    let step = Step { path, from: present, to: wanted, stamp };
    if clean { Verdict::Clean(step) } else { Verdict::Conflict(step, source) }
}

/// What the disk is asked while steps are arranged.
pub(crate) trait Disk {
    /// What stands at a path; a path below a link or a file counts as absent.
    fn kind(&mut self, path: &Path) -> io::Result<Kind>;
    /// The names in a folder.
    fn names(&mut self, path: &Path) -> io::Result<Vec<OsString>>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Absent,
    Folder,
    Other,
}

/// Steps that can all be done, and those that cannot, with the reason.
pub(crate) type Arranged = (Vec<Step>, BTreeMap<PathBuf, ImpossibleReason>);

/// Takes out the steps that cannot be done, and adds folders that have to be made. A folder goes only when
/// nothing stays in it; a file comes only where all folders above it are, or will be, folders.
pub(crate) fn arrange(steps: Vec<Step>, disk: &mut impl Disk) -> io::Result<Arranged> {
    let mut steps: BTreeMap<PathBuf, Step> =
        steps.into_iter().map(|step| (step.path.clone(), step)).collect();
    let mut impossible = BTreeMap::new();
    let mut dropped: BTreeMap<PathBuf, Step> = BTreeMap::new();
    loop {
        let mut out: Vec<(PathBuf, ImpossibleReason)> = Vec::new();
        let mut made: Vec<Step> = Vec::new();
        // Backwards: what lies in a folder comes before the folder.
        for (path, step) in steps.iter().rev() {
            let is_folder = |image: &FileImage| matches!(image, FileImage::Folder { .. });
            if is_folder(&step.from) && !is_folder(&step.to) {
                let goes = |name: &OsString| {
                    let below = path.join(name);
                    let dropped = out.iter().any(|(path, _)| *path == below);
                    !dropped && steps.get(&below).is_some_and(|step| step.to == FileImage::Absent)
                };
                if !disk.names(path)?.iter().all(goes) {
                    out.push((path.clone(), ImpossibleReason::FolderNotEmpty));
                    continue;
                }
            }
            if step.to != FileImage::Absent {
                match way(path, &steps, disk)? {
                    Some(folders) => made.extend(folders),
                    None => out.push((path.clone(), ImpossibleReason::ParentNotFolder)),
                }
            }
        }
        if out.is_empty() && made.is_empty() {
            return Ok((steps.into_values().collect(), impossible));
        }
        for (path, why) in out {
            if let Some(step) = steps.remove(&path) {
                dropped.insert(path.clone(), step);
            }
            impossible.insert(path, why);
        }
        for step in made {
            // What stood in the way of a folder that was asked for may itself have been taken out since: then the
            // folder is made after all, as it was asked for.
            impossible.remove(&step.path);
            let asked = dropped.remove(&step.path);
            let asked = asked.filter(|asked| matches!(asked.to, FileImage::Folder { .. }));
            steps.entry(step.path.clone()).or_insert(asked.unwrap_or(step));
        }
    }
}

/// The folders that have to be made above a path; none when something else is in the way.
fn way(path: &Path, steps: &BTreeMap<PathBuf, Step>, disk: &mut impl Disk) -> io::Result<Option<Vec<Step>>> {
    let mut made = Vec::new();
    for above in path.ancestors().skip(1) {
        if let Some(step) = steps.get(above) {
            return Ok(matches!(step.to, FileImage::Folder { .. }).then_some(made));
        }
        match disk.kind(above)? {
            Kind::Folder => return Ok(Some(made)),
            Kind::Other => return Ok(None),
            Kind::Absent => made.push(Step {
                path: above.to_owned(),
                from: FileImage::Absent,
                to: FileImage::Folder { mode: USUAL_FOLDER },
                stamp: None,
            }),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
