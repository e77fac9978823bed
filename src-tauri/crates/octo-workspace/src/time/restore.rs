//! Restores a session to another step.

use super::{
    StepId, TimeError, TimeMachine, TimeMachineInner,
    apply::{apply, needs_staging, stage, staged_name, unstage},
    bytes::{bytes_of, text_of},
    content::{ContentMode, image_at},
    folder::{DiskEntry, FolderCache, parent_and_name},
    journal::{Journal, JournalStep, RestoreStage},
    lasting::{steps_between, truncate},
    plan::{
        DiskKind, DiskQueries, PathDecision, RestoreCandidate, RestorePlan, RestoreSelection, RestoreStep,
        arrange, decide, impossible,
    },
    tree::{SessionStepTree, StateRecords},
};
use crate::{FlushTiming, is_inside, parallel::try_map};
use octo_protocol::{
    BlobHash, FileImage, LastingEffects, RestoreReport, SessionId, StepKind, StepNumber, UnrestorableReason,
};
use octo_store::{NewTimeStep, RecordedState, StateMoment, StateSource, StepActivation};
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

impl TimeMachine {
    /// Returns the target of an undo.
    ///
    /// # Errors
    ///
    /// [`TimeError::AtStart`].
    pub fn undo_target(&self, session: SessionId) -> Result<StepNumber, TimeError> {
        self.inner.read_tree(session)?.undo().ok_or(TimeError::AtStart)
    }

    /// Returns the target of a redo.
    ///
    /// # Errors
    ///
    /// [`TimeError::NothingToRedo`].
    pub fn redo_target(&self, session: SessionId) -> Result<StepNumber, TimeError> {
        self.inner.read_tree(session)?.redo().ok_or(TimeError::NothingToRedo)
    }

    /// Computes the changes to files of a restore. Ends an open step first, because its changes must be known.
    ///
    /// # Errors
    ///
    /// [`TimeError::UnknownTask`], [`TimeError::Unfinished`]; errors of the store and the disk.
    pub fn plan(
        &self,
        session: SessionId,
        target: StepNumber,
        selection: RestoreSelection,
    ) -> Result<RestorePlan, TimeError> {
        let steps = self.inner.session_steps(session);
        let _desk = steps.lock();
        self.inner.plan(session, target, selection)
    }

    /// Carries out a plan. Conflicting paths stay unchanged unless they are in `overwrite`.
    ///
    /// First stores the present state as an entry of the tree, and checks all needed content before it writes
    /// the first byte. Afterwards either all steps are done, or none.
    ///
    /// # Errors
    ///
    /// [`TimeError::ChangedSincePlan`] when a file changed after the plan was made: make another plan. [`TimeError::Blob`]
    /// when stored content is missing or damaged, [`TimeError::DiskQueries`] when the disk refuses: nothing has
    /// changed then. [`TimeError::Stuck`] when undoing failed: [`TimeMachine::recover`] tries again.
    pub fn restore(
        &self,
        plan: &RestorePlan,
        overwrite: &BTreeSet<PathBuf>,
    ) -> Result<RestoreReport, TimeError> {
        let steps = self.inner.session_steps(plan.session);
        let _desk = steps.lock();
        self.inner.require_no_unfinished_restore(plan.session)?;
        self.inner.restore(plan, overwrite)
    }
}

impl TimeMachineInner {
    pub(super) fn require_no_unfinished_restore(&self, session: SessionId) -> Result<(), TimeError> {
        let journals = self.journals.all().map_err(TimeError::Journal)?;
        if journals.iter().any(|(journal, _)| journal.session == session) {
            return Err(TimeError::Unfinished);
        }
        Ok(())
    }

    fn plan(
        &self,
        session: SessionId,
        target: StepNumber,
        selection: RestoreSelection,
    ) -> Result<RestorePlan, TimeError> {
        self.require_no_unfinished_restore(session)?;
        let tree = self.read_tree(session)?;
        self.end_open_steps(session, &tree, None)?;
        let (tree, records) = self.read_all(session)?;
        tree.task(target).ok_or(TimeError::UnknownTask(target))?;
        let mut plan = RestorePlan {
            session,
            from: tree.active(),
            to: target,
            selection,
            steps: Vec::new(),
            conflicts: Vec::new(),
            impossible: BTreeMap::new(),
            lasting: LastingEffects::default(),
        };
        if plan.selection == RestoreSelection::All {
            let tasks = steps_between(&tree, tree.active(), target);
            plan.lasting = truncate(self.store.read_blocking(|reader| reader.time_lasting(session, &tasks))?);
        }
        let (current_chain, target_chain) = (tree.chain(tree.active()), tree.chain(target));
        let roots = tree.folders();
        let mut steps = Vec::new();
        let is_chosen = |path: &&PathBuf| match &plan.selection {
            RestoreSelection::All => true,
            RestoreSelection::Files(chosen) => chosen.contains(*path),
        };
        let paths: Vec<&PathBuf> = records.paths().filter(is_chosen).collect();
        let present_images =
            try_map(&paths, FolderCache::default, |folders, path| self.present_image(folders, path))?;
        for (path, (present, stamp)) in paths.into_iter().zip(present_images) {
            let state =
                |chain: &[StepNumber]| records.at_end(chain, path).cloned().unwrap_or(FileImage::Absent);
            let (current, target_state) = (state(&current_chain), state(&target_chain));
            let verdict = decide(RestoreCandidate {
                path: path.clone(),
                at_current: current,
                at_target: target_state,
                by_others: records.by_others(&current_chain, &target_chain, path).cloned(),
                present,
                stamp,
            });
            let writes = matches!(verdict, PathDecision::Clean(_) | PathDecision::Conflict { .. });
            if writes && !may_write(&roots, &records, path) {
                plan.impossible.insert(path.clone(), UnrestorableReason::OutsideRoots);
                continue;
            }
            match verdict {
                PathDecision::Nothing => {}
                PathDecision::Clean(step) => steps.push(step),
                PathDecision::Conflict { step, source, to_others } => {
                    plan.conflicts.push((step, source));
                    steps.extend(to_others);
                }
                PathDecision::Impossible(reason) => {
                    plan.impossible.insert(path.clone(), reason);
                }
            }
        }
        let (steps, impossible) = arrange_on_disk(steps)?;
        plan.steps = steps;
        plan.impossible.extend(impossible);
        Ok(plan)
    }

    fn restore(&self, plan: &RestorePlan, overwrite: &BTreeSet<PathBuf>) -> Result<RestoreReport, TimeError> {
        let session = plan.session;
        let tree = self.read_tree(session)?;
        if tree.active() != plan.from {
            return Err(TimeError::UnknownTask(plan.from));
        }
        let (overwritten, remaining): (Vec<_>, Vec<_>) =
            plan.conflicts.iter().partition(|(step, _)| overwrite.contains(&step.path));
        // A chosen step replaces the one that would have ended at the state by others.
        let mut steps: BTreeMap<&Path, &RestoreStep> =
            plan.steps.iter().map(|step| (step.path.as_path(), step)).collect();
        steps.extend(overwritten.into_iter().map(|(step, _)| (step.path.as_path(), step)));
        let steps = steps.into_values().cloned().collect();
        let (steps, more) = arrange_on_disk(steps)?;
        // A step that was possible when the plan was made is now blocked.
        if let Some(step) = plan.steps.iter().find(|step| more.contains_key(&step.path)) {
            return Err(TimeError::ChangedSincePlan(step.path.clone()));
        }
        let mut not_possible = plan.impossible.clone();
        not_possible.extend(more);
        let mut report = RestoreReport {
            active: plan.to,
            safety: None,
            changed: u32::try_from(steps.len()).unwrap_or(u32::MAX),
            kept: remaining.iter().map(|(step, _)| text_of(&step.path)).collect(),
            impossible: impossible(&not_possible),
        };
        let switches = plan.selection == RestoreSelection::All;
        if steps.is_empty() {
            report.active = if switches { plan.to } else { plan.from };
            if switches {
                let target_step = plan.to;
                self.store.write_blocking(move |tx| tx.set_active_time_step(session, target_step))?;
            }
            return Ok(report);
        }
        self.store_present(&steps)?;
        self.verify(&steps)?;

        let mut journal = self.journal(plan, &steps)?;
        self.journals.write(&journal, RestoreStage::Staging).map_err(TimeError::Journal)?;
        let prepared = stage(&self.blobs, &journal).and_then(|()| {
            // Staging took time: meanwhile changed files are not overwritten.
            require_unchanged(&steps)?;
            self.add_entry(plan, &tree, &steps)
        });
        let entry = match prepared {
            Ok(entry) => entry,
            Err(error) => {
                unstage(&journal);
                self.journals.remove(&journal.id, RestoreStage::Staging).map_err(TimeError::Journal)?;
                return Err(error);
            }
        };
        report.safety = Some(entry);
        if !switches {
            journal.to = entry;
            report.active = entry;
            self.journals.write(&journal, RestoreStage::Staging).map_err(TimeError::Journal)?;
        }
        self.journals
            .advance(&journal.id, RestoreStage::Staging, RestoreStage::Forward)
            .map_err(TimeError::Journal)?;
        match apply(&self.blobs, &journal) {
            Ok(()) => self.finish_journal(&journal, RestoreStage::Forward, journal.to)?,
            Err(error) => {
                self.journals
                    .advance(&journal.id, RestoreStage::Forward, RestoreStage::Back)
                    .map_err(TimeError::Journal)?;
                self.undo_steps(&journal)?;
                let session = plan.session;
                self.store.write_blocking(move |tx| tx.drop_time_step(session, entry))?;
                return Err(error);
            }
        }
        Ok(report)
    }

    /// Stores the content of everything that is about to change, and checks that it is in the planned state.
    fn store_present(&self, steps: &[RestoreStep]) -> Result<(), TimeError> {
        try_map(steps, FolderCache::default, |folders, step| {
            let mode = ContentMode::Content(&self.blobs, FlushTiming::Deferred);
            let (image, _) = image_at(folders, &step.path, self.limits.max_file_bytes, mode)?;
            if image == step.from { Ok(()) } else { Err(TimeError::ChangedSincePlan(step.path.clone())) }
        })?;
        Ok(self.blobs.flush()?)
    }

    /// Checks that all content needed to return exists undamaged. Staging checks the content needed to restore
    /// as it writes it.
    fn verify(&self, steps: &[RestoreStep]) -> Result<(), TimeError> {
        let content = |image: &'_ FileImage| match image {
            FileImage::File { blob, .. } => Some(blob.clone()),
            _ => None,
        };
        let needed: BTreeSet<BlobHash> = steps.iter().filter_map(|step| content(&step.from)).collect();
        let needed: Vec<BlobHash> = needed.into_iter().collect();
        try_map(&needed, || (), |(), blob| self.blobs.verify(blob))?;
        Ok(())
    }

    fn journal(&self, plan: &RestorePlan, steps: &[RestoreStep]) -> Result<Journal, TimeError> {
        // Unique: two restores of one session at the same number would otherwise share staged files.
        let id = octo_protocol::TurnId::new().to_string();
        let mut folders = FolderCache::default();
        let mut lines = Vec::with_capacity(steps.len());
        for (number, step) in steps.iter().enumerate() {
            let staged = if needs_staging(&step.from, &step.to) {
                let folder = existing_above(&mut folders, &step.path)
                    .map_err(|error| TimeError::disk(&step.path, error))?;
                Some(folder.join(staged_name(&id, number)))
            } else {
                None
            };
            lines.push(JournalStep::new(step, staged.as_deref()));
        }
        Ok(Journal { id, session: plan.session, from: plan.from, to: plan.to, steps: lines })
    }

    /// Adds the tree entry that keeps the previous state: on a side branch if the session moves to another
    /// step, on the main path if it stays and only files are restored.
    fn add_entry(
        &self,
        plan: &RestorePlan,
        tree: &SessionStepTree,
        steps: &[RestoreStep],
    ) -> Result<StepNumber, TimeError> {
        let session = plan.session;
        let (kind, activate) = match plan.selection {
            RestoreSelection::All => (StepKind::Safety, StepActivation::Beside),
            RestoreSelection::Files(_) => (StepKind::Files, StepActivation::Beside),
        };
        let time_step = NewTimeStep {
            parent: plan.from,
            kind,
            turn: None,
            summary: tree.task(plan.to).map(|task| task.summary.clone()).unwrap_or_default(),
            folder: tree.task(plan.from).map(|task| task.folder.clone()).unwrap_or_default(),
        };
        let states: Vec<(Vec<u8>, FileImage, FileImage)> =
            steps.iter().map(|step| (bytes_of(&step.path), step.from.clone(), step.to.clone())).collect();
        let parent = plan.from;
        let is_full = plan.selection == RestoreSelection::All;
        let number = self.store.write_blocking(move |tx| {
            let number = tx.add_time_step(session, &time_step, activate)?;
            let mut rows = Vec::new();
            for (path, before, after) in states {
                let row = |number, moment, image| RecordedState {
                    path: path.clone(),
                    number,
                    side: moment,
                    source: StateSource::Restored,
                    image,
                };
                if is_full {
                    rows.push(row(number, StateMoment::After, before));
                } else {
                    // A change by others belongs to the step that was active, so undoing this entry restores
                    // it.
                    rows.push(row(parent, StateMoment::Left, before.clone()));
                    rows.push(row(number, StateMoment::Before, before));
                    rows.push(row(number, StateMoment::After, after));
                }
            }
            tx.record_time_states(session, &rows)?;
            Ok(number)
        })?;
        Ok(number)
    }

    pub(super) fn finish_journal(
        &self,
        journal: &Journal,
        stage: RestoreStage,
        active: StepNumber,
    ) -> Result<(), TimeError> {
        let session = journal.session;
        self.store.write_blocking(move |tx| tx.set_active_time_step(session, active))?;
        self.journals.remove(&journal.id, stage).map_err(TimeError::Journal)
    }

    /// Undoes the steps of a journal at [`RestoreStage::Back`].
    pub(super) fn undo_steps(&self, journal: &Journal) -> Result<(), TimeError> {
        apply(&self.blobs, &journal.reversed()).map_err(|error| match error {
            TimeError::Disk { path, error } => TimeError::Stuck { path, error },
            other => other,
        })?;
        unstage(journal);
        self.finish_journal(journal, RestoreStage::Back, journal.from)
    }

    /// Returns the present state of a path. Does not store content.
    fn present_image(
        &self,
        folders: &mut FolderCache,
        path: &Path,
    ) -> Result<(FileImage, Option<super::folder::PathStamp>), TimeError> {
        Ok(image_at(folders, path, self.limits.max_file_bytes, ContentMode::Hash)?)
    }
}

/// Checks that nothing changed since it was read.
fn require_unchanged(steps: &[RestoreStep]) -> Result<(), TimeError> {
    let mut folders = FolderCache::default();
    for step in steps {
        let stamp = match folders.parent_of(&step.path).and_then(|(folder, name)| folder.stamp(name)) {
            Err(error) if super::folder::is_missing_parent(&error) => Ok(None),
            other => other,
        };
        let is_unchanged = match (stamp, step.stamp) {
            // Staging files in a folder changes its times and length.
            (Ok(Some(current)), Some(planned)) if matches!(step.from, FileImage::Folder { .. }) => {
                current.inode == planned.inode && current.mode == planned.mode
            }
            (Ok(current), planned) => current == planned,
            (Err(_), _) => false,
        };
        if !is_unchanged {
            return Err(TimeError::ChangedSincePlan(step.path.clone()));
        }
    }
    Ok(())
}

fn may_write(roots: &BTreeSet<PathBuf>, records: &StateRecords, path: &Path) -> bool {
    // A file tool named it and had permission then; or it is in a folder the session worked in.
    records.is_named(path) || roots.iter().any(|root| path.starts_with(root) || is_inside(root, path))
}

/// Returns the nearest existing folder above a path.
fn existing_above(folders: &mut FolderCache, path: &Path) -> io::Result<PathBuf> {
    for ancestor in path.ancestors().skip(1) {
        let is_folder = match parent_and_name(ancestor) {
            Ok(_) => matches!(folders.read_entry(ancestor)?, DiskEntry::Folder(_)),
            Err(_) => true,
        };
        if is_folder {
            return Ok(ancestor.to_owned());
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

fn arrange_on_disk(steps: Vec<RestoreStep>) -> Result<super::plan::ArrangedSteps, TimeError> {
    let first_path = steps.first().map(|step| step.path.clone()).unwrap_or_default();
    arrange(steps, &mut LiveDisk(FolderCache::default())).map_err(|error| TimeError::disk(&first_path, error))
}

/// The real disk.
struct LiveDisk(FolderCache);

impl DiskQueries for LiveDisk {
    fn kind(&mut self, path: &Path) -> io::Result<DiskKind> {
        if parent_and_name(path).is_err() {
            return Ok(DiskKind::Folder); // The root.
        }
        match self.0.parent_of(path) {
            Ok((folder, name)) => Ok(match folder.read_entry(name)? {
                DiskEntry::Folder(_) => DiskKind::Folder,
                DiskEntry::Absent => DiskKind::Absent,
                _ => DiskKind::Other,
            }),
            Err(error) if super::folder::is_missing_parent(&error) => Ok(DiskKind::Absent),
            Err(error) => Err(error),
        }
    }

    fn names(&mut self, path: &Path) -> io::Result<Vec<OsString>> {
        let (folder, name) = self.0.parent_of(path)?;
        folder.names(name)
    }
}

/// The step that a plan would leave, for callers that need its id.
impl From<&RestorePlan> for StepId {
    fn from(plan: &RestorePlan) -> Self {
        Self { session: plan.session, number: plan.from }
    }
}
