//! Completes the interrupted work of a killed process.

use super::{
    TimeError, TimeMachine, TimeMachineInner,
    apply::{apply, unstage},
    content::{ContentMode, image_at},
    folder::FolderCache,
    journal::{Journal, RestoreStage},
};
use octo_protocol::{FileImage, SessionId};
use std::{collections::BTreeSet, path::PathBuf};

/// The outcome of a restore that an earlier process left unfinished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoveredRestore {
    /// The session of the restore.
    pub session: SessionId,
    /// Its outcome.
    pub outcome: RecoveryOutcome,
    /// Paths changed by others after the process ended; they were left unchanged.
    pub skipped: Vec<PathBuf>,
}

/// The end of an unfinished restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryOutcome {
    /// Nothing had been changed.
    NotBegun,
    /// It was completed.
    Finished,
    /// It was undone.
    Undone,
}

impl TimeMachine {
    /// Returns the sessions with unfinished work of an earlier process, or of a live one.
    /// [`TimeMachine::recover`] completes each, under the session's lease.
    ///
    /// # Errors
    ///
    /// Errors of the store and the disk.
    pub fn unfinished(&self) -> Result<BTreeSet<SessionId>, TimeError> {
        let inner = &self.inner;
        let journals = inner.journals.all().map_err(TimeError::Journal)?;
        let commands = inner.store.read_blocking(|reader| reader.time_commands())?;
        let restored = journals.into_iter().map(|(journal, _)| journal.session);
        Ok(restored.chain(commands.into_iter().map(|command| command.session)).collect())
    }

    /// Restores content that a killed collection had set apart. Call it at the start of every process: it does
    /// not harm a collection that runs in another process.
    ///
    /// # Errors
    ///
    /// Disk errors.
    pub fn restore_set_apart_blobs(&self) -> Result<(), TimeError> {
        Ok(self.inner.blobs.restore_set_apart()?)
    }

    /// Completes the unfinished work of an earlier process in a session: finishes or undoes restores, and
    /// records the visible changes of commands that were running.
    ///
    /// Only for the holder of the session's lease, because the process that began the work is then dead. Call
    /// it before anything else in the session; a second call finds nothing to do.
    ///
    /// # Errors
    ///
    /// The first failure; the next start tries again, and the session's time machine refuses to work until
    /// then.
    pub fn recover(&self, session: SessionId) -> Result<Vec<RecoveredRestore>, TimeError> {
        let steps = self.inner.session_steps(session);
        let _desk = steps.lock();
        let mut journals = self.inner.journals.all().map_err(TimeError::Journal)?;
        journals.retain(|(journal, _)| journal.session == session);
        if !journals.is_empty() {
            // Content that a killed collection had set apart may be needed.
            self.inner.blobs.restore_set_apart()?;
        }
        let mut recovered = Vec::new();
        for (journal, stage) in journals {
            recovered.push(self.inner.finish(journal, stage)?);
        }
        self.recover_commands(session)?;
        Ok(recovered)
    }
}

impl TimeMachineInner {
    /// Completes the restore of an earlier process.
    fn finish(&self, mut journal: Journal, stage: RestoreStage) -> Result<RecoveredRestore, TimeError> {
        let session = journal.session;
        if stage == RestoreStage::Staging {
            unstage(&journal);
            self.journals.remove(&journal.id, stage).map_err(TimeError::Journal)?;
            return Ok(RecoveredRestore { session, outcome: RecoveryOutcome::NotBegun, skipped: Vec::new() });
        }
        let prepared = journal.clone();
        let changed_paths = self.drop_changed_steps(&mut journal)?;
        let taken_back = match stage {
            RestoreStage::Forward => match apply(&self.blobs, &journal) {
                Ok(()) => {
                    unstage(&prepared);
                    self.finish_journal(&journal, stage, journal.to)?;
                    false
                }
                Err(error) => {
                    tracing::warn!(%error, "an interrupted restore cannot be finished and is taken back");
                    self.journals
                        .advance(&journal.id, stage, RestoreStage::Back)
                        .map_err(TimeError::Journal)?;
                    unstage(&prepared);
                    self.undo_steps(&journal)?;
                    true
                }
            },
            RestoreStage::Back | RestoreStage::Staging => {
                unstage(&prepared);
                self.undo_steps(&journal)?;
                true
            }
        };
        let outcome = if taken_back { RecoveryOutcome::Undone } else { RecoveryOutcome::Finished };
        Ok(RecoveredRestore { session, outcome, skipped: changed_paths })
    }

    /// Removes the steps from a journal whose paths are in neither the old, the new nor an intermediate state:
    /// others changed them since the process ended, and they must not be overwritten.
    fn drop_changed_steps(&self, journal: &mut Journal) -> Result<Vec<PathBuf>, TimeError> {
        let mut folders = FolderCache::default();
        let mut changed_paths = Vec::new();
        let mut remaining = Vec::with_capacity(journal.steps.len());
        for step in std::mem::take(&mut journal.steps) {
            let path = step.path();
            let (present, _) = image_at(&mut folders, &path, u64::MAX, ContentMode::Hash)?;
            let folder = |image: &FileImage| matches!(image, FileImage::Folder { .. });
            let is_between = match &present {
                FileImage::Absent => true,
                // In transition between permissions.
                FileImage::Folder { .. } => folder(&step.from) || folder(&step.to),
                FileImage::File { blob, .. } => [&step.from, &step.to].into_iter().any(
                    |image| matches!(image, FileImage::File { blob: candidate, .. } if candidate == blob),
                ),
                other => *other == step.from || *other == step.to,
            };
            if is_between { remaining.push(step) } else { changed_paths.push(path) }
        }
        journal.steps = remaining;
        Ok(changed_paths)
    }
}
