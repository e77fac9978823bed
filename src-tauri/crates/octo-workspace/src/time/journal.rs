//! The journal of a restore: a file in the home that says what is being done, so that a process killed at any
//! moment leaves either the old state or a list that leads to the new one.
//!
//! A file and no table, because it must be on the disk before the first file is replaced, and the database
//! may lose its last transactions in a power cut. Its name says how far the restore is: `.staging` while new
//! content is prepared (nothing is changed yet), `.forward` from then on, `.back` while it is taken back.

use super::{folder::Stamp, plan::Step};
use octo_protocol::{FileImage, SessionId, TaskNumber};
use serde::{Deserialize, Serialize};
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::bytes::{bytes_of, path_of};

/// How far a restore is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// New content is prepared beside its place. Nothing is changed.
    Staging,
    /// Places are changed. From here it is finished.
    Forward,
    /// A step failed: the places are changed back.
    Back,
}

impl Stage {
    const ALL: [Self; 3] = [Self::Staging, Self::Forward, Self::Back];

    fn suffix(self) -> &'static str {
        match self {
            Self::Staging => "staging",
            Self::Forward => "forward",
            Self::Back => "back",
        }
    }
}

/// What a restore does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Journal {
    /// Its name, also of the files it prepares.
    pub(crate) id: String,
    pub(crate) session: SessionId,
    /// The task that is active before.
    pub(crate) from: TaskNumber,
    /// The task that is active once it is done.
    pub(crate) to: TaskNumber,
    pub(crate) steps: Vec<Line>,
}

/// One step, with where its new content is prepared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Line {
    path: Vec<u8>,
    pub(crate) from: FileImage,
    pub(crate) to: FileImage,
    pub(crate) stamp: Option<Stamp>,
    staged: Option<Vec<u8>>,
}

impl Line {
    pub(crate) fn new(step: &Step, staged: Option<&Path>) -> Self {
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
    /// The same steps backwards, to take them back.
    pub(crate) fn reversed(&self) -> Self {
        let mut back = self.clone();
        for line in &mut back.steps {
            std::mem::swap(&mut line.from, &mut line.to);
            (line.stamp, line.staged) = (None, None);
        }
        back
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

    fn path(&self, id: &str, stage: Stage) -> PathBuf {
        self.folder.join(format!("{id}.{}", stage.suffix()))
    }

    /// Writes a journal; it is on the disk when this returns.
    pub(crate) fn write(&self, journal: &Journal, stage: Stage) -> io::Result<()> {
        crate::private_folder(&self.folder)?;
        let mut temporary = tempfile::Builder::new().prefix(".journal-").tempfile_in(&self.folder)?;
        temporary.write_all(&serde_json::to_vec(journal)?)?;
        temporary.as_file().sync_all()?;
        temporary.persist(self.path(&journal.id, stage)).map_err(|error| error.error)?;
        self.sync();
        Ok(())
    }

    /// Says that a journal is at another stage now.
    pub(crate) fn advance(&self, id: &str, from: Stage, to: Stage) -> io::Result<()> {
        fs::rename(self.path(id, from), self.path(id, to))?;
        self.sync();
        Ok(())
    }

    /// Removes a journal: what it says is done, or was never begun.
    pub(crate) fn remove(&self, id: &str, stage: Stage) -> io::Result<()> {
        fs::remove_file(self.path(id, stage))?;
        self.sync();
        Ok(())
    }

    /// Every journal there is. One that cannot be read is an error: what it says may be half done.
    pub(crate) fn all(&self) -> io::Result<Vec<(Journal, Stage)>> {
        let mut all = Vec::new();
        for path in self.files()? {
            let stage = Stage::ALL
                .into_iter()
                .find(|stage| path.extension().is_some_and(|extension| extension == stage.suffix()));
            if let Some(stage) = stage {
                let journal: Journal = serde_json::from_slice(&fs::read(&path)?)?;
                all.push((journal, stage));
            }
        }
        Ok(all)
    }

    /// The text of every journal: what it names must not be collected.
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
