//! The trash: every deletion moves the file here first, whole, and can be reverted.
//!
//! An entry is a folder `<home>/trash/<id>/`: `slip.json` records its origin, `content` is the deleted file or
//! folder. The slip is written before anything moves and is authoritative; the store's rows are derived from
//! it, even after the database was lost. `new/<id>` marks entries the store has not recorded yet.
//!
//! On the same file system an item is renamed, which is one step regardless of its size. Otherwise it is
//! copied, compared byte for byte and flushed before the original is removed, up to [`MAX_COPY_BYTES`]. A kill at
//! any moment loses nothing and duplicates nothing: [`Trash::pending_entries`] finishes or undoes interrupted moves. A
//! process that works on an entry locks its slip, so other processes leave it alone.
//!
//! Links are never followed and keep their target's text. Folders are accessed through an open directory: one
//! swapped for a link meanwhile leads nowhere else. Mount points, devices, system folders and homes are refused
//! (see `guard`). A copy keeps modes, times and links, but neither extended attributes nor, without the right
//! to give files away, owners.
//!
//! Files a script itself removes with `unlink` bypass the trash: the time machine's snapshots have those.

mod dir_slot;
mod guard;
mod move_in;
mod preview;
mod restore;
mod slip;
mod tree;

#[cfg(test)]
mod tests;

pub use guard::DeleteRefusal;
pub use move_in::{MAX_COPY_BYTES, MAX_COPY_FILES};
pub use preview::{ItemPreview, ItemProperties};
pub use restore::{OccupyingItem, RestoredItem, TakenNamePolicy};
pub use slip::{Removal, TrashSlip};

use crate::private_folder;
use octo_protocol::{SessionId, TrashId};
use std::{
    fs, io,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

/// The trash of one home. Cheap to clone; keeps nothing open.
#[derive(Clone, Debug)]
pub struct Trash {
    home: PathBuf,
    root: PathBuf,
}

/// The reason why an item was not moved. Nothing was changed then.
#[derive(Debug, thiserror::Error)]
pub enum TrashError {
    /// The path must not be deleted this way.
    #[error("{0}")]
    Refused(DeleteRefusal),
    /// A system error about the item itself.
    #[error("{0}")]
    Item(io::Error),
    /// The trash cannot take it: it is full, or not writable.
    #[error("the trash cannot take it: {0}")]
    NoRoom(io::Error),
    /// The item is on another file system and larger than the copy limit.
    #[error("it is on another disk than the trash, and larger than the {} MiB or {} files that are copied", MAX_COPY_BYTES >> 20, MAX_COPY_FILES)]
    TooLarge,
    /// The item is on another file system and contains an object that cannot be copied.
    #[error("it is on another disk than the trash, and {} cannot be copied", .0.display())]
    Special(PathBuf),
    /// The item changed while it was moved.
    #[error("it changed while it was moved to the trash")]
    Changed,
    /// The restore target is occupied.
    #[error("{} is there already", .0.path.display())]
    Taken(Box<OccupyingItem>),
    /// The target folder now leads elsewhere.
    #[error("{} leads somewhere else now", .0.display())]
    Elsewhere(PathBuf),
    /// The item is not in the trash.
    #[error("it is not in the trash any more")]
    Gone,
}

/// A state of the trash that the store may not know of.
#[derive(Clone, Debug)]
pub enum PendingEntry {
    /// An entry exists.
    InTrash(Box<TrashSlip>),
    /// The item is not in the trash: it was never moved, or was restored.
    NotInTrash(TrashId),
}

/// How thoroughly the trash is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrashScan {
    /// Only entries marked as new.
    New,
    /// Everything: at the start of the application.
    All,
}

impl Trash {
    /// Returns the trash of a home (`<home>/trash`), which the first entry creates.
    pub fn in_home(home: &Path) -> Self {
        let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
        Self { root: home.join("trash"), home }
    }

    /// Returns the home it belongs to.
    pub fn home(&self) -> &Path {
        &self.home
    }

    fn entry_path(&self, id: TrashId) -> PathBuf {
        self.root.join(id.to_string())
    }

    fn marker_path(&self, id: TrashId) -> PathBuf {
        self.root.join("new").join(id.to_string())
    }

    /// Returns the path of an item while it is in the trash.
    pub fn content_path(&self, id: TrashId) -> PathBuf {
        self.entry_path(id).join("content")
    }

    /// Returns new entries, oldest first, after finishing or undoing moves that a kill interrupted. Leaves out
    /// entries another process works on.
    ///
    /// # Errors
    ///
    /// I/O errors of listing the trash; a missing trash is no error.
    pub fn pending_entries(&self, sweep: TrashScan) -> io::Result<Vec<PendingEntry>> {
        let folder = match sweep {
            TrashScan::New => self.root.join("new"),
            TrashScan::All => self.root.clone(),
        };
        let mut ids = Vec::new();
        for name in names(&folder)? {
            match TrashId::from_str(&name) {
                Ok(id) => ids.push(id),
                Err(_) if sweep == TrashScan::All => self.remove_leftover(&name),
                Err(_) => {}
            }
        }
        ids.sort_unstable();
        Ok(ids.into_iter().filter_map(|id| self.entry_state(id)).collect())
    }

    fn entry_state(&self, id: TrashId) -> Option<PendingEntry> {
        match slip::SlipAccess::of(&self.entry_path(id)) {
            slip::SlipAccess::Locked => None,
            slip::SlipAccess::Unreadable => {
                if !exists(&self.content_path(id)) {
                    self.drop_entry(id);
                    return Some(PendingEntry::NotInTrash(id));
                }
                // A power cut may lose a slip's text and keep the content: that is never discarded.
                tracing::error!(%id, "a thing in the trash has no readable slip; it is left where it is");
                None
            }
            slip::SlipAccess::Read(slip, _lock) => match self.finish_interrupted(&slip) {
                Ok(move_in::MoveOutcome::InTrash) => Some(PendingEntry::InTrash(slip)),
                Ok(move_in::MoveOutcome::AtOrigin) => {
                    self.drop_entry(id);
                    Some(PendingEntry::NotInTrash(id))
                }
                Err(error) => {
                    tracing::warn!(%id, %error, "a thing could not be moved to its end; it is tried again later");
                    None
                }
            },
        }
    }

    /// Finishes a move into the trash, then one out of it.
    fn finish_interrupted(&self, slip: &TrashSlip) -> io::Result<move_in::MoveOutcome> {
        match self.finish(slip)? {
            move_in::MoveOutcome::InTrash if self.was_restored_by_copy(slip.id) => {
                Ok(move_in::MoveOutcome::AtOrigin)
            }
            finished => Ok(finished),
        }
    }

    /// Removes the mark of a new entry: the store has recorded it.
    pub fn mark_recorded(&self, id: TrashId) {
        if let Err(error) = fs::remove_file(self.marker_path(id))
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%id, %error, "a thing in the trash stays marked as new");
        }
    }

    /// Whether an item is in the trash.
    pub fn contains(&self, id: TrashId) -> bool {
        exists(&self.content_path(id))
    }

    /// Deletes an item for good. A missing one is no error.
    ///
    /// # Errors
    ///
    /// I/O errors; the item has then left the trash, and the next start removes the rest of it.
    pub fn purge(&self, id: TrashId) -> io::Result<()> {
        let gone_path = self.root.join(format!("gone-{id}"));
        match fs::rename(self.entry_path(id), &gone_path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        self.mark_recorded(id);
        tree::remove(&gone_path)
    }

    /// Removes the home's files of a permanently deleted session: its archives, files sent to it through a chat
    /// service, its temporary folder and its command output.
    ///
    /// # Errors
    ///
    /// The first I/O error; the other folders are removed anyway.
    pub fn forget_session(&self, session: SessionId) -> io::Result<()> {
        let folders = ["archives", "received", "scratch", "shells"]
            .map(|kind| self.home.join(kind).join(session.to_string()));
        folders.iter().map(|folder| tree::remove(folder)).fold(Ok(()), Result::and)
    }

    /// Removes an entry whose content is elsewhere.
    fn drop_entry(&self, id: TrashId) {
        if let Err(error) = self.purge(id) {
            tracing::warn!(%id, %error, "an empty place in the trash stays");
        }
    }

    /// Removes the remains of an ended process: entries never completed and half-removed items.
    fn remove_leftover(&self, name: &str) {
        let path = self.root.join(name);
        let is_unfinished =
            name.starts_with("begin-") && is_older(&path, ABANDONED_AFTER) && !slip::is_locked(&path);
        if (is_unfinished || name.starts_with("gone-"))
            && let Err(error) = tree::remove(&path)
        {
            tracing::warn!(name, %error, "leftovers in the trash stay");
        }
    }

    fn make_root(&self) -> io::Result<()> {
        private_folder(&self.root)?;
        private_folder(&self.root.join("new"))?;
        Ok(())
    }
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    match fs::read_dir(folder) {
        Ok(entries) => {
            entries.map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned())).collect()
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// The age at which an unlocked entry whose creation was never finished counts as abandoned by its process.
const ABANDONED_AFTER: Duration = Duration::from_secs(60 * 60);

fn is_older(path: &Path, age: Duration) -> bool {
    let changed = fs::symlink_metadata(path).and_then(|meta| meta.modified()).ok();
    changed.and_then(|changed| changed.elapsed().ok()).is_some_and(|elapsed| elapsed > age)
}

/// Whether the path exists, without following links.
fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Returns a path as the bytes it is stored as.
#[cfg(unix)]
pub fn path_bytes(path: &Path) -> Vec<u8> {
    std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).to_vec()
}

/// Returns the path for the result of [`path_bytes`].
#[cfg(unix)]
pub fn path_of(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes))
}

/// Returns a path as the bytes it is stored as.
#[cfg(not(unix))]
pub fn path_bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().into_owned().into_bytes()
}

/// Returns the path for the result of [`path_bytes`].
#[cfg(not(unix))]
pub fn path_of(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}
