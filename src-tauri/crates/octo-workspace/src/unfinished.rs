//! What is being written outside the home, so that a later start can take away what a killed process left there.
//!
//! Every file appears whole, under a temporary name beside its place first. Where that name stays behind, by a kill, it
//! lies among the person's files. So each process notes such names in a list of its own in the home before it makes
//! them, and keeps the list locked for as long as it lives: a list nobody holds is one of a process that is gone, and
//! what it names is nobody's work any more. Nothing is looked for: only what was noted is taken away, and only where it
//! still has a name of Octo's own. What lies in the home itself is looked for by name: see [`inside`].

mod inside;

use crate::{path_bytes, path_of, private_folder};
use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tempfile::NamedTempFile;

/// The folder of the lists in a home.
const FOLDER: &str = "unfinished";
/// The end of a list's name.
const LIST: &str = ".list";
/// What names of Octo's own begin with, outside its home.
const OWN: &str = ".octo-";
/// How long a list is kept whose paths cannot be reached: the disk they are on may come back.
const WAITS: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// What this process is writing outside the home. Cheap to clone; clones are one.
#[derive(Clone, Debug)]
pub struct Unfinished {
    list: Arc<List>,
}

#[derive(Debug)]
struct List {
    /// None where the home takes no list: then what a kill leaves behind stays.
    place: Option<PathBuf>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Locked for as long as the process lives.
    file: Option<File>,
    under_way: usize,
}

/// A path that is noted, until this is dropped.
#[derive(Debug)]
pub(crate) struct Noted {
    list: Arc<List>,
}

impl Unfinished {
    /// Begins this process's list. Where that cannot be made, nothing is noted.
    pub fn begin(home: &Path) -> Self {
        let (file, place) = match new_list(home) {
            Ok((file, place)) => (Some(file), Some(place)),
            Err(error) => {
                tracing::warn!(%error, "what is being written is not noted");
                (None, None)
            }
        };
        Self { list: Arc::new(List { place, state: Mutex::new(State { file, under_way: 0 }) }) }
    }

    /// Notes a path before it is made.
    pub(crate) fn note(&self, path: &Path) -> Noted {
        let mut state = self.list.lock();
        if let Some(file) = &mut state.file
            && let Err(error) = file.write_all(&written(path))
        {
            tracing::warn!(%error, "what is being written is not noted");
        }
        state.under_way += 1;
        Noted { list: Arc::clone(&self.list) }
    }

    /// Makes a temporary file in a folder; where somebody notes, it is noted before it is there.
    pub(crate) fn temporary_in(
        noting: Option<&Self>,
        folder: &Path,
        mode: u32,
    ) -> io::Result<(NamedTempFile, Option<Noted>)> {
        let mut noted = None;
        let mut builder = tempfile::Builder::new();
        builder.prefix(OWN).suffix(".tmp");
        let file = builder.make_in(folder, |place| {
            noted = noting.map(|unfinished| unfinished.note(place));
            new_file(place, mode)
        })?;
        Ok((file, noted))
    }

    /// Writes a file outside the home, readable by nobody else: whole or not at all. Its folder must be there.
    ///
    /// # Errors
    /// Those of the system; the file is as it was then.
    pub fn write_private(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let folder = path.parent().ok_or_else(|| io::Error::other("a file needs a folder"))?;
        let (mut temporary, _noted) = Self::temporary_in(Some(self), folder, 0o600)?;
        temporary.write_all(bytes)?;
        temporary.as_file().sync_all()?;
        temporary.persist(path).map_err(|error| error.error)?;
        Ok(())
    }

    /// Makes a new folder outside the home, closed to others: `fill` is given one under another name, which takes the
    /// place once that is done. What comes of it.
    ///
    /// # Errors
    /// Those of `fill`, and what `failed` makes of those of the system; there being something of that name is one.
    /// Nothing is left of the folder then.
    pub fn make_folder<T, E>(
        &self,
        place: &Path,
        failed: impl Fn(io::Error) -> E,
        fill: impl FnOnce(&Path) -> Result<T, E>,
    ) -> Result<T, E> {
        let is_taken = || place.symlink_metadata().is_ok();
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        let half = place.with_file_name(format!("{OWN}{name}"));
        if is_taken() || half.symlink_metadata().is_ok() {
            return Err(failed(io::ErrorKind::AlreadyExists.into()));
        }
        let _noted = self.note(&half);
        let filled = private_folder(&half).map_err(&failed).and_then(|_| fill(&half)).and_then(|filled| {
            if is_taken() {
                return Err(failed(io::ErrorKind::AlreadyExists.into()));
            }
            fs::rename(&half, place).map(|()| filled).map_err(&failed)
        });
        if filled.is_err()
            && let Err(error) = remove(&half)
        {
            tracing::warn!(%error, "a folder that was not finished stays");
        }
        filled
    }

    /// Takes away what processes that are gone left unfinished, outside the home and in it.
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

impl List {
    fn lock(&self) -> MutexGuard<'_, State> {
        // It is whole at every moment.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for List {
    fn drop(&mut self) {
        if let Some(place) = &self.place
            && let Err(error) = fs::remove_file(place)
        {
            tracing::debug!(%error, "an empty list stays");
        }
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        let mut state = self.list.lock();
        state.under_way = state.under_way.saturating_sub(1);
        // With nothing under way the list may begin anew: it stays short however long the process lives.
        if state.under_way == 0
            && let Some(file) = &mut state.file
            && let Err(error) = file.set_len(0).and_then(|()| io::Seek::rewind(file))
        {
            tracing::debug!(%error, "the list of what is being written was not cleared");
        }
    }
}

/// A new list, held by this process.
fn new_list(home: &Path) -> io::Result<(File, PathBuf)> {
    let folder = private_folder(&home.join(FOLDER))?;
    loop {
        let new = tempfile::Builder::new().prefix("").suffix(LIST).tempfile_in(&folder)?;
        // Without a lock it would be taken for one of a process that is gone.
        new.as_file().lock()?;
        // Until it was held it may have been.
        if new.path().exists() {
            return Ok(new.keep()?);
        }
    }
}

/// A path as a list has it: how many bytes it takes, and they.
fn written(path: &Path) -> Vec<u8> {
    let bytes = path_bytes(path);
    let length = u32::try_from(bytes.len()).unwrap_or_default();
    [&length.to_le_bytes(), &*bytes].concat()
}

/// The paths of a list. What is not whole at its end was being noted, and not made yet.
fn paths(mut bytes: &[u8]) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk() {
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let Some((path, rest)) = rest.split_at_checked(length) else { break };
        paths.push(path_of(path.to_vec()));
        bytes = rest;
    }
    paths
}

/// Takes away what one list names, and it.
fn sweep_list(place: &Path) -> io::Result<()> {
    let file = OpenOptions::new().read(true).write(true).open(place)?;
    match file.try_lock() {
        Ok(()) => {}
        // Its process lives, or nobody can tell.
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return Ok(()),
    }
    let (mut bytes, mut left) = (Vec::new(), false);
    // Through the same file: some systems keep everybody else from reading what is locked.
    (&file).read_to_end(&mut bytes)?;
    for path in paths(&bytes).into_iter().filter(|path| is_own(path)) {
        if let Err(error) = remove(&path) {
            tracing::warn!(path = %path.display(), %error, "what was left unfinished stays for now");
            left = true;
        }
    }
    let age = file.metadata()?.modified()?.elapsed().unwrap_or_default();
    if left && age < WAITS { Ok(()) } else { fs::remove_file(place) }
}

/// Whether a path still has a name of Octo's own: a list is only a file, and somebody may have written it.
fn is_own(path: &Path) -> bool {
    path.is_absolute() && path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with(OWN))
}

/// Removes a file, or a folder with what is in it. One that is not there is no error, but where its folder is not there
/// either its disk may be away.
fn remove(path: &Path) -> io::Result<()> {
    let removed = match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(meta) if meta.is_file() => fs::remove_file(path),
        // Octo makes nothing else.
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

fn new_file(place: &Path, mode: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    options.open(place)
}

#[cfg(test)]
mod tests;
