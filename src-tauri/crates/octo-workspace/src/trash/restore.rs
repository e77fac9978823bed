//! Restores an item from the trash, to its original path or elsewhere.

use super::{
    Removal, Trash, TrashError, TrashSlip,
    dir_slot::DirSlot,
    exists, slip,
    tree::{self, TreePartKind},
};
use octo_protocol::TrashId;
use serde::{Deserialize, Serialize};
use std::{
    ffi::{OsStr, OsString},
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// The maximum number of numbered names tried for a second copy.
const MAX_NUMBERED_NAMES: u32 = 10_000;

/// The behaviour if the target name is taken.
#[derive(Clone, Debug, PartialEq)]
pub enum TakenNamePolicy {
    /// Fail; the error names the existing item.
    Refuse,
    /// Move the existing item to the trash.
    Replace(Removal),
    /// Use a numbered name: `a (2).txt`.
    KeepBoth,
}

/// An item that occupies the target of a restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OccupyingItem {
    /// Its path.
    pub path: PathBuf,
    /// Its form.
    pub form: octo_protocol::TrashForm,
    /// Its own size in bytes; 0 for a folder.
    pub size: u64,
    /// The time of its last change.
    pub modified: Option<SystemTime>,
}

/// The result of a restore.
#[derive(Clone, Debug, PartialEq)]
pub struct RestoredItem {
    /// The restored path.
    pub path: PathBuf,
    /// The item that was there before, now in the trash.
    pub replaced: Option<TrashSlip>,
}

/// The path where a copy becomes the restored item; after a kill in between, it prevents loss and duplication.
#[derive(Serialize, Deserialize)]
struct RestoreMarker {
    #[serde(with = "slip::raw")]
    path: PathBuf,
    /// The copy's inode number, once the copy is complete.
    inode: Option<u64>,
}

impl Trash {
    /// Restores an item to `target`, an absolute path, and creates missing parent folders. The item has left the
    /// trash when this returns.
    ///
    /// # Errors
    ///
    /// [`TrashError`]; the item is still in the trash then. Only the item to replace may already be in the
    /// trash; it is put back if possible.
    pub fn restore(
        &self,
        id: TrashId,
        target: &Path,
        if_taken: &TakenNamePolicy,
    ) -> Result<RestoredItem, TrashError> {
        let lock = match slip::SlipAccess::of(&self.entry_path(id)) {
            slip::SlipAccess::Read(_, lock) => Some(lock),
            slip::SlipAccess::Locked => return Err(TrashError::Item(io::ErrorKind::WouldBlock.into())),
            slip::SlipAccess::Unreadable => None,
        };
        if !self.contains(id) {
            return Err(TrashError::Gone);
        }
        let parent = target.parent().ok_or_else(|| TrashError::Item(io::ErrorKind::InvalidInput.into()))?;
        fs::create_dir_all(parent).map_err(TrashError::Item)?;
        let mut slot = DirSlot::of(target).map_err(TrashError::Item)?;
        if slot.folder() != parent {
            return Err(TrashError::Elsewhere(parent.to_owned()));
        }
        let mut replaced = None;
        if let Some(present) = OccupyingItem::at(&slot.path()) {
            match if_taken {
                TakenNamePolicy::Refuse => return Err(TrashError::Taken(Box::new(present))),
                TakenNamePolicy::Replace(removal) => replaced = Some(self.move_in(&slot.path(), removal)?),
                TakenNamePolicy::KeepBoth => slot = free_numbered_name(&slot, target)?,
            }
        }
        match self.move_to_target(id, &slot) {
            Ok(()) => {}
            Err(error) => {
                if let Some(slip) = &replaced
                    && let Err(error) = self.restore(slip.id, &slip.path, &TakenNamePolicy::Refuse)
                {
                    tracing::error!(%error, "what was to be replaced stays in the trash");
                }
                return Err(error);
            }
        }
        self.drop_entry(id);
        drop(lock);
        Ok(RestoredItem { path: slot.path(), replaced })
    }

    fn move_to_target(&self, id: TrashId, slot: &DirSlot) -> Result<(), TrashError> {
        match slot.move_here(&self.content_path(id)) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => self.restore_by_copy(id, slot),
            Err(error) => Err(occupied_or(&slot.path(), error)),
        }
    }

    /// Copies to the target's folder, compares, and renames the copy in one step.
    fn restore_by_copy(&self, id: TrashId, slot: &DirSlot) -> Result<(), TrashError> {
        let content = self.content_path(id);
        let staged =
            slot.sibling(&OsString::from(format!(".octo-restoring-{id}"))).map_err(TrashError::Item)?;
        let entry = self.entry_path(id);
        let mut marker = RestoreMarker { path: slot.path(), inode: None };
        let copied = (|| {
            write_restore_marker(&entry, &marker).map_err(TrashError::NoRoom)?;
            tree::copy(&content, &staged.path())?;
            tree::compare(&content, &staged.path())?;
            tree::flush(&staged.path()).map_err(TrashError::Item)?;
            marker.inode = Some(staged.read_object().map_err(TrashError::Item)?.inode);
            write_restore_marker(&entry, &marker).map_err(TrashError::NoRoom)?;
            staged.rename(slot).map_err(|error| occupied_or(&slot.path(), error))
        })();
        if copied.is_err() {
            if let Err(error) = tree::remove(&staged.path()) {
                tracing::warn!(%error, "a copy that was not needed stays");
            }
            let _ = fs::remove_file(entry.join("landing.json"));
        }
        copied
    }

    /// After a kill, returns whether the item had already been restored and is still here by mistake. Removes
    /// an incomplete copy.
    pub(super) fn was_restored_by_copy(&self, id: TrashId) -> bool {
        let marker_path = self.entry_path(id).join("landing.json");
        let Ok(text) = fs::read(&marker_path) else { return false };
        let Ok(RestoreMarker { path, inode }) = serde_json::from_slice::<RestoreMarker>(&text) else {
            return false;
        };
        let copy = path.with_file_name(format!(".octo-restoring-{id}"));
        let is_restored = inode.is_some()
            && !exists(&copy)
            && DirSlot::of(&path)
                .and_then(|slot| slot.read_object())
                .is_ok_and(|found| Some(found.inode) == inode)
            && tree::compare(&self.content_path(id), &path).is_ok();
        if !is_restored {
            if let Err(error) = tree::remove(&copy) {
                tracing::warn!(%id, %error, "a half-restored copy stays");
            }
            let _ = fs::remove_file(marker_path);
        }
        is_restored
    }
}

fn write_restore_marker(entry: &Path, marker: &RestoreMarker) -> io::Result<()> {
    use std::io::Write;
    let mut file = tempfile::NamedTempFile::new_in(entry)?;
    file.write_all(&serde_json::to_vec(marker)?)?;
    file.as_file().sync_all()?;
    file.persist(entry.join("landing.json"))?;
    Ok(())
}

/// Converts the error: the target may have become occupied since the check.
fn occupied_or(path: &Path, error: io::Error) -> TrashError {
    match OccupyingItem::at(path) {
        Some(present) if error.kind() == io::ErrorKind::AlreadyExists => TrashError::Taken(Box::new(present)),
        _ => TrashError::Item(error),
    }
}

impl OccupyingItem {
    /// Returns the item at a path, without following links.
    pub fn at(path: &Path) -> Option<Self> {
        let meta = fs::symlink_metadata(path).ok()?;
        let size = if meta.is_dir() { 0 } else { meta.len() };
        Some(Self { path: path.to_owned(), form: form(&meta), size, modified: meta.modified().ok() })
    }
}

pub(super) fn form(meta: &Metadata) -> octo_protocol::TrashForm {
    use octo_protocol::TrashForm;
    match tree::kind(meta) {
        TreePartKind::File => TrashForm::File,
        TreePartKind::Folder => TrashForm::Folder,
        TreePartKind::Link => TrashForm::Link,
        TreePartKind::Special => TrashForm::Special,
    }
}

/// Returns the first free numbered name next to a taken one.
fn free_numbered_name(slot: &DirSlot, target: &Path) -> Result<DirSlot, TrashError> {
    let name = target.file_name().unwrap_or_default();
    // `a.tar.gz` has only its last part as extension; a dotfile has none.
    let (stem, extension) = (target.file_stem().unwrap_or(name), target.extension());
    for number in 2..MAX_NUMBERED_NAMES {
        let mut numbered = OsString::from(stem);
        numbered.push(OsStr::new(&format!(" ({number})")));
        if let Some(extension) = extension {
            numbered.push(".");
            numbered.push(extension);
        }
        let numbered_slot = slot.sibling(&numbered).map_err(TrashError::Item)?;
        if !exists(&numbered_slot.path()) {
            return Ok(numbered_slot);
        }
    }
    Err(TrashError::Item(io::ErrorKind::AlreadyExists.into()))
}
