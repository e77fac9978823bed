//! Tells a step's own changes from those that others make while it runs.
//!
//! "Others" are people and programs other than the step. A step knows in which state its tools and commands left
//! each path. If it finds another state later, and no command ran in between, others made the change. The step
//! records that state before it changes the path again, and at its end, so that an undo does not revert it without
//! asking.
//!
//! The states are in memory only. After a restart a step goes on without them, and takes what it finds for its
//! own.

use super::{
    StepId, TimeError, TimeMachineInner,
    bytes::bytes_of,
    content::{ContentMode, image_at, is_same_image},
    folder::FolderCache,
};
use crate::FlushTiming;
use octo_protocol::{FileImage, UnsavedReason};
use octo_store::{RecordedState, StateMoment, StateSource};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

/// The states in which open steps left paths, and the folders in which commands run.
#[derive(Debug, Default)]
pub(super) struct OwnStates {
    states: HashMap<StepId, HashMap<PathBuf, FileImage>>,
    /// The number of running commands by folder.
    running: HashMap<PathBuf, usize>,
}

impl OwnStates {
    pub(super) fn note(&mut self, step: StepId, images: impl IntoIterator<Item = (PathBuf, FileImage)>) {
        self.states.entry(step).or_default().extend(images);
    }

    /// Returns the state in which the step left a path, if it differs from the present one and no command runs
    /// that may have caused it.
    fn replaced(&self, step: StepId, path: &Path, present: &FileImage) -> Option<&FileImage> {
        let own = self.states.get(&step)?.get(path)?;
        let runs = self.running.keys().any(|folder| path.starts_with(folder));
        (!runs && !is_same_image(own, present)).then_some(own)
    }

    pub(super) fn forget(&mut self, step: StepId) {
        self.states.remove(&step);
    }

    pub(super) fn begin_command(&mut self, folder: &Path) {
        *self.running.entry(folder.to_owned()).or_default() += 1;
    }

    pub(super) fn end_command(&mut self, folder: &Path) {
        if let Some(count) = self.running.get_mut(folder) {
            *count = count.saturating_sub(1);
        }
        self.running.retain(|_, count| *count > 0);
    }
}

impl TimeMachineInner {
    /// Records the state others left a path in since the step last changed it, before the step changes it again.
    pub(super) fn record_others(&self, step: StepId, path: &Path) -> Result<(), TimeError> {
        if !self.own.lock().states.get(&step).is_some_and(|states| states.contains_key(path)) {
            return Ok(());
        }
        let present = |keep| image_at(&mut FolderCache::default(), path, self.limits.max_file_bytes, keep);
        let (image, _) = present(ContentMode::Hash)?;
        if self.own.lock().replaced(step, path, &image).is_none() {
            return Ok(());
        }
        let (image, _) = present(ContentMode::Content(&self.blobs, FlushTiming::Now))?;
        self.record_between(step, vec![(path.to_owned(), image)])
    }

    /// Records those of the found states that are not the step's own.
    pub(super) fn record_found_between(
        &self,
        step: StepId,
        found: Vec<(PathBuf, FileImage)>,
    ) -> Result<(), TimeError> {
        let theirs = {
            let own = self.own.lock();
            found.into_iter().filter(|(path, image)| own.replaced(step, path, image).is_some()).collect()
        };
        self.record_between(step, theirs)
    }

    fn record_between(&self, step: StepId, theirs: Vec<(PathBuf, FileImage)>) -> Result<(), TimeError> {
        if theirs.is_empty() {
            return Ok(());
        }
        let rows: Vec<RecordedState> = theirs
            .into_iter()
            .map(|(path, image)| RecordedState {
                path: bytes_of(&path),
                number: step.number,
                side: StateMoment::Between,
                source: StateSource::Found,
                image,
            })
            .collect();
        Ok(self.store.write_blocking(move |tx| tx.record_time_states(step.session, &rows))?)
    }

    /// Notes in which state a step's tool left a path, and the folders above it that the tool may have created.
    pub(super) fn note_own(&self, step: StepId, path: &Path) -> Result<(), TimeError> {
        let mut paths = vec![path.to_owned()];
        if let Some(states) = self.own.lock().states.get(&step) {
            let removed = |above: &&Path| states.get(*above).is_some_and(|image| *image == FileImage::Absent);
            paths.extend(path.ancestors().skip(1).filter(removed).map(Path::to_owned));
        }
        let mut folders = FolderCache::default();
        let mut images = Vec::with_capacity(paths.len());
        for path in paths {
            let keep = ContentMode::Content(&self.blobs, FlushTiming::Deferred);
            let (image, _) = image_at(&mut folders, &path, self.limits.max_file_bytes, keep)?;
            images.push((path, image));
        }
        self.own.lock().note(step, images);
        Ok(())
    }

    /// Returns the step's own state of a path that others have changed since, or `None` if they have not.
    pub(super) fn own_state(&self, step: StepId, path: &Path, present: &FileImage) -> Option<FileImage> {
        let own = self.own.lock().replaced(step, path, present)?.clone();
        Some(match own {
            FileImage::File { ref blob, len, .. } if self.blobs.verify(blob).is_err() => {
                FileImage::Unsaved { why: UnsavedReason::Forgotten, len, modified: 0 }
            }
            own => own,
        })
    }
}
