//! Carries out the steps of a restore on the disk.
//!
//! Each part can be repeated: finished steps are skipped. The same code therefore completes an interrupted
//! restore, and undoes one when its steps are reversed.

use super::{
    TimeError,
    bytes::path_of,
    content::{ContentMode, image_of},
    folder::{DiskEntry, Folder, FolderCache, is_missing_parent},
    journal::{Journal, JournalStep},
};
use crate::{BlobError, Blobs, FlushTiming, flush::FlushPlan, parallel::try_map};
use octo_protocol::{BlobHash, FileImage};
use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
};

/// Writes the new content of all steps next to their targets, under the names from the journal. All of it is on
/// the disk when this returns.
pub(super) fn stage(blobs: &Blobs, journal: &Journal) -> Result<(), TimeError> {
    let staged: Vec<StagedContent<'_>> = journal
        .steps
        .iter()
        .filter_map(|step| Some(StagedContent { target: step.path(), path: step.staged()?, image: &step.to }))
        .collect();
    write_all_staged(blobs, &staged)
}

/// New content and its names.
struct StagedContent<'a> {
    /// The path it is for.
    target: PathBuf,
    /// Its path until it is moved there.
    path: PathBuf,
    image: &'a FileImage,
}

fn write_all_staged(blobs: &Blobs, staged: &[StagedContent<'_>]) -> Result<(), TimeError> {
    let plan = FlushPlan::new(staged.len(), staged.iter().filter_map(|staged| staged.path.parent()));
    try_map(staged, FolderCache::default, |folders, StagedContent { target, path, image }| {
        let (folder, name) = folders.parent_of(path).map_err(|error| TimeError::disk(target, error))?;
        write_staged(blobs, folder, name, image, plan.timing()).map_err(|error| blob_error(target, error))
    })?;
    let first = staged.first().map(|staged| staged.target.clone()).unwrap_or_default();
    plan.finish().map_err(|error| TimeError::disk(&first, error))
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

fn write_staged(
    blobs: &Blobs,
    folder: &Folder,
    name: &OsStr,
    image: &FileImage,
    flush: FlushTiming,
) -> Result<(), BlobError> {
    match image {
        FileImage::File { blob, mode, .. } => {
            let mut file = folder.create(name, 0o600)?;
            blobs.copy(blob, &mut file)?;
            set_mode_of(&file, *mode)?;
            if flush == FlushTiming::Now {
                file.sync_all()?;
            }
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
    run.remove_files(&lines)?;
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
    run.place_all(&lines)?;
    for (path, step) in lines.iter().rev() {
        if let FileImage::Folder { mode } = &step.to {
            run.step(path, |_, folder, name| set_folder_mode(folder, name, *mode))?;
        }
    }
    run.flush_folders();
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

    /// Removes all files and links that go.
    fn remove_files(&mut self, lines: &[(PathBuf, &JournalStep)]) -> Result<(), TimeError> {
        let goes = |step: &JournalStep| {
            matches!(step.from, FileImage::File { .. } | FileImage::Link { .. })
                && matches!(step.to, FileImage::Absent | FileImage::Folder { .. })
        };
        let paths: Vec<&PathBuf> =
            lines.iter().filter(|(_, step)| goes(step)).map(|(path, _)| path).collect();
        self.note_changed(paths.iter().map(|path| path.as_path()));
        try_map(&paths, FolderCache::default, |folders, path| {
            let removed =
                folders.parent_of(path).and_then(|(folder, name)| match folder.read_entry(name)? {
                    DiskEntry::Absent | DiskEntry::Folder(_) => Ok(()),
                    _ => folder.remove_file(name),
                });
            match removed {
                // Without its folder it is gone already.
                Err(error) if is_missing_parent(&error) => Ok(()),
                other => other.map_err(|error| TimeError::disk(path, error)),
            }
        })?;
        Ok(())
    }

    /// Gives all files and links their new content. Content that is not staged any more is written again first,
    /// and is on the disk before the first of it replaces a file.
    fn place_all(&mut self, lines: &[(PathBuf, &JournalStep)]) -> Result<(), TimeError> {
        let is_done =
            try_map(lines, FolderCache::default, |folders, (path, step)| has_content(folders, path, step))?;
        let mut moves: Vec<(&Path, PathBuf)> = Vec::new();
        let mut missing: Vec<StagedContent<'_>> = Vec::new();
        let mut staged_folders = FolderCache::default();
        for (number, ((path, step), is_done)) in lines.iter().zip(is_done).enumerate() {
            if is_done {
                continue;
            }
            let is_staged = |staged: &PathBuf| {
                let found = staged_folders.parent_of(staged).and_then(|(folder, name)| folder.stamp(name));
                found.is_ok_and(|stamp| stamp.is_some())
            };
            if let Some(staged) = step.staged().filter(is_staged) {
                moves.push((path, staged));
                continue;
            }
            let staged = path.with_file_name(staged_name(self.id, number));
            let (folder, name) =
                self.folders.parent_of(&staged).map_err(|error| TimeError::disk(path, error))?;
            match folder.remove_file(name) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(TimeError::disk(path, error));
                }
                _ => {}
            }
            missing.push(StagedContent { target: path.clone(), path: staged.clone(), image: &step.to });
            moves.push((path, staged));
        }
        write_all_staged(self.blobs, &missing)?;
        self.note_changed(moves.iter().map(|(path, _)| *path));
        let caches = || (FolderCache::default(), FolderCache::default());
        try_map(&moves, caches, |(sources, folders), (path, staged)| {
            let moved = (|| {
                let (source, staged_name) = sources.parent_of(staged)?;
                let (folder, name) = folders.parent_of(path)?;
                source.rename(staged_name, folder, name)
            })();
            moved.map_err(|error| TimeError::disk(path, error))
        })?;
        Ok(())
    }

    /// Notes that the names in the folders of these paths change.
    fn note_changed<'a>(&mut self, paths: impl Iterator<Item = &'a Path>) {
        self.changed.extend(paths.map(|path| path.parent().unwrap_or(path).to_owned()));
        self.folders.forget();
    }

    /// Makes the changed names survive a power cut.
    fn flush_folders(&self) {
        let plan = FlushPlan::new(self.changed.len(), self.changed.iter().map(PathBuf::as_path));
        if plan.timing() == FlushTiming::Now {
            self.changed
                .iter()
                .filter_map(|folder| Folder::open(folder).ok())
                .for_each(|folder| folder.sync());
        } else if let Err(error) = plan.finish() {
            tracing::debug!(%error, "the changed folders could not be flushed");
        }
    }
}

/// Whether a step gives its path no new content: it gives none, or the path has it, after a mere change of its
/// permissions if need be.
fn has_content(folders: &mut FolderCache, path: &Path, step: &JournalStep) -> Result<bool, TimeError> {
    if !matches!(step.to, FileImage::File { .. } | FileImage::Link { .. }) {
        return Ok(true);
    }
    let (folder, name) = folders.parent_of(path).map_err(|error| TimeError::disk(path, error))?;
    let entry = folder.read_entry(name).map_err(|error| TimeError::disk(path, error))?;
    // Untouched since the plan: its content needs no second look.
    let is_untouched = matches!(entry, DiskEntry::File(..)) && entry.stamp() == step.stamp;
    if is_untouched && needs_staging(&step.from, &step.to) {
        return Ok(false);
    }
    let present = image_of(entry, u64::MAX, ContentMode::Hash).map_err(|error| blob_error(path, error))?;
    if present == step.to {
        return Ok(true); // Done before the restore was cut short.
    }
    if let (FileImage::File { blob, mode, .. }, FileImage::File { blob: now, .. }) = (&step.to, &present)
        && blob == now
    {
        folder.set_mode(name, *mode).map_err(|error| TimeError::disk(path, error))?;
        return Ok(true);
    }
    if is_folder(&present) {
        return Err(TimeError::disk(path, io::ErrorKind::IsADirectory.into()));
    }
    Ok(false)
}

/// Returns the name under which a step's new content is staged.
pub(super) fn staged_name(id: &str, number: usize) -> OsString {
    format!(".octo-{id}-{number}.tmp").into()
}
