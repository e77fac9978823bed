//! The steps while Octo runs: makes a plan and checks all its requirements. Nothing in the home changes.

use super::{
    Chosen, HomeCopied, Plan, Planned, Residence, ResidenceError, STAGED, beside,
    copied::is_of_the_folder,
    look_at_copy,
    tree::{self, Links, Watch},
};
use crate::{is_inside, private_folder};
use octo_protocol::Millis;
use std::{
    io,
    path::{Path, PathBuf},
};

/// The space left free in addition to a plan's need, because the home keeps growing.
const SPARE: u64 = 64 << 20;

/// Makes a complete home from a copy, next to the present home, and plans the replacement for the next start.
/// `stamp`, which must be unique, names the folder the present home is renamed to.
///
/// # Errors
///
/// See [`ResidenceError`]; partial work is removed again.
pub fn plan_restore(
    residence: &Residence,
    copy: &Path,
    at: Millis,
    stamp: &str,
) -> Result<(Planned, HomeCopied), ResidenceError> {
    restore(residence, copy, at, stamp, &mut || {})
}

pub(super) fn restore(
    residence: &Residence,
    copy: &Path,
    at: Millis,
    stamp: &str,
    watch: Watch<'_>,
) -> Result<(Planned, HomeCopied), ResidenceError> {
    free_to_plan(residence)?;
    let found = look_at_copy(copy)?;
    let home = &residence.home;
    if let Ok(real) = crate::real(home)
        && (is_inside(&found.path, &real) || is_inside(&real, &found.path))
    {
        return Err(ResidenceError::Inside(found.path));
    }
    if tree::is_mount(home) {
        return Err(ResidenceError::Fixed(home.clone()));
    }
    let staged = beside(home, STAGED);
    let above = home.parent().unwrap_or_else(|| Path::new("/"));
    has_room(above, found.bytes)?;
    // Left by an unfinished attempt.
    tree::remove(&staged)?;
    private_folder(&staged).map_err(|_| ResidenceError::Fixed(home.clone()))?;
    let planned = (|| {
        watch();
        tree::copy_content(&found.path, &staged, Links::LeftOut, &is_of_the_folder, watch)?;
        let aside = free_name(home, stamp);
        let plan = Plan::Restore { from: found.path.clone(), staged: staged.clone(), aside };
        let planned = Planned { at, home: home.clone(), plan };
        planned.write(&residence.usual).map_err(|error| ResidenceError::of(&staged, error))?;
        watch();
        Ok(planned)
    })();
    match planned {
        Ok(planned) => Ok((planned, found)),
        Err(error) => {
            if let Err(error) = tree::remove(&staged) {
                tracing::warn!(%error, "an unfinished copy stays beside the home");
            }
            Err(error)
        }
    }
}

/// Plans the home's move into an empty folder at the next start.
///
/// # Errors
///
/// See [`ResidenceError`].
pub fn plan_move(residence: &Residence, to: &Path, at: Millis) -> Result<Planned, ResidenceError> {
    if residence.chosen == Chosen::ByVariable {
        return Err(ResidenceError::ByVariable);
    }
    free_to_plan(residence)?;
    let to = usable(&residence.home, to)?;
    if !tree::entries(&to)?.is_empty() {
        return Err(ResidenceError::NotEmpty(to));
    }
    can_write(&to)?;
    let size = tree::measure(&residence.home, &|name| !is_moved(name))?;
    has_room(&to, size.bytes)?;
    let mark = blake3::hash(format!("{at} {} {}", std::process::id(), to.display()).as_bytes()).to_hex();
    let plan = Plan::Move { to: to.clone(), mark: mark.to_string() };
    let planned = Planned { at, home: residence.home.clone(), plan };
    planned.write(&residence.usual).map_err(|error| ResidenceError::of(&to, error))?;
    Ok(planned)
}

/// Cancels the plan and removes the files made for it; the home was not touched.
///
/// # Errors
///
/// I/O errors.
pub fn cancel_plan(residence: &Residence) -> io::Result<()> {
    // Whatever the plan says, and even if it cannot be read.
    let planned = Planned::read(residence);
    Planned::remove(&residence.usual)?;
    if let Ok(Some(Planned { plan: Plan::Restore { staged, .. }, .. })) = planned {
        tree::remove(&staged).map_err(io::Error::other)?;
    }
    Ok(())
}

/// Whether an entry moves with the home: all do except files of one running process.
pub(super) fn is_moved(name: &str) -> bool {
    !matches!(name, "octo.lock" | "octo.db-shm") && name != super::MOVED
}

/// Returns the target folder without links; it must exist, and neither contain the home nor be inside it.
pub(super) fn usable(home: &Path, to: &Path) -> Result<PathBuf, ResidenceError> {
    let unusable = |error| ResidenceError::Unusable { path: to.to_owned(), error };
    if !to.is_absolute() {
        return Err(unusable(io::ErrorKind::InvalidInput.into()));
    }
    let real = to.canonicalize().map_err(unusable)?;
    if !real.is_dir() {
        return Err(unusable(io::ErrorKind::NotADirectory.into()));
    }
    let home = crate::real(home).unwrap_or_else(|_| home.to_owned());
    if is_inside(&real, &home) || is_inside(&home, &real) {
        return Err(ResidenceError::Inside(real));
    }
    Ok(real)
}

fn can_write(folder: &Path) -> Result<(), ResidenceError> {
    tempfile::Builder::new()
        .prefix(".octo-")
        .tempfile_in(folder)
        .map(drop)
        .map_err(|error| ResidenceError::Unusable { path: folder.to_owned(), error })
}

pub(super) fn has_room(folder: &Path, bytes: u64) -> Result<(), ResidenceError> {
    let needed = bytes.saturating_add(SPARE);
    match tree::room(folder) {
        Some(room) if room < needed => {
            Err(ResidenceError::NoRoom { path: folder.to_owned(), needed: Some(needed) })
        }
        Some(_) | None => Ok(()),
    }
}

fn free_to_plan(residence: &Residence) -> Result<(), ResidenceError> {
    match Planned::read(residence)? {
        Some(_) => Err(ResidenceError::Planned),
        None => Ok(()),
    }
}

/// Returns an unused name next to the home.
pub(super) fn free_name(home: &Path, stamp: &str) -> PathBuf {
    let first = beside(home, &format!("{}{stamp}", super::PUT_ASIDE));
    let others = (2..).map(|number| beside(&first, &format!("-{number}")));
    let is_free = |place: &PathBuf| place.symlink_metadata().is_err();
    std::iter::once(first.clone()).chain(others.take(1_000)).find(is_free).unwrap_or(first)
}
