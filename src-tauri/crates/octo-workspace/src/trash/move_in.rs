//! Moves items into the trash.

use super::{
    DeleteRefusal, Removal, Trash, TrashError, TrashSlip,
    dir_slot::{DirSlot, DirSlotKind},
    exists, guard,
    slip::{self, MoveMethod},
    tree::{self, TreeListing},
};
use octo_protocol::TrashId;
use std::{
    fs::{self, File},
    io,
    path::Path,
};

/// The maximum bytes copied from another file system: about half a minute on a slow disk.
pub const MAX_COPY_BYTES: u64 = 2 << 30;

/// The maximum number of files copied from another file system.
pub const MAX_COPY_FILES: u64 = 200_000;

/// The outcome of an interrupted move.
pub(super) enum MoveOutcome {
    /// The item is in the trash, and only there.
    InTrash,
    /// The item is at its original path, and only there.
    AtOrigin,
}

/// An entry in progress, locked until the item is in it or the move is abandoned.
struct UnfilledEntry<'a> {
    trash: &'a Trash,
    slip: TrashSlip,
    lock: File,
}

impl Trash {
    /// Moves an item to the trash. A link is moved as a link. The last part of the path must be a name.
    ///
    /// # Errors
    ///
    /// [`TrashError`]; nothing was changed then.
    pub fn move_in(&self, path: &Path, removal: &Removal) -> Result<TrashSlip, TrashError> {
        self.move_in_within(path, removal, MAX_COPY_BYTES)
    }

    /// Like [`Trash::move_in`], with another copy limit.
    pub(super) fn move_in_within(
        &self,
        path: &Path,
        removal: &Removal,
        limit: u64,
    ) -> Result<TrashSlip, TrashError> {
        let slot = DirSlot::of(path).map_err(TrashError::Item)?;
        let found = slot.read_object().map_err(TrashError::Item)?;
        if found.kind == DirSlotKind::Device {
            return Err(TrashError::Refused(DeleteRefusal::Device));
        }
        guard::check(&slot.path(), found.kind.guarded_kind(), &self.home).map_err(TrashError::Refused)?;
        self.make_root().map_err(TrashError::NoRoom)?;
        let unfilled = self.begin(&slot, removal, MoveMethod::Rename)?;
        match slot.move_to(&self.content_path(unfilled.slip.id)) {
            Ok(()) => Ok(unfilled.slip),
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                unfilled.abandon();
                self.move_in_by_copy(&slot, removal, limit)
            }
            Err(error) => {
                unfilled.abandon();
                Err(match error.kind() {
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => TrashError::NoRoom(error),
                    _ => TrashError::Item(error),
                })
            }
        }
    }

    /// Writes the slip, from which any later interruption can be finished or undone.
    fn begin(
        &self,
        slot: &DirSlot,
        removal: &Removal,
        method: MoveMethod,
    ) -> Result<UnfilledEntry<'_>, TrashError> {
        let id = TrashId::new();
        let slip = TrashSlip::new(id, slot.path(), removal.clone(), method);
        let begin = self.root.join(format!("begin-{id}"));
        let write_slip = || -> io::Result<File> {
            fs::create_dir(&begin)?;
            let lock = slip::write(&begin, &slip)?;
            // Visible to others only once it is complete and locked.
            fs::rename(&begin, self.entry_path(id))?;
            File::create(self.marker_path(id))?;
            Ok(lock)
        };
        match write_slip() {
            Ok(lock) => Ok(UnfilledEntry { trash: self, slip, lock }),
            Err(error) => {
                let _ = fs::remove_dir_all(&begin);
                self.drop_entry(id);
                Err(TrashError::NoRoom(error))
            }
        }
    }

    fn move_in_by_copy(
        &self,
        slot: &DirSlot,
        removal: &Removal,
        limit: u64,
    ) -> Result<TrashSlip, TrashError> {
        let unfilled = self.begin(slot, removal, MoveMethod::Copy)?;
        let copied = self.copy_in(slot, &unfilled.slip, limit);
        match copied {
            Ok(()) => Ok(unfilled.slip),
            Err(error) => {
                unfilled.abandon();
                Err(error)
            }
        }
    }

    /// Copies, compares, and only then removes the original: renames it, compares it with the copy once more,
    /// and deletes it.
    fn copy_in(&self, slot: &DirSlot, slip: &TrashSlip, limit: u64) -> Result<(), TrashError> {
        let entry = self.entry_path(slip.id);
        let before = TreeListing::read(&slot.path()).map_err(TrashError::Item)?;
        if let Some(special) = before.special() {
            return Err(TrashError::Special(special));
        }
        if before.bytes() > limit || before.files() > MAX_COPY_FILES {
            return Err(TrashError::TooLarge);
        }
        let part = entry.join("part");
        tree::copy(&slot.path(), &part)?;
        tree::compare(&slot.path(), &part)?;
        tree::flush(&part).map_err(TrashError::NoRoom)?;
        fs::rename(&part, self.content_path(slip.id)).map_err(TrashError::NoRoom)?;
        let aside_slot =
            slot.sibling(slip.aside_path().file_name().unwrap_or_default()).map_err(TrashError::Item)?;
        slot.rename(&aside_slot).map_err(TrashError::Item)?;
        let unchanged = TreeListing::read(&aside_slot.path()).is_ok_and(|after| after == before);
        if !unchanged {
            return Err(self.move_back(slot, &aside_slot).err().unwrap_or(TrashError::Changed));
        }
        mark_settled(&entry).map_err(TrashError::NoRoom)?;
        remove_aside(&aside_slot.path());
        Ok(())
    }

    fn move_back(&self, slot: &DirSlot, set_aside: &DirSlot) -> Result<(), TrashError> {
        set_aside.rename(slot).map_err(|error| {
            tracing::error!(%error, set_aside = %set_aside.path().display(), "an original could not be put back under its name");
            TrashError::Item(error)
        })
    }

    /// Brings an interrupted move to one of its two ends.
    pub(super) fn finish(&self, slip: &TrashSlip) -> io::Result<MoveOutcome> {
        let in_trash = self.contains(slip.id);
        match slip.method {
            MoveMethod::Rename if in_trash => Ok(MoveOutcome::InTrash),
            MoveMethod::Rename => Ok(MoveOutcome::AtOrigin),
            MoveMethod::Copy => {
                let (entry, aside_path) = (self.entry_path(slip.id), slip.aside_path());
                if exists(&entry.join("there")) {
                    if exists(&aside_path) {
                        remove_aside(&aside_path);
                    }
                    return Ok(if in_trash { MoveOutcome::InTrash } else { MoveOutcome::AtOrigin });
                }
                if !exists(&aside_path) {
                    // The original was never renamed: it is intact at its path.
                    return Ok(MoveOutcome::AtOrigin);
                }
                if in_trash && tree::compare(&aside_path, &self.content_path(slip.id)).is_ok() {
                    mark_settled(&entry)?;
                    remove_aside(&aside_path);
                    return Ok(MoveOutcome::InTrash);
                }
                let (aside_path, original) = (DirSlot::of(&aside_path)?, DirSlot::of(&slip.path)?);
                aside_path.rename(&original)?;
                Ok(MoveOutcome::AtOrigin)
            }
        }
    }
}

/// Settles the entry: from here on the item is in the trash, whatever remains of its original.
fn mark_settled(entry: &Path) -> io::Result<()> {
    File::create(entry.join("there"))?.sync_all()?;
    octo_store::flush_folder(entry)
}

fn remove_aside(path: &Path) {
    if let Err(error) = tree::remove(path) {
        tracing::warn!(%error, path = %path.display(), "what is left of a moved original stays until the next start");
    }
}

impl UnfilledEntry<'_> {
    /// Nothing was moved: removes the entry.
    fn abandon(self) {
        let Self { trash, slip, lock } = self;
        // Locked during the removal, so no other process takes it for an abandoned one.
        trash.drop_entry(slip.id);
        drop(lock);
    }
}
