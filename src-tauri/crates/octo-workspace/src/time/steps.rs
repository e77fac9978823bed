//! Steps: their beginning, their end, and the recording in between.

use super::{
    StepId, TimeError, TimeMachine, TimeMachineInner,
    bytes::{bytes_of, path_of},
    content::{ContentMode, image_at, image_of, is_same_image},
    folder::{DiskEntry, FolderCache},
    recorder::{ChangeRecorder, RecordOutcome},
    snapshot::reason_to_leave_out,
    tree::{SessionStepTree, StateRecords},
};
use crate::FlushTiming;
use octo_protocol::{FileImage, SessionId, StepKind, StepNumber, StepTree, StepView, TurnId, UnsavedReason};
use octo_store::{NewTimeStep, RecordedState, StateMoment, StateSource, StepActivation};
use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

/// The maximum length of a summary in characters; more does not fit a row of the timeline.
const MAX_SUMMARY: usize = 60;

/// The in-memory state of a session. Everything that matters is stored.
#[derive(Debug, Default)]
pub(super) struct SessionSteps {
    open: Option<OpenStep>,
}

impl SessionSteps {
    /// Whether a step is open.
    pub(super) fn is_in_use(&self) -> bool {
        self.open.is_some()
    }
}

#[derive(Debug)]
struct OpenStep {
    task: StepNumber,
    /// The paths whose state before the step is stored.
    recorded: HashMap<PathBuf, RecordOutcome>,
}

impl TimeMachine {
    /// Begins the step of a turn, as a child of the active step. A turn that already has a step (it resumes
    /// after a restart) continues with that.
    ///
    /// `folder` is the session's folder, a real path; `summary` is the first message; only its beginning is
    /// stored.
    ///
    /// # Errors
    ///
    /// [`TimeError::Unfinished`] while a restore of the session is incomplete; errors of the store.
    pub fn begin_step(
        &self,
        session: SessionId,
        turn: TurnId,
        folder: &Path,
        summary: &str,
    ) -> Result<StepId, TimeError> {
        let steps = self.inner.session_steps(session);
        let mut steps = steps.lock();
        self.inner.require_no_unfinished_restore(session)?;
        let tree = self.inner.read_tree(session)?;
        let existing = tree.of_turn(turn).map(|task| task.number);
        self.inner.end_open_steps(session, &tree, existing)?;
        let number = match existing {
            Some(number) => {
                self.inner.store.write_blocking(move |tx| {
                    tx.set_time_step_running(session, number, StepActivation::Running)?;
                    tx.set_active_time_step(session, number)
                })?;
                number
            }
            None => {
                let step = NewTimeStep {
                    parent: tree.active(),
                    kind: StepKind::Run,
                    turn: Some(turn),
                    summary: summary_of(summary),
                    folder: bytes_of(folder),
                };
                self.inner
                    .store
                    .write_blocking(move |tx| tx.add_time_step(session, &step, StepActivation::Running))?
            }
        };
        steps.open = Some(OpenStep { task: number, recorded: HashMap::new() });
        Ok(StepId { session, number })
    }

    /// Ends a step: records the final states of the paths it touched. An ended step is left unchanged.
    ///
    /// # Errors
    ///
    /// Errors of the store and the disk. The step then still counts as open, and is ended before anything else
    /// begins.
    pub fn end_step(&self, task: StepId) -> Result<(), TimeError> {
        let steps = self.inner.session_steps(task.session);
        let mut steps = steps.lock();
        let tree = self.inner.read_tree(task.session)?;
        let step = tree.task(task.number).ok_or(TimeError::UnknownTask(task.number))?;
        if step.ended_at.is_none() {
            self.inner.end(task, &path_of(&step.folder))?;
        }
        if steps.open.as_ref().is_some_and(|open| open.task == task.number) {
            steps.open = None;
        }
        Ok(())
    }

    /// Returns a recorder for a session's open step.
    pub fn recorder(&self, session: SessionId) -> ChangeRecorder {
        ChangeRecorder { machine: self.clone(), session }
    }

    /// Returns the steps of a session.
    ///
    /// # Errors
    ///
    /// Errors of the store.
    pub fn tree(&self, session: SessionId) -> Result<StepTree, TimeError> {
        let (tasks, counts, effects) = self.inner.store.read_blocking(|reader| {
            Ok((
                reader.time_steps(session)?,
                reader.time_change_counts(session)?,
                reader.time_lasting_counts(session)?,
            ))
        })?;
        Ok(SessionStepTree::new(tasks).view(&counts.into_iter().collect(), &effects.into_iter().collect()))
    }

    /// Returns the turns of a session whose work is undone: the model must not see their messages. Turns that
    /// never had a step are not included.
    ///
    /// # Errors
    ///
    /// Errors of the store.
    pub fn undone_turns(&self, session: SessionId) -> Result<Vec<TurnId>, TimeError> {
        Ok(self.inner.read_tree(session)?.undone_turns().into_iter().collect())
    }

    /// Names the present state: creates a step of its own after the active one. It records every path that any
    /// step of the session touched.
    ///
    /// # Errors
    ///
    /// As [`TimeMachine::begin_step`].
    pub fn checkpoint(&self, session: SessionId, folder: &Path, name: &str) -> Result<StepView, TimeError> {
        let steps = self.inner.session_steps(session);
        let _desk = steps.lock();
        self.inner.require_no_unfinished_restore(session)?;
        let (tree, records) = self.inner.read_all(session)?;
        let chain = tree.chain(tree.active());
        let mut folders = FolderCache::default();
        let mut states = Vec::new();
        for path in records.paths() {
            let mode = ContentMode::Content(&self.inner.blobs, FlushTiming::Deferred);
            let (image, _) = image_at(&mut folders, path, self.inner.limits.max_file_bytes, mode)?;
            if records.at_end(&chain, path).is_none_or(|recorded| !is_same_image(recorded, &image)) {
                states.push((path.clone(), image));
            }
        }
        self.inner.blobs.flush()?;
        let step = NewTimeStep {
            parent: tree.active(),
            kind: StepKind::Checkpoint,
            turn: None,
            summary: summary_of(name),
            folder: bytes_of(folder),
        };
        let number = self.inner.store.write_blocking(move |tx| {
            let number = tx.add_time_step(session, &step, StepActivation::Ended)?;
            let states: Vec<RecordedState> = states
                .into_iter()
                .map(|(path, image)| RecordedState {
                    path: bytes_of(&path),
                    number,
                    side: StateMoment::After,
                    source: StateSource::Restored,
                    image,
                })
                .collect();
            tx.record_time_states(session, &states)?;
            Ok(number)
        })?;
        let tree = self.tree(session)?;
        tree.tasks.into_iter().find(|task| task.number == number).ok_or(TimeError::UnknownTask(number))
    }

    pub(super) fn record_before(&self, session: SessionId, path: &Path) -> Result<RecordOutcome, TimeError> {
        let steps = self.inner.session_steps(session);
        let mut steps = steps.lock();
        let open = steps.open.as_mut().ok_or(TimeError::NoTask)?;
        let task = StepId { session, number: open.task };
        self.inner.record_others(task, path)?;
        if let Some(recorded) = open.recorded.get(path) {
            return Ok(*recorded);
        }
        let mut folders = FolderCache::default();
        let mode = ContentMode::Content(&self.inner.blobs, FlushTiming::Now);
        let (image, _) = image_at(&mut folders, path, self.inner.limits.max_file_bytes, mode)?;
        let mut found = vec![(path.to_owned(), image)];
        // Undoing the change also removes parent folders that it creates.
        for ancestor in path.ancestors().skip(1) {
            let (image, _) = image_at(&mut folders, ancestor, 0, ContentMode::Hash)?;
            if image != FileImage::Absent {
                break;
            }
            found.push((ancestor.to_owned(), image));
        }
        // Another part of the step (a command) may have recorded it already: that state counts.
        let before = self.inner.record(task, found, StateSource::Named)?;
        for (path, image) in before {
            let recorded = match image {
                FileImage::Unsaved { why: reason, .. } => RecordOutcome::NotKept(reason),
                _ => RecordOutcome::Kept,
            };
            open.recorded.insert(path, recorded);
        }
        Ok(open.recorded.get(path).copied().unwrap_or_default())
    }

    pub(super) fn note_after(&self, session: SessionId, path: &Path) -> Result<(), TimeError> {
        let steps = self.inner.session_steps(session);
        let steps = steps.lock();
        let number = steps.open.as_ref().ok_or(TimeError::NoTask)?.task;
        self.inner.note_own(StepId { session, number }, path)
    }
}

impl TimeMachineInner {
    pub(super) fn read_tree(&self, session: SessionId) -> Result<SessionStepTree, TimeError> {
        Ok(SessionStepTree::new(self.store.read_blocking(|reader| reader.time_steps(session))?))
    }

    pub(super) fn read_all(&self, session: SessionId) -> Result<(SessionStepTree, StateRecords), TimeError> {
        let (tasks, states) = self
            .store
            .read_blocking(|reader| Ok((reader.time_steps(session)?, reader.time_states(session)?)))?;
        Ok((SessionStepTree::new(tasks), StateRecords::new(states)))
    }

    /// Ends every open step of a session except one.
    pub(super) fn end_open_steps(
        &self,
        session: SessionId,
        tree: &SessionStepTree,
        but: Option<StepNumber>,
    ) -> Result<(), TimeError> {
        for number in tree.running().filter(|number| Some(*number) != but) {
            let folder = tree.task(number).map(|task| path_of(&task.folder)).unwrap_or_default();
            self.end(StepId { session, number }, &folder)?;
        }
        Ok(())
    }

    fn end(&self, task: StepId, folder: &Path) -> Result<(), TimeError> {
        let StepId { session, number } = task;
        if let Err(error) = self.check_completely(task, folder) {
            // The folder may be gone for good; the known changes of the commands are recorded.
            tracing::warn!(%session, %error, "a task's folder cannot be looked at once more");
        }
        let touched = self
            .store
            .read_blocking(|reader| reader.time_states_at(session, number, StateMoment::Before))?
            .into_iter()
            .map(|state| (path_of(&state.path), state.source))
            .collect();
        let mut after = self.record_final_states(task, touched)?;
        // What others have changed since is not the step's end.
        let mut left = Vec::new();
        for state in &mut after {
            if let Some(own) = self.own_state(task, &path_of(&state.path), &state.image) {
                left.push(RecordedState { side: StateMoment::Left, ..state.clone() });
                state.image = own;
            }
        }
        after.extend(left);
        self.store.write_blocking(move |tx| {
            tx.record_time_states(session, &after)?;
            tx.set_time_step_running(session, number, StepActivation::Ended)
        })?;
        self.own.lock().forget(task);
        Ok(())
    }

    /// Returns the present states of paths, as a step leaves them.
    pub(super) fn record_final_states(
        &self,
        task: StepId,
        touched: Vec<(PathBuf, StateSource)>,
    ) -> Result<Vec<RecordedState>, TimeError> {
        let mut folders = FolderCache::default();
        let mut after = Vec::with_capacity(touched.len());
        for (path, source) in touched {
            let image = self.read_present(&mut folders, &path, source)?;
            after.push(RecordedState {
                path: bytes_of(&path),
                number: task.number,
                side: StateMoment::After,
                source,
                image,
            });
        }
        self.blobs.flush()?;
        Ok(after)
    }

    /// Returns the present state of a path and stores its content.
    fn read_present(
        &self,
        folders: &mut FolderCache,
        path: &Path,
        source: StateSource,
    ) -> Result<FileImage, TimeError> {
        let entry = folders.read_entry(path).map_err(|error| TimeError::disk(path, error))?;
        if let (DiskEntry::File(_, stamp), StateSource::Found) = (&entry, source)
            && let Some(image) = self.snapshot_image(path, *stamp)
        {
            return Ok(image);
        }
        if let (DiskEntry::Folder(stamp), StateSource::Found) = (&entry, source)
            && let Some(reason) = why_left_out(path)
        {
            return Ok(FileImage::Unsaved { why: reason, len: stamp.len, modified: stamp.modified });
        }
        Ok(image_of(
            entry,
            self.limits.max_file_bytes,
            ContentMode::Content(&self.blobs, FlushTiming::Deferred),
        )?)
    }

    /// Records the states of paths before a step, unless already recorded. Returns the states that count as
    /// before the step.
    pub(super) fn record(
        &self,
        task: StepId,
        found: Vec<(PathBuf, FileImage)>,
        source: StateSource,
    ) -> Result<Vec<(PathBuf, FileImage)>, TimeError> {
        let StepId { session, number } = task;
        let paths: Vec<Vec<u8>> = found.iter().map(|(path, _)| bytes_of(path)).collect();
        let (tasks, states) = self.store.read_blocking(|reader| {
            Ok((reader.time_steps(session)?, reader.time_states_of(session, &paths)?))
        })?;
        let (tree, records) = (SessionStepTree::new(tasks), StateRecords::new(states));
        let parent = tree.task(number).and_then(|task| task.parent).unwrap_or(0);
        let chain = tree.chain(parent);
        let mut before = Vec::with_capacity(found.len());
        let mut states = Vec::new();
        let mut recorded_paths = HashSet::new();
        for (path, image) in found {
            if !recorded_paths.insert(path.clone()) {
                continue;
            }
            if let Some(recorded) = records.at(&path, number, StateMoment::Before) {
                before.push((path, recorded.clone()));
                continue;
            }
            let state = |number, moment| RecordedState {
                path: bytes_of(&path),
                number,
                side: moment,
                source,
                image: image.clone(),
            };
            // Others changed it after the earlier steps: undoing this step restores that state.
            if records.at_end(&chain, &path).is_some_and(|recorded| !is_same_image(recorded, &image)) {
                states.push(state(parent, StateMoment::Left));
            }
            states.push(state(number, StateMoment::Before));
            before.push((path, image));
        }
        if !states.is_empty() {
            self.store.write_blocking(move |tx| tx.record_time_states(session, &states))?;
        }
        Ok(before)
    }
}

/// Returns why snapshots do not enter a folder.
fn why_left_out(folder: &Path) -> Option<UnsavedReason> {
    let (parent, name) = folder.parent().zip(folder.file_name())?;
    reason_to_leave_out(&bytes_of(Path::new(name)), |sibling| parent.join(sibling).symlink_metadata().is_ok())
}

/// Returns the beginning of a text, on one line.
fn summary_of(text: &str) -> String {
    let mut summary = String::new();
    for word in text.split_whitespace() {
        if !summary.is_empty() {
            summary.push(' ');
        }
        summary.push_str(word);
        if summary.len() > MAX_SUMMARY * 4 {
            break; // A character has at most four bytes.
        }
    }
    if summary.chars().count() <= MAX_SUMMARY {
        return summary;
    }
    let mut shortened: String = summary.chars().take(MAX_SUMMARY - 1).collect();
    shortened.truncate(shortened.trim_end().len());
    shortened.push('…');
    shortened
}
