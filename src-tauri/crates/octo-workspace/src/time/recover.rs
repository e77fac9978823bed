//! Ending what a killed process left in the middle.

use super::{
    Inner, TimeError, TimeMachine,
    apply::{apply, unstage},
    folder::Folders,
    journal::{Journal, Stage},
    keep::{Keep, look},
};
use octo_protocol::{FileImage, SessionId};
use std::{collections::BTreeSet, path::PathBuf};

/// What became of a restore that an earlier process left unfinished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// Whose restore it was.
    pub session: SessionId,
    /// What became of it.
    pub outcome: RecoveredAs,
    /// Paths somebody changed after the process ended; they were left as they are.
    pub kept: Vec<PathBuf>,
}

/// How an unfinished restore ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveredAs {
    /// Nothing had been changed; nothing is.
    NotBegun,
    /// It is done.
    Finished,
    /// It was taken back.
    TakenBack,
}

impl TimeMachine {
    /// The sessions in which an earlier process, or one that lives, is in the middle of something. Each is ended by
    /// [`TimeMachine::recover`], under the session's lease.
    ///
    /// # Errors
    /// Those of the store and the disk.
    pub fn unfinished(&self) -> Result<BTreeSet<SessionId>, TimeError> {
        let inner = &self.inner;
        let journals = inner.journals.all().map_err(TimeError::Journal)?;
        let commands = inner.store.read_blocking(|reader| reader.time_commands())?;
        let restored = journals.into_iter().map(|(journal, _)| journal.session);
        Ok(restored.chain(commands.into_iter().map(|command| command.session)).collect())
    }

    /// Brings back content that a killed collection had set aside. To be called at the start of every process: a
    /// collection that is under way in another one takes no harm.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn put_back(&self) -> Result<(), TimeError> {
        Ok(self.inner.blobs.put_back()?)
    }

    /// Ends what an earlier process left unfinished in a session: restores are finished or taken back, and changes of
    /// commands that ran are recorded as far as they can be seen.
    ///
    /// Only for who has the session's lease: then whoever began it is dead. To be called before anything else in the
    /// session; nothing is left to do the second time.
    ///
    /// # Errors
    /// The first that could not be ended; it is tried again at the next start, and the session's time machine refuses
    /// to work until then.
    pub fn recover(&self, session: SessionId) -> Result<Vec<Recovered>, TimeError> {
        let desk = self.inner.desk(session);
        let _desk = super::lock(&desk);
        let mut journals = self.inner.journals.all().map_err(TimeError::Journal)?;
        journals.retain(|(journal, _)| journal.session == session);
        if !journals.is_empty() {
            // What a killed collection had set aside may be needed.
            self.inner.blobs.put_back()?;
        }
        let mut recovered = Vec::new();
        for (journal, stage) in journals {
            recovered.push(self.inner.finish(journal, stage)?);
        }
        self.recover_commands(session)?;
        Ok(recovered)
    }
}

impl Inner {
    /// Ends the restore of an earlier process.
    fn finish(&self, mut journal: Journal, stage: Stage) -> Result<Recovered, TimeError> {
        let session = journal.session;
        if stage == Stage::Staging {
            unstage(&journal);
            self.journals.remove(&journal.id, stage).map_err(TimeError::Journal)?;
            return Ok(Recovered { session, outcome: RecoveredAs::NotBegun, kept: Vec::new() });
        }
        let prepared = journal.clone();
        let kept = self.leave_changed(&mut journal)?;
        let taken_back = match stage {
            Stage::Forward => match apply(&self.blobs, &journal) {
                Ok(()) => {
                    unstage(&prepared);
                    self.done(&journal, stage, journal.to)?;
                    false
                }
                Err(error) => {
                    tracing::warn!(%error, "an interrupted restore cannot be finished and is taken back");
                    self.journals.advance(&journal.id, stage, Stage::Back).map_err(TimeError::Journal)?;
                    unstage(&prepared);
                    self.take_back(&journal)?;
                    true
                }
            },
            Stage::Back | Stage::Staging => {
                unstage(&prepared);
                self.take_back(&journal)?;
                true
            }
        };
        let outcome = if taken_back { RecoveredAs::TakenBack } else { RecoveredAs::Finished };
        Ok(Recovered { session, outcome, kept })
    }

    /// Takes the steps out of a journal whose paths are neither as before nor as after nor in between:
    /// somebody changed them since the process ended, and they are not ours to overwrite.
    fn leave_changed(&self, journal: &mut Journal) -> Result<Vec<PathBuf>, TimeError> {
        let mut folders = Folders::default();
        let mut kept = Vec::new();
        let mut left = Vec::with_capacity(journal.steps.len());
        for line in std::mem::take(&mut journal.steps) {
            let path = line.path();
            let (present, _) = look(&mut folders, &path, u64::MAX, Keep::Hash)?;
            let folder = |image: &FileImage| matches!(image, FileImage::Folder { .. });
            let between = match &present {
                FileImage::Absent => true,
                // On its way to or from other permissions.
                FileImage::Folder { .. } => folder(&line.from) || folder(&line.to),
                FileImage::File { blob, .. } => [&line.from, &line.to]
                    .into_iter()
                    .any(|image| matches!(image, FileImage::File { blob: known, .. } if known == blob)),
                other => *other == line.from || *other == line.to,
            };
            if between { left.push(line) } else { kept.push(path) }
        }
        journal.steps = left;
        Ok(kept)
    }
}
