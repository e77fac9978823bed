//! The changes of a step, path by path, and the comparison of two states of a file.

use super::{
    TimeError, TimeMachine,
    bytes::{path_of, text_of},
    content::{ContentMode, image_at, is_same_image},
    folder::FolderCache,
    plan::change,
    tree::StateRecords,
};
use crate::{Blobs, diff};
use octo_protocol::{
    ChangedPath, ComparedSide, ComparisonTarget, FileComparison, FileImage, SessionId, StepChanges,
    StepNumber,
};
use octo_store::StateMoment;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The maximum file size for a line-by-line comparison. Larger files are only compared by length.
const MAX_COMPARED_BYTES: u64 = 2 << 20;

/// The maximum total bytes whose lines are counted for one list; further files are listed without counts.
const MAX_COUNTED_BYTES: u64 = 32 << 20;

impl TimeMachine {
    /// Returns the recorded changes of a step to files. For a running step: the paths it touched, compared with
    /// the disk.
    ///
    /// # Errors
    ///
    /// [`TimeError::UnknownTask`]; errors of the store.
    pub fn changes(&self, session: SessionId, task: StepNumber) -> Result<StepChanges, TimeError> {
        let (tasks, before, after, effects) = self.inner.store.read_blocking(|reader| {
            Ok((
                reader.time_steps(session)?,
                reader.time_states_at(session, task, StateMoment::Before)?,
                reader.time_states_at(session, task, StateMoment::After)?,
                reader.time_lasting(session, &[task])?,
            ))
        })?;
        let step = tasks.steps.iter().find(|step| step.number == task);
        let folder = path_of(&step.ok_or(TimeError::UnknownTask(task))?.folder);
        let after: BTreeMap<Vec<u8>, FileImage> =
            after.into_iter().map(|state| (state.path, state.image)).collect();
        let mut folders = FolderCache::default();
        let mut paths = Vec::new();
        let mut budget = MAX_COUNTED_BYTES;
        for state in before {
            let path = path_of(&state.path);
            let current = match after.get(&state.path) {
                Some(image) => image.clone(),
                None => image_at(&mut folders, &path, self.inner.limits.max_file_bytes, ContentMode::Hash)?.0,
            };
            if !is_same_image(&state.image, &current) {
                paths.push(self.changed(&path, &state.image, &current, &mut budget));
            }
        }
        let (left_out, total) = self.omitted_paths(&folder);
        let left_out_total = u32::try_from(total).unwrap_or(u32::MAX);
        Ok(StepChanges { paths, left_out, left_out_total, lasting: effects })
    }

    fn changed(&self, path: &Path, before: &FileImage, after: &FileImage, budget: &mut u64) -> ChangedPath {
        let lines = self.lines(before, after, budget);
        ChangedPath {
            path: text_of(path),
            change: change(before, after),
            folder: matches!(before, FileImage::Folder { .. }) || matches!(after, FileImage::Folder { .. }),
            added: lines.map(|(added, _)| added),
            removed: lines.map(|(_, removed)| removed),
            unsaved: match before {
                FileImage::Unsaved { why, .. } => Some(*why),
                _ => None,
            },
        }
    }

    /// Returns the numbers of added and removed lines if both sides are text.
    fn lines(&self, before: &FileImage, after: &FileImage, budget: &mut u64) -> Option<(u32, u32)> {
        let len = |image: &FileImage| match image {
            FileImage::Absent => Some(0),
            FileImage::File { len, .. } if *len <= MAX_COMPARED_BYTES => Some(*len),
            _ => None,
        };
        *budget = budget.checked_sub(len(before)? + len(after)?)?;
        let (old_text, new_text) = (text(&self.inner.blobs, before)?, text(&self.inner.blobs, after)?);
        let view = diff(Path::new(""), Some(&old_text), &new_text);
        Some((view.added, view.removed))
    }

    /// Compares a file at the end of a step with its state before the step, or with the disk.
    ///
    /// # Errors
    ///
    /// [`TimeError::UnknownTask`], [`TimeError::UnknownPath`]; errors of the store, the content and the disk.
    pub fn compare(
        &self,
        session: SessionId,
        task: StepNumber,
        path: &Path,
        target: ComparisonTarget,
    ) -> Result<FileComparison, TimeError> {
        let paths = [super::bytes::bytes_of(path)];
        let (tasks, states) = self.inner.store.read_blocking(|reader| {
            Ok((reader.time_steps(session)?, reader.time_states_of(session, &paths)?))
        })?;
        let (tree, records) = (super::tree::SessionStepTree::new(tasks), StateRecords::new(states));
        tree.task(task).ok_or(TimeError::UnknownTask(task))?;
        let chain = tree.chain(task);
        let end = records.at_end(&chain, path).ok_or_else(|| TimeError::UnknownPath(path.to_owned()))?;
        // The state the step itself left: later changes by others are not its work.
        let end = records.at(path, task, StateMoment::After).unwrap_or(end);
        let current_image = || -> Result<FileImage, TimeError> {
            let content_mode = ContentMode::Content(&self.inner.blobs, crate::FlushTiming::Deferred);
            Ok(image_at(&mut FolderCache::default(), path, self.inner.limits.max_file_bytes, content_mode)?.0)
        };
        let running = tree.running().any(|running| running == task);
        let (old_image, new_image) = match target {
            ComparisonTarget::Before => {
                let before = records.at(path, task, StateMoment::Before).unwrap_or(end).clone();
                (before, if running { current_image()? } else { end.clone() })
            }
            ComparisonTarget::Present => (end.clone(), current_image()?),
        };
        let blobs = &self.inner.blobs;
        let (old_text, new_text) = (compared_bytes(blobs, &old_image)?, compared_bytes(blobs, &new_image)?);
        let lines = match (&old_text, &new_text) {
            (Some(old_text), Some(new_text)) => {
                let before = (old_image != FileImage::Absent).then_some(old_text.as_slice());
                Some(diff(path, before, new_text))
            }
            _ => None,
        };
        Ok(FileComparison {
            old: side(&old_image, old_text.is_some()),
            new: side(&new_image, new_text.is_some()),
            diff: lines,
        })
    }

    /// Returns the recorded paths of a session that match these texts from a client.
    ///
    /// # Errors
    ///
    /// Errors of the store.
    pub fn paths_named(&self, session: SessionId, texts: &[String]) -> Result<Vec<PathBuf>, TimeError> {
        let (_, records) = self.inner.read_all(session)?;
        Ok(records.paths().filter(|path| texts.contains(&text_of(path))).cloned().collect())
    }
}

/// Returns the bytes of a text file, or no bytes for an absent one; `None` otherwise.
fn text(blobs: &Blobs, image: &FileImage) -> Option<Vec<u8>> {
    match image {
        FileImage::Absent => Some(Vec::new()),
        FileImage::File { blob, .. } => blobs.get(blob).ok().filter(|bytes| is_text(bytes)),
        _ => None,
    }
}

/// Returns the part of a state that is compared: the text of a file, the target of a link.
fn compared_bytes(blobs: &Blobs, image: &FileImage) -> Result<Option<Vec<u8>>, TimeError> {
    Ok(match image {
        FileImage::Absent => Some(Vec::new()),
        FileImage::File { blob, len, .. } if *len <= MAX_COMPARED_BYTES => {
            Some(blobs.get(blob)?).filter(|bytes| is_text(bytes))
        }
        FileImage::Link { target } => Some(target.clone()),
        _ => None,
    })
}

/// Whether the bytes are text, by the rule of git and grep: a file with a NUL byte near its start is not.
fn is_text(bytes: &[u8]) -> bool {
    !bytes.iter().take(8_192).any(|byte| *byte == 0)
}

fn side(image: &FileImage, text: bool) -> ComparedSide {
    match image {
        FileImage::Absent => ComparedSide::Absent,
        FileImage::File { len, mode, .. } => ComparedSide::File { len: *len, mode: *mode, text },
        FileImage::Link { .. } => ComparedSide::Link,
        FileImage::Folder { .. } => ComparedSide::Folder,
        FileImage::Unsaved { why, .. } => ComparedSide::Unsaved { why: *why },
    }
}
