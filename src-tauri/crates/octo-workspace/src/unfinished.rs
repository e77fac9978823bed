//! Notes unfinished writes outside the home, which lets a later start remove the files a killed process left
//! there.
//!
//! Every file is first written under a temporary name in its folder. After a kill, that file remains among the
//! person's files. Each process therefore notes such names in its own list in the home before it creates them,
//! and keeps the list locked while it lives: an unlocked list belongs to a dead process, and its files are
//! abandoned. Nothing is searched for: only noted paths are removed, and only if they still have one of Octo's
//! own names. Files in the home itself are found by name: see [`inside`].

mod inside;

use crate::{path_bytes, path_of, private_folder};
use parking_lot::{Mutex, MutexGuard};
use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tempfile::NamedTempFile;

/// The folder of the lists in a home.
const FOLDER: &str = "unfinished";
/// The suffix of a list's name.
const LIST: &str = ".list";
/// The prefix of Octo's own names outside its home.
const OWN_PREFIX: &str = ".octo-";
/// How long a list with unreachable paths is kept: their disk may be reconnected.
const KEEP_UNREACHABLE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The unfinished writes of this process outside the home. Cheap to clone; clones share one list.
#[derive(Clone, Debug)]
pub struct UnfinishedWrites {
    list: Arc<WriteList>,
}

#[derive(Debug)]
struct WriteList {
    /// The list's path; `None` if the home cannot store one: files left by a kill then stay.
    path: Option<PathBuf>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The list, locked while the process lives.
    file: Option<File>,
    in_progress: usize,
}

/// A noted path; dropping it removes the note.
#[derive(Debug)]
pub(crate) struct WriteNote {
    list: Arc<WriteList>,
}

impl UnfinishedWrites {
    /// Starts this process's list. If that fails, nothing is noted.
    pub fn begin(home: &Path) -> Self {
        let (file, path) = match new_list(home) {
            Ok((file, path)) => (Some(file), Some(path)),
            Err(error) => {
                tracing::warn!(%error, "what is being written is not noted");
                (None, None)
            }
        };
        Self { list: Arc::new(WriteList { path, state: Mutex::new(State { file, in_progress: 0 }) }) }
    }

    /// Notes a path before it is created.
    pub(crate) fn note_path(&self, path: &Path) -> WriteNote {
        let mut state = self.list.lock();
        if let Some(file) = &mut state.file
            && let Err(error) = file.write_all(&encode_path(path))
        {
            tracing::warn!(%error, "what is being written is not noted");
        }
        state.in_progress += 1;
        WriteNote { list: Arc::clone(&self.list) }
    }

    /// Creates a temporary file in a folder by `create`, which gets its path; with a list, notes it first.
    pub(crate) fn temporary_in(
        noting: Option<&Self>,
        folder: &Path,
        mut create: impl FnMut(&Path) -> io::Result<File>,
    ) -> io::Result<(NamedTempFile, Option<WriteNote>)> {
        let mut noted = None;
        let mut builder = tempfile::Builder::new();
        builder.prefix(OWN_PREFIX).suffix(".tmp");
        let file = builder.make_in(folder, |path| {
            noted = noting.map(|unfinished| unfinished.note_path(path));
            create(path)
        })?;
        Ok((file, noted))
    }

    /// Writes a file outside the home, readable only by its owner, whole or not at all. Its folder must exist.
    ///
    /// # Errors
    ///
    /// I/O errors; the file is unchanged then.
    pub fn write_private(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let folder = path.parent().ok_or_else(|| io::Error::other("a file needs a folder"))?;
        let (mut temporary, _noted) = Self::temporary_in(Some(self), folder, |path| new_file(path, 0o600))?;
        temporary.write_all(bytes)?;
        temporary.as_file().sync_all()?;
        temporary.persist(path).map_err(|error| error.error)?;
        Ok(())
    }

    /// Creates a new folder outside the home, closed to other users: `fill` receives it under a temporary name,
    /// and it gets its final name afterwards. Returns the result of `fill`.
    ///
    /// # Errors
    ///
    /// Errors of `fill`, and I/O errors converted by `failed`, which includes an existing path of that name. No
    /// part of the folder remains then.
    pub fn make_folder<T, E>(
        &self,
        path: &Path,
        failed: impl Fn(io::Error) -> E,
        fill: impl FnOnce(&Path) -> Result<T, E>,
    ) -> Result<T, E> {
        let is_taken = || path.symlink_metadata().is_ok();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!("{OWN_PREFIX}{name}"));
        if is_taken() || temporary.symlink_metadata().is_ok() {
            return Err(failed(io::ErrorKind::AlreadyExists.into()));
        }
        let _noted = self.note_path(&temporary);
        let filled =
            private_folder(&temporary).map_err(&failed).and_then(|_| fill(&temporary)).and_then(|filled| {
                if is_taken() {
                    return Err(failed(io::ErrorKind::AlreadyExists.into()));
                }
                fs::rename(&temporary, path).map(|()| filled).map_err(&failed)
            });
        if filled.is_err()
            && let Err(error) = remove(&temporary)
        {
            tracing::warn!(%error, "a folder that was not finished stays");
        }
        filled
    }

    /// Removes the unfinished files of dead processes, outside the home and in it.
    pub fn sweep(home: &Path) {
        inside::sweep(home);
        for entry in fs::read_dir(home.join(FOLDER)).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().ends_with(LIST)
                && let Err(error) = sweep_list(&entry.path())
            {
                tracing::warn!(%error, "what was left unfinished stays");
            }
        }
    }
}

impl WriteList {
    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is consistent at every moment.
        self.state.lock()
    }
}

impl Drop for WriteList {
    fn drop(&mut self) {
        if let Some(path) = &self.path
            && let Err(error) = fs::remove_file(path)
        {
            tracing::debug!(%error, "an empty list stays");
        }
    }
}

impl Drop for WriteNote {
    fn drop(&mut self) {
        let mut state = self.list.lock();
        state.in_progress = state.in_progress.saturating_sub(1);
        // With nothing in progress, the list is emptied: it stays short in a long-lived process.
        if state.in_progress == 0
            && let Some(file) = &mut state.file
            && let Err(error) = file.set_len(0).and_then(|()| io::Seek::rewind(file))
        {
            tracing::debug!(%error, "the list of what is being written was not cleared");
        }
    }
}

/// Creates a new list, locked by this process.
fn new_list(home: &Path) -> io::Result<(File, PathBuf)> {
    let folder = private_folder(&home.join(FOLDER))?;
    loop {
        let temporary = tempfile::Builder::new().prefix("").suffix(LIST).tempfile_in(&folder)?;
        // Without a lock, it would be taken for the list of a dead process.
        temporary.as_file().lock()?;
        // Another process may have removed it before it was locked.
        if temporary.path().exists() {
            return Ok(temporary.keep()?);
        }
    }
}

/// Encodes a path for a list: its length in bytes, then the bytes.
fn encode_path(path: &Path) -> Vec<u8> {
    let bytes = path_bytes(path);
    let length = u32::try_from(bytes.len()).unwrap_or_default();
    [&length.to_le_bytes(), &*bytes].concat()
}

/// Returns the paths of a list. An incomplete path at its end was being noted, and its file not created yet.
fn decode_paths(mut bytes: &[u8]) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    while let Some((length, remaining)) = bytes.split_first_chunk() {
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let Some((path, remaining)) = remaining.split_at_checked(length) else { break };
        paths.push(path_of(path.to_vec()));
        bytes = remaining;
    }
    paths
}

/// Removes the files a list names, and the list.
fn sweep_list(list_path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().read(true).write(true).open(list_path)?;
    match file.try_lock() {
        Ok(()) => {}
        // Its process lives, or that is unknown.
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return Ok(()),
    }
    let (mut bytes, mut is_incomplete) = (Vec::new(), false);
    // Through the same file: some systems keep other handles from reading a locked file.
    (&file).read_to_end(&mut bytes)?;
    for path in decode_paths(&bytes).into_iter().filter(|path| is_own(path)) {
        if let Err(error) = remove(&path) {
            tracing::warn!(path = %path.display(), %error, "what was left unfinished stays for now");
            is_incomplete = true;
        }
    }
    let age = file.metadata()?.modified()?.elapsed().unwrap_or_default();
    if is_incomplete && age < KEEP_UNREACHABLE { Ok(()) } else { fs::remove_file(list_path) }
}

/// Whether a path still has one of Octo's own names: a list is only a file, and another program may have
/// written it.
fn is_own(path: &Path) -> bool {
    path.is_absolute()
        && path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with(OWN_PREFIX))
}

/// Removes a file, or a folder with its content. A missing path is no error, but a missing parent folder is:
/// its disk may be disconnected.
fn remove(path: &Path) -> io::Result<()> {
    let removed = match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(meta) if meta.is_file() => fs::remove_file(path),
        // Octo creates no other kinds.
        Ok(_) => Ok(()),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.parent().is_some_and(Path::is_dir) => {
            Ok(())
        }
        removed => removed,
    }
}

fn new_file(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    options.open(path)
}

#[cfg(test)]
mod tests;
