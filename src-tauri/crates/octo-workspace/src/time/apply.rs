//! Carries out the steps of a restore on the disk.
//!
//! Each part can be repeated: finished steps are skipped. The same code therefore completes an interrupted
//! restore, and undoes one when its steps are reversed.

use super::{
    TimeError,
    bytes::path_of,
    content::{ContentMode, image_of},
    folder::{DiskEntry, Folder, FolderCache, is_missing_parent, parent_and_name},
    journal::{Journal, JournalStep},
};
use crate::{BlobError, Blobs};
use octo_protocol::{BlobHash, FileImage};
use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
};

/// Writes the new content of a step next to its target, under the name from its journal.
pub(super) fn stage(blobs: &Blobs, step: &JournalStep) -> Result<(), TimeError> {
    let Some(staged) = step.staged() else { return Ok(()) };
    let path = step.path();
    let (folder, name) = parent_and_name(&staged).map_err(|error| TimeError::disk(&path, error))?;
    let folder = Folder::open(folder).map_err(|error| TimeError::disk(&path, error))?;
    write_staged(blobs, &folder, name, &step.to).map_err(|error| blob_error(&path, error))
}

/// Removes staged files that were not used.
pub(super) fn unstage(journal: &Journal) {
    let mut folders = FolderCache::default();
    for staged in journal.steps.iter().filter_map(JournalStep::staged) {
        let removed = folders.parent_of(&staged).and_then(|(folder, name)| folder.remove_file(name));
        match removed {
            Ok(()) => {}
            Err(error) if is_missing_parent(&error) => {}
            Err(error) => tracing::warn!(%error, "a prepared file of a restore stays behind"),
        }
    }
}

fn write_staged(blobs: &Blobs, folder: &Folder, name: &OsStr, image: &FileImage) -> Result<(), BlobError> {
    match image {
        FileImage::File { blob, mode, .. } => {
            let mut file = folder.create(name)?;
            blobs.copy(blob, &mut file)?;
            set_mode_of(&file, *mode)?;
            file.sync_all()?;
        }
        FileImage::Link { target } => folder.link(name, &path_of(target))?,
        FileImage::Absent | FileImage::Folder { .. } | FileImage::Unsaved { .. } => {}
    }
    Ok(())
}

#[cfg(unix)]
fn set_mode_of(file: &std::fs::File, mode: u32) -> io::Result<()> {
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode_of(_: &std::fs::File, _: u32) -> io::Result<()> {
    Ok(())
}

fn blob_error(path: &Path, error: BlobError) -> TimeError {
    match error {
        BlobError::Io(error) => TimeError::disk(path, error),
        other => other.into(),
    }
}

/// Whether a step needs staged content. A mere change of permissions needs none.
pub(super) fn needs_staging(current: &FileImage, target: &FileImage) -> bool {
    match target {
        FileImage::File { blob, .. } => !is_content(current, blob),
        FileImage::Link { .. } => true,
        FileImage::Absent | FileImage::Folder { .. } | FileImage::Unsaved { .. } => false,
    }
}

fn is_content(image: &FileImage, content: &BlobHash) -> bool {
    matches!(image, FileImage::File { blob, .. } if blob == content)
}

fn is_folder(image: &FileImage) -> bool {
    matches!(image, FileImage::Folder { .. })
}

/// Carries out all steps in a feasible order: removes files, removes folders, creates folders, creates files,
/// sets permissions of folders. Stops at the first failure.
pub(super) fn apply(blobs: &Blobs, journal: &Journal) -> Result<(), TimeError> {
    let mut lines: Vec<(PathBuf, &JournalStep)> =
        journal.steps.iter().map(|step| (step.path(), step)).collect();
    lines.sort_by(|(a, _), (other, _)| a.cmp(other));
    let mut run =
        StepRunner { blobs, id: &journal.id, folders: FolderCache::default(), changed: BTreeSet::new() };
    // A folder that is read-only now may become writable, and must be writable while its content is moved.
    for (path, step) in &lines {
        if let (FileImage::Folder { .. }, FileImage::Folder { mode }) = (&step.from, &step.to) {
            run.step(path, |_, folder, name| set_folder_mode(folder, name, mode | 0o700))?;
        }
    }
    for (path, step) in &lines {
        let is_there = matches!(step.from, FileImage::File { .. } | FileImage::Link { .. });
        if is_there && matches!(step.to, FileImage::Absent | FileImage::Folder { .. }) {
            run.removal(path, |_, folder, name| match folder.read_entry(name)? {
                DiskEntry::Absent | DiskEntry::Folder(_) => Ok(()),
                _ => folder.remove_file(name),
            })?;
        }
    }
    for (path, step) in lines.iter().rev() {
        if is_folder(&step.from) && !is_folder(&step.to) {
            run.removal(path, |_, folder, name| match folder.read_entry(name)? {
                DiskEntry::Folder(_) => folder.remove_folder(name),
                _ => Ok(()),
            })?;
        }
    }
    for (path, step) in &lines {
        if is_folder(&step.to) && !is_folder(&step.from) {
            run.step(path, |_, folder, name| match folder.read_entry(name)? {
                DiskEntry::Folder(_) => Ok(()),
                _ => folder.make(name),
            })?;
        }
    }
    for (number, (path, step)) in lines.iter().enumerate() {
        run.place(path, step, number)?;
    }
    for (path, step) in lines.iter().rev() {
        if let FileImage::Folder { mode } = &step.to {
            run.step(path, |_, folder, name| set_folder_mode(folder, name, *mode))?;
        }
    }
    for folder in &run.changed {
        if let Ok(folder) = Folder::open(folder) {
            folder.sync();
        }
    }
    Ok(())
}

fn set_folder_mode(folder: &Folder, name: &OsStr, mode: u32) -> io::Result<()> {
    match folder.stamp(name)? {
        Some(stamp) if stamp.permissions() == mode & 0o7777 => Ok(()),
        _ => folder.set_mode(name, mode),
    }
}

struct StepRunner<'a> {
    blobs: &'a Blobs,
    id: &'a str,
    folders: FolderCache,
    changed: BTreeSet<PathBuf>,
}

impl StepRunner<'_> {
    fn step(
        &mut self,
        path: &Path,
        work: impl FnOnce(&Blobs, &Folder, &OsStr) -> io::Result<()>,
    ) -> Result<(), TimeError> {
        let blobs = self.blobs;
        let result = match self.folders.parent_of(path) {
            Ok((folder, name)) => work(blobs, folder, name),
            Err(error) => Err(error),
        };
        // A step may replace the very folder that is open.
        if self.changed.insert(path.parent().unwrap_or(path).to_owned()) {
            self.folders.forget();
        }
        result.map_err(|error| TimeError::disk(path, error))
    }

    /// Carries out a step that removes a path. If its parent folder does not exist, the path is already gone.
    fn removal(
        &mut self,
        path: &Path,
        work: impl FnOnce(&Blobs, &Folder, &OsStr) -> io::Result<()>,
    ) -> Result<(), TimeError> {
        match self.folders.parent_of(path) {
            Err(error) if is_missing_parent(&error) => Ok(()),
            _ => self.step(path, work),
        }
    }

    /// Moves a staged file or link to its target.
    fn place(&mut self, path: &Path, step: &JournalStep, number: usize) -> Result<(), TimeError> {
        if !matches!(step.to, FileImage::File { .. } | FileImage::Link { .. }) {
            return Ok(());
        }
        let (folder, name) = self.folders.parent_of(path).map_err(|error| TimeError::disk(path, error))?;
        let entry = folder.read_entry(name).map_err(|error| TimeError::disk(path, error))?;
        let present =
            image_of(entry, u64::MAX, ContentMode::Hash).map_err(|error| blob_error(path, error))?;
        if present == step.to {
            return Ok(()); // Done before the restore was cut short.
        }
        if let (FileImage::File { blob, mode, .. }, FileImage::File { blob: now, .. }) = (&step.to, &present)
            && blob == now
        {
            folder.set_mode(name, *mode).map_err(|error| TimeError::disk(path, error))?;
            return Ok(());
        }
        if is_folder(&present) {
            return Err(TimeError::disk(path, io::ErrorKind::IsADirectory.into()));
        }
        let staged = match step.staged() {
            Some(staged)
                if FolderCache::default().read_entry(&staged).is_ok_and(|entry| entry.stamp().is_some()) =>
            {
                staged
            }
            _ => {
                let staged = path.with_file_name(staged_name(self.id, number));
                let (folder, name) =
                    self.folders.parent_of(&staged).map_err(|error| TimeError::disk(path, error))?;
                match folder.remove_file(name) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(TimeError::disk(path, error));
                    }
                    _ => {}
                }
                write_staged(self.blobs, folder, name, &step.to).map_err(|error| blob_error(path, error))?;
                staged
            }
        };
        let move_result = (|| {
            let (source, staged_name) = parent_and_name(&staged)?;
            let source = Folder::open(source)?;
            let (folder, name) = self.folders.parent_of(path)?;
            source.rename(staged_name, folder, name)
        })();
        self.changed.insert(path.parent().unwrap_or(path).to_owned());
        move_result.map_err(|error| TimeError::disk(path, error))
    }
}

/// Returns the name under which a step's new content is staged.
pub(super) fn staged_name(id: &str, number: usize) -> OsString {
    format!(".octo-{id}-{number}.tmp").into()
}
