//! Writes whole files, through a temporary file in the same folder and a rename.

use super::{Access, FileKind, Files, FilesError, kind, ledger::SeenFileStamp};
use crate::{RecordOutcome, UnfinishedWrites, is_inside, time::Folder};
use std::{
    fs::{self, File, Metadata},
    io::{self, Write},
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

/// The result of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteReport {
    /// The real path of the written file: the target if the path was a link.
    pub path: PathBuf,
    /// The file's former state, or `None` if the write created it.
    pub before: Option<FileState>,
    /// The file's new state.
    pub after: FileState,
    /// Whether the change can be undone.
    pub recorded: RecordOutcome,
}

/// The content of a file, by length and hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState {
    /// The length in bytes.
    pub len: u64,
    /// The BLAKE3 hash of its bytes.
    pub hash: blake3::Hash,
}

impl Files {
    /// Replaces the content of the file at `path` with `content`, and creates the file and its parent folders
    /// if they are missing. The file has either the old content or the new one, never a part: the write goes to
    /// a temporary file in the same folder, flushes it to disk and renames it. It keeps the mode, and the owner
    /// if this account may set it. It writes through a link to its target.
    ///
    /// With a recorder ([`Files::recording`]), the former state is recorded before anything changes; if that
    /// fails, the write is refused.
    ///
    /// Refuses paths out of scope (checked again here), folders, devices, files without any write permission
    /// (the rename would bypass it), and files that differ from the version the session saw last. A program that
    /// swaps a folder for a link in between makes the write fail; on Windows, where the last check happens right
    /// before the rename, it could redirect it.
    pub fn write(&self, path: &Path, content: &[u8]) -> Result<WriteReport, FilesError> {
        let resolved = self.check_write(path)?;
        if is_inside(&self.scope.folder, &resolved) && !self.scope.folder.is_dir() {
            // Creating the parents would recreate the lost folder, empty.
            return Err(FilesError::FolderVanished { folder: self.scope.folder.clone() });
        }
        let failed = |error: &io::Error| self.access_error(&resolved, Access::Write, error);
        let before = match fs::symlink_metadata(&resolved) {
            Ok(meta) => Some(self.state_to_replace(&resolved, meta)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(&error)),
        };
        let parent = resolved.parent().ok_or_else(|| FilesError::IsFolder { path: resolved.clone() })?;
        // Before the first change, which may be a new folder.
        let recorded = self.record(&resolved)?;
        fs::create_dir_all(parent).map_err(|error| failed(&error))?;

        // From here on the open folder counts: a link that takes its place redirects nothing.
        let outside = || FilesError::Outside { path: path.to_owned(), access: Access::Write };
        let folder = Folder::open(parent).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => failed(&error),
            _ => outside(),
        })?;
        // The umask applies to the mode, as for any new file. The file is removed unless persisted.
        let create = |path: &Path| folder.create(path.file_name().unwrap_or_default(), 0o666);
        let (mut temporary, _noted) =
            UnfinishedWrites::temporary_in(self.unfinished.as_ref(), parent, create)
                .map_err(|error| failed(&error))?;
        temporary.write_all(content).map_err(|error| failed(&error))?;
        if let Some((_, meta)) = &before {
            keep_mode_and_owner(temporary.as_file(), meta).map_err(|error| failed(&error))?;
        }
        temporary.as_file().sync_all().map_err(|error| failed(&error))?;

        // Meanwhile the folders may have been swapped for links, or the file changed.
        if self.check_write(path)? != resolved {
            return Err(outside());
        }
        if !is_unchanged(&resolved, before.as_ref().map(|(_, meta)| meta)) {
            return Err(FilesError::Changed { path: resolved });
        }
        let file = replace(temporary, &folder, &resolved).map_err(|error| failed(&error))?;
        sync_folder(parent);
        let after = FileState { len: content.len() as u64, hash: blake3::hash(content) };
        if let Ok(meta) = file.metadata() {
            self.ledger.record(&resolved, SeenFileStamp::of_hash(&meta, after.hash));
        }
        if let Some(recorder) = &self.recorder
            && let Err(error) = recorder.after_change(&resolved)
        {
            tracing::warn!(%error, "what others change of a file from here on cannot be told apart");
        }
        Ok(WriteReport { path: resolved, before: before.map(|(state, _)| state), after, recorded })
    }

    fn record(&self, resolved: &Path) -> Result<RecordOutcome, FilesError> {
        let Some(recorder) = &self.recorder else { return Ok(RecordOutcome::Off) };
        recorder
            .before_change(resolved)
            .map_err(|error| FilesError::NotRecorded { path: resolved.to_owned(), reason: error.to_string() })
    }

    fn state_to_replace(&self, resolved: &Path, meta: Metadata) -> Result<(FileState, Metadata), FilesError> {
        match kind(&meta) {
            FileKind::File => {}
            FileKind::Folder => return Err(FilesError::IsFolder { path: resolved.to_owned() }),
            FileKind::Special => return Err(FilesError::Special { path: resolved.to_owned() }),
        }
        if meta.permissions().readonly() {
            return Err(FilesError::ReadOnly { path: resolved.to_owned() });
        }
        let state = hash_file(resolved).map_err(|error| self.access_error(resolved, Access::Read, &error))?;
        if !self.ledger.is_current(resolved, &meta, state.hash) {
            return Err(FilesError::Changed { path: resolved.to_owned() });
        }
        Ok((state, meta))
    }
}

fn hash_file(path: &Path) -> io::Result<FileState> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(FileState { len: hasher.count(), hash: hasher.finalize() })
}

#[cfg(unix)]
fn keep_mode_and_owner(file: &File, original: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let current = file.metadata()?;
    if (current.uid(), current.gid()) != (original.uid(), original.gid()) {
        // Only root may give files away; other accounts may still keep a group they belong to. The write
        // succeeds even if this fails: the content is correct.
        let ownership = fchown(file, Some(original.uid()), Some(original.gid()))
            .or_else(|_| fchown(file, None, Some(original.gid())));
        if let Err(error) = ownership {
            tracing::debug!(%error, "the owner of a rewritten file could not be kept");
        }
    }
    // After the owner: changing the owner clears the set-user-id bits.
    file.set_permissions(fs::Permissions::from_mode(original.mode() & 0o7777))
}

#[cfg(not(unix))]
fn keep_mode_and_owner(file: &File, original: &Metadata) -> io::Result<()> {
    file.set_permissions(original.permissions())
}

/// Gives a temporary file of the folder the name of its target there.
#[cfg(unix)]
fn replace(temporary: NamedTempFile, folder: &Folder, target: &Path) -> io::Result<File> {
    let (file, temporary) = temporary.into_parts();
    let (Some(name), Some(new_name)) = (temporary.file_name(), target.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    folder.rename(name, folder, new_name)?;
    temporary.keep()?;
    Ok(file)
}

#[cfg(not(unix))]
fn replace(temporary: NamedTempFile, _: &Folder, target: &Path) -> io::Result<File> {
    Ok(temporary.persist(target)?)
}

fn is_unchanged(path: &Path, before: Option<&Metadata>) -> bool {
    match (fs::symlink_metadata(path), before) {
        (Ok(current), Some(before)) => {
            current.is_file()
                && current.len() == before.len()
                && current.modified().ok() == before.modified().ok()
        }
        (Err(error), None) => error.kind() == io::ErrorKind::NotFound,
        _ => false,
    }
}

/// Makes the rename survive a power cut. If the file system cannot do this, the rename still applies.
fn sync_folder(folder: &Path) {
    if let Err(error) = octo_store::flush_folder(folder) {
        tracing::debug!(%error, "a folder could not be synced");
    }
}
