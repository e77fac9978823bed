//! The journal of a restore: a file in the home that lists the steps, so a process killed at any moment leaves
//! either the old state or a list that leads to the new one.
//!
//! It is a file and not a table, because it must be on the disk before the first file is replaced, and the
//! database may lose its last transactions in a power cut. Its extension is the stage of the restore:
//! `.staging` while new content is prepared (nothing is changed yet), `.forward` from then on, `.back` while
//! the restore is undone.

use super::{folder::PathStamp, plan::RestoreStep};
use octo_protocol::{FileImage, SessionId, StepNumber};
use serde::{Deserialize, Serialize};
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::bytes::{bytes_of, path_of};

/// The stage of a restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RestoreStage {
    /// New content is written next to its targets. Nothing is changed yet.
    Staging,
    /// Targets are being changed. From here on the restore is completed.
    Forward,
    /// A step failed: the changes are being undone.
    Back,
}

impl RestoreStage {
    const ALL: [Self; 3] = [Self::Staging, Self::Forward, Self::Back];

    fn suffix(self) -> &'static str {
        match self {
            Self::Staging => "staging",
            Self::Forward => "forward",
            Self::Back => "back",
        }
    }
}

/// The steps of a restore.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Journal {
    /// Its id, also part of the names of its staged files.
    pub(crate) id: String,
    pub(crate) session: SessionId,
    /// The active step before the restore.
    pub(crate) from: StepNumber,
    /// The active step after the restore.
    pub(crate) to: StepNumber,
    pub(crate) steps: Vec<JournalStep>,
}

/// One step, with the name of its staged content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JournalStep {
    path: Vec<u8>,
    pub(crate) from: FileImage,
    pub(crate) to: FileImage,
    pub(crate) stamp: Option<PathStamp>,
    staged: Option<Vec<u8>>,
}

impl JournalStep {
    pub(crate) fn new(step: &RestoreStep, staged: Option<&Path>) -> Self {
        Self {
            path: bytes_of(&step.path),
            from: step.from.clone(),
            to: step.to.clone(),
            stamp: step.stamp,
            staged: staged.map(bytes_of),
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        path_of(&self.path)
    }

    pub(crate) fn staged(&self) -> Option<PathBuf> {
        self.staged.as_deref().map(path_of)
    }
}

impl Journal {
    /// Returns the same steps reversed, to undo them.
    pub(crate) fn reversed(&self) -> Self {
        let mut reversed = self.clone();
        for step in &mut reversed.steps {
            std::mem::swap(&mut step.from, &mut step.to);
            (step.stamp, step.staged) = (None, None);
        }
        reversed
    }
}

/// The journals of a home.
#[derive(Clone, Debug)]
pub(crate) struct Journals {
    folder: PathBuf,
}

impl Journals {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn path(&self, id: &str, stage: RestoreStage) -> PathBuf {
        self.folder.join(format!("{id}.{}", stage.suffix()))
    }

    /// Writes a journal, flushed to disk when this returns.
    pub(crate) fn write(&self, journal: &Journal, stage: RestoreStage) -> io::Result<()> {
        crate::private_folder(&self.folder)?;
        let mut temporary = tempfile::Builder::new().prefix(".journal-").tempfile_in(&self.folder)?;
        temporary.write_all(&serde_json::to_vec(journal)?)?;
        temporary.as_file().sync_all()?;
        temporary.persist(self.path(&journal.id, stage)).map_err(|error| error.error)?;
        self.sync();
        Ok(())
    }

    /// Moves a journal to another stage.
    pub(crate) fn advance(&self, id: &str, current: RestoreStage, next: RestoreStage) -> io::Result<()> {
        fs::rename(self.path(id, current), self.path(id, next))?;
        self.sync();
        Ok(())
    }

    /// Removes a journal: its steps are done, or never began.
    pub(crate) fn remove(&self, id: &str, stage: RestoreStage) -> io::Result<()> {
        fs::remove_file(self.path(id, stage))?;
        self.sync();
        Ok(())
    }

    /// Returns all journals. An unreadable one is an error: its steps may be half done.
    pub(crate) fn all(&self) -> io::Result<Vec<(Journal, RestoreStage)>> {
        let mut journals = Vec::new();
        for path in self.files()? {
            let stage = RestoreStage::ALL
                .into_iter()
                .find(|stage| path.extension().is_some_and(|extension| extension == stage.suffix()));
            if let Some(stage) = stage {
                let journal: Journal = serde_json::from_slice(&fs::read(&path)?)?;
                journals.push((journal, stage));
            }
        }
        Ok(journals)
    }

    /// Returns the text of every journal: content it refers to must not be collected.
    pub(crate) fn texts(&self) -> io::Result<Vec<String>> {
        self.files()?.into_iter().map(fs::read_to_string).collect()
    }

    fn files(&self) -> io::Result<Vec<PathBuf>> {
        match fs::read_dir(&self.folder) {
            Ok(entries) => {
                let mut files: Vec<PathBuf> =
                    entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
                files.sort();
                Ok(files)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn sync(&self) {
        if let Err(error) = octo_store::flush_folder(&self.folder) {
            tracing::debug!(%error, "the folder of the journals could not be synced");
        }
    }
}
