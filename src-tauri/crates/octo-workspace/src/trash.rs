//! The trash: whatever is deleted goes here first, whole, and can be brought back.
//!
//! A thing lies in `<home>/trash/<id>/`: `slip.json` says where it came from, `content` is the thing itself. The
//! slip is written before anything moves and is the truth; the store's rows are made from it, also after the
//! database was lost. `new/<id>` marks what the store has not taken in yet.
//!
//! What lies on the same file system is renamed, which is one step whatever its size. Anything else is copied,
//! compared byte for byte and flushed before the original goes, up to [`COPY_BYTES`]. A kill at any moment loses
//! nothing and doubles nothing: [`Trash::arrivals`] finishes or takes back what was under way. Who works on a thing
//! holds a lock on its slip, so another process leaves it alone.
//!
//! Links are never followed and keep their target's text. Folders are reached through an open directory: one that
//! is swapped for a link meanwhile leads nowhere else. Mount points, devices, system folders and homes are refused
//! (see `guard`). A copy keeps modes, times and links, but neither extended attributes nor, without the right to
//! give files away, owners.
//!
//! What a script removes by itself with `unlink` never comes here: the pictures of the time machine hold that.

mod guard;
mod look;
mod restore;
mod slip;
mod spot;
mod take;
mod tree;

#[cfg(test)]
mod tests;

pub use guard::Refusal;
pub use look::{Look, Measure};
pub use restore::{IfTaken, Present, PutBack};
pub use slip::{Removal, Slip};
pub use take::{COPY_BYTES, COPY_FILES};

use crate::private_folder;
use octo_protocol::{SessionId, TrashId};
use std::{
    fs, io,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

/// The trash of one home. Cheap to clone; holds nothing open.
#[derive(Clone, Debug)]
pub struct Trash {
    home: PathBuf,
    root: PathBuf,
}

/// Why a thing was not moved. Nothing was changed then.
#[derive(Debug, thiserror::Error)]
pub enum TrashError {
    /// It is not to be deleted this way.
    #[error("{0}")]
    Refused(Refusal),
    /// The system says no; about the thing itself.
    #[error("{0}")]
    Thing(io::Error),
    /// The trash cannot take it: it is full, or cannot be written.
    #[error("the trash cannot take it: {0}")]
    NoRoom(io::Error),
    /// It lies on another file system and is larger than what is copied.
    #[error("it is on another disk than the trash, and larger than the {} MiB or {} files that are copied", COPY_BYTES >> 20, COPY_FILES)]
    TooLarge,
    /// It lies on another file system and holds something that cannot be copied.
    #[error("it is on another disk than the trash, and {} cannot be copied", .0.display())]
    Special(PathBuf),
    /// It changed while it was moved.
    #[error("it changed while it was moved to the trash")]
    Changed,
    /// Something else is where it is to be restored.
    #[error("{} is there already", .0.path.display())]
    Taken(Box<Present>),
    /// The folder it is to be restored into leads elsewhere by now.
    #[error("{} leads somewhere else now", .0.display())]
    Elsewhere(PathBuf),
    /// It is not in the trash.
    #[error("it is not in the trash any more")]
    Gone,
}

/// What the trash holds that the store may not know of.
#[derive(Clone, Debug)]
pub enum Arrival {
    /// A thing is there.
    Here(Box<Slip>),
    /// It is not in the trash: it stayed where it was, or was restored.
    Nothing(TrashId),
}

/// How thoroughly the trash is looked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// Only what was marked as new.
    New,
    /// Everything: at the start of the application.
    All,
}

impl Trash {
    /// The trash of a home (`<home>/trash`); the folder is made with the first thing.
    pub fn of_home(home: &Path) -> Self {
        let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
        Self { root: home.join("trash"), home }
    }

    /// The home it belongs to.
    pub fn home(&self) -> &Path {
        &self.home
    }

    fn entry(&self, id: TrashId) -> PathBuf {
        self.root.join(id.to_string())
    }

    fn mark(&self, id: TrashId) -> PathBuf {
        self.root.join("new").join(id.to_string())
    }

    /// Where a thing lies while it is in the trash.
    pub fn content(&self, id: TrashId) -> PathBuf {
        self.entry(id).join("content")
    }

    /// What came in, oldest first, after finishing or taking back what a kill interrupted. What another process
    /// works on right now is left out.
    ///
    /// # Errors
    /// Those of the system when the trash cannot be listed; there being none is no error.
    pub fn arrivals(&self, sweep: Sweep) -> io::Result<Vec<Arrival>> {
        let folder = match sweep {
            Sweep::New => self.root.join("new"),
            Sweep::All => self.root.clone(),
        };
        let mut ids = Vec::new();
        for name in names(&folder)? {
            match TrashId::from_str(&name) {
                Ok(id) => ids.push(id),
                Err(_) if sweep == Sweep::All => self.tidy(&name),
                Err(_) => {}
            }
        }
        ids.sort_unstable();
        Ok(ids.into_iter().filter_map(|id| self.arrival(id)).collect())
    }

    fn arrival(&self, id: TrashId) -> Option<Arrival> {
        match slip::Opened::of(&self.entry(id)) {
            slip::Opened::Locked => None,
            slip::Opened::Unreadable => {
                if !exists(&self.content(id)) {
                    self.drop_entry(id);
                    return Some(Arrival::Nothing(id));
                }
                // A power cut may lose a slip's words and keep what it is about: that is never thrown away.
                tracing::error!(%id, "a thing in the trash has no readable slip; it is left where it is");
                None
            }
            slip::Opened::Read(slip, _lock) => match self.finish_both(&slip) {
                Ok(take::Finished::Here) => Some(Arrival::Here(slip)),
                Ok(take::Finished::Nothing) => {
                    self.drop_entry(id);
                    Some(Arrival::Nothing(id))
                }
                Err(error) => {
                    tracing::warn!(%id, %error, "a thing could not be moved to its end; it is tried again later");
                    None
                }
            },
        }
    }

    /// Finishes a move into the trash, then one out of it.
    fn finish_both(&self, slip: &Slip) -> io::Result<take::Finished> {
        match self.finish(slip)? {
            take::Finished::Here if self.had_landed(slip.id) => Ok(take::Finished::Nothing),
            finished => Ok(finished),
        }
    }

    /// Forgets that a thing is new: the store knows it.
    pub fn taken_in(&self, id: TrashId) {
        if let Err(error) = fs::remove_file(self.mark(id))
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%id, %error, "a thing in the trash stays marked as new");
        }
    }

    /// Whether a thing lies in the trash.
    pub fn holds(&self, id: TrashId) -> bool {
        exists(&self.content(id))
    }

    /// Deletes a thing for good. One that is not there is no error.
    ///
    /// # Errors
    /// Those of the system; the thing is out of the trash then, and what is left of it goes at the next start.
    pub fn purge(&self, id: TrashId) -> io::Result<()> {
        let gone = self.root.join(format!("gone-{id}"));
        match fs::rename(self.entry(id), &gone) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        self.taken_in(id);
        tree::remove(&gone)
    }

    /// Removes what the home holds for a session that is gone for good: its archives, what was sent to it through a chat
    /// service, its temporary folder and what its commands left.
    ///
    /// # Errors
    /// The first of the system's; the other folders are gone all the same.
    pub fn forget_session(&self, session: SessionId) -> io::Result<()> {
        let folders = ["archives", "received", "scratch", "shells"]
            .map(|kind| self.home.join(kind).join(session.to_string()));
        folders.iter().map(|folder| tree::remove(folder)).fold(Ok(()), Result::and)
    }

    /// Takes an entry away whose content is elsewhere.
    fn drop_entry(&self, id: TrashId) {
        if let Err(error) = self.purge(id) {
            tracing::warn!(%id, %error, "an empty place in the trash stays");
        }
    }

    /// Removes what an ended process left: half-begun entries and half-removed things.
    fn tidy(&self, name: &str) {
        let left = self.root.join(name);
        let begun = name.starts_with("begin-") && is_older(&left, BEGINNING) && !slip::is_locked(&left);
        if (begun || name.starts_with("gone-"))
            && let Err(error) = tree::remove(&left)
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

/// After this time an entry that was not even begun is one a process left behind.
const BEGINNING: Duration = Duration::from_secs(60 * 60);

fn is_older(path: &Path, age: Duration) -> bool {
    let changed = fs::symlink_metadata(path).and_then(|meta| meta.modified()).ok();
    changed.and_then(|changed| changed.elapsed().ok()).is_some_and(|since| since > age)
}

/// Whether something is there, links not followed.
fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// A path as the bytes it is stored as.
#[cfg(unix)]
pub fn path_bytes(path: &Path) -> Vec<u8> {
    std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).to_vec()
}

/// The path [`path_bytes`] gave.
#[cfg(unix)]
pub fn path_of(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes))
}

/// A path as the bytes it is stored as.
#[cfg(not(unix))]
pub fn path_bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().into_owned().into_bytes()
}

/// The path [`path_bytes`] gave.
#[cfg(not(unix))]
pub fn path_of(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}
