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
pub const COPY_BYTES: u64 = 2 << 30;

/// The maximum number of files copied from another file system.
pub const COPY_FILES: u64 = 200_000;

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
        self.move_in_within(path, removal, COPY_BYTES)
    }

    /// Like [`Trash::move_in`], with another copy limit.
    pub(super) fn move_in_within(
        &self,
        path: &Path,
        removal: &Removal,
        most: u64,
    ) -> Result<TrashSlip, TrashError> {
        let spot = DirSlot::of(path).map_err(TrashError::Item)?;
        let found = spot.read_object().map_err(TrashError::Item)?;
        if found.kind == DirSlotKind::Device {
            return Err(TrashError::Refused(DeleteRefusal::Device));
        }
        guard::check(&spot.path(), found.kind.guarded_as(), &self.home).map_err(TrashError::Refused)?;
        self.make_root().map_err(TrashError::NoRoom)?;
        let begun = self.begin(&spot, removal, MoveMethod::Rename)?;
        match spot.move_to(&self.content_path(begun.slip.id)) {
            Ok(()) => Ok(begun.slip),
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                begun.abandon();
                self.move_in_by_copy(&spot, removal, most)
            }
            Err(error) => {
                begun.abandon();
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
        spot: &DirSlot,
        removal: &Removal,
        how: MoveMethod,
    ) -> Result<UnfilledEntry<'_>, TrashError> {
        let id = TrashId::new();
        let slip = TrashSlip::new(id, spot.path(), removal.clone(), how);
        let begin = self.root.join(format!("begin-{id}"));
        let written = || -> io::Result<File> {
            fs::create_dir(&begin)?;
            let lock = slip::write(&begin, &slip)?;
            // Visible to others only once it is complete and locked.
            fs::rename(&begin, self.entry_path(id))?;
            File::create(self.marker_path(id))?;
            Ok(lock)
        };
        match written() {
            Ok(lock) => Ok(UnfilledEntry { trash: self, slip, lock }),
            Err(error) => {
                let _ = fs::remove_dir_all(&begin);
                self.drop_entry(id);
                Err(TrashError::NoRoom(error))
            }
        }
    }

    fn move_in_by_copy(&self, spot: &DirSlot, removal: &Removal, most: u64) -> Result<TrashSlip, TrashError> {
        let begun = self.begin(spot, removal, MoveMethod::Copy)?;
        let copied = self.copy_in(spot, &begun.slip, most);
        match copied {
            Ok(()) => Ok(begun.slip),
            Err(error) => {
                begun.abandon();
                Err(error)
            }
        }
    }

    /// Copies, compares, and only then removes the original: renames it, compares it with the copy once more,
    /// and deletes it.
    fn copy_in(&self, spot: &DirSlot, slip: &TrashSlip, most: u64) -> Result<(), TrashError> {
        let entry = self.entry_path(slip.id);
        let before = TreeListing::read(&spot.path()).map_err(TrashError::Item)?;
        if let Some(special) = before.special() {
            return Err(TrashError::Special(special));
        }
        if before.bytes() > most || before.files() > COPY_FILES {
            return Err(TrashError::TooLarge);
        }
        let part = entry.join("part");
        tree::copy(&spot.path(), &part)?;
        tree::compare(&spot.path(), &part)?;
        tree::flush(&part).map_err(TrashError::NoRoom)?;
        fs::rename(&part, self.content_path(slip.id)).map_err(TrashError::NoRoom)?;
        let aside = spot.sibling(slip.aside().file_name().unwrap_or_default()).map_err(TrashError::Item)?;
        spot.rename(&aside).map_err(TrashError::Item)?;
        let unchanged = TreeListing::read(&aside.path()).is_ok_and(|after| after == before);
        if !unchanged {
            return Err(self.step_back(spot, &aside).err().unwrap_or(TrashError::Changed));
        }
        mark_settled(&entry).map_err(TrashError::NoRoom)?;
        remove_aside(&aside.path());
        Ok(())
    }

    fn step_back(&self, spot: &DirSlot, aside: &DirSlot) -> Result<(), TrashError> {
        aside.rename(spot).map_err(|error| {
            tracing::error!(%error, aside = %aside.path().display(), "an original could not be put back under its name");
            TrashError::Item(error)
        })
    }

    /// Brings an interrupted move to one of its two ends.
    pub(super) fn finish(&self, slip: &TrashSlip) -> io::Result<MoveOutcome> {
        let here = self.contains(slip.id);
        match slip.how {
            MoveMethod::Rename if here => Ok(MoveOutcome::InTrash),
            MoveMethod::Rename => Ok(MoveOutcome::AtOrigin),
            MoveMethod::Copy => {
                let (entry, aside) = (self.entry_path(slip.id), slip.aside());
                if exists(&entry.join("there")) {
                    if exists(&aside) {
                        remove_aside(&aside);
                    }
                    return Ok(if here { MoveOutcome::InTrash } else { MoveOutcome::AtOrigin });
                }
                if !exists(&aside) {
                    // The original was never renamed: it is intact at its path.
                    return Ok(MoveOutcome::AtOrigin);
                }
                if here && tree::compare(&aside, &self.content_path(slip.id)).is_ok() {
                    mark_settled(&entry)?;
                    remove_aside(&aside);
                    return Ok(MoveOutcome::InTrash);
                }
                let (aside, place) = (DirSlot::of(&aside)?, DirSlot::of(&slip.path)?);
                aside.rename(&place)?;
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

fn remove_aside(aside: &Path) {
    if let Err(error) = tree::remove(aside) {
        tracing::warn!(%error, aside = %aside.display(), "what is left of a moved original stays until the next start");
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
