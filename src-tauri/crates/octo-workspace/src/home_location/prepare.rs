//! The steps while Octo runs: makes a plan and checks all its requirements. Nothing in the home changes.

use super::{
    CopySummary, HomeAuthority, HomeChange, HomeLocation, HomePlanError, PendingHomePlan, STAGED,
    copies::is_folder_local,
    inspect_copy, sibling_path,
    tree::{self, ChangeHook, LinkTreatment},
};
use crate::{is_inside, private_folder};
use octo_protocol::Millis;
use std::{
    io,
    path::{Path, PathBuf},
};

/// The space left free in addition to a plan's need, because the home keeps growing.
const SPARE_BYTES: u64 = 64 << 20;

/// Makes a complete home from a copy, next to the present home, and plans the replacement for the next start.
/// `stamp`, which must be unique, names the folder the present home is renamed to.
///
/// # Errors
///
/// See [`HomePlanError`]; partial work is removed again.
pub fn plan_restore(
    location: &HomeLocation,
    copy: &Path,
    at: Millis,
    stamp: &str,
) -> Result<(PendingHomePlan, CopySummary), HomePlanError> {
    restore(location, copy, at, stamp, &mut || {})
}

pub(super) fn restore(
    location: &HomeLocation,
    copy: &Path,
    at: Millis,
    stamp: &str,
    watch: ChangeHook<'_>,
) -> Result<(PendingHomePlan, CopySummary), HomePlanError> {
    require_no_plan(location)?;
    let found = inspect_copy(copy)?;
    let home = &location.home;
    if let Ok(real) = crate::real(home)
        && (is_inside(&found.path, &real) || is_inside(&real, &found.path))
    {
        return Err(HomePlanError::Inside(found.path));
    }
    if tree::is_mount(home) {
        return Err(HomePlanError::Fixed(home.clone()));
    }
    let staged = sibling_path(home, STAGED);
    let above = home.parent().unwrap_or_else(|| Path::new("/"));
    require_space(above, found.bytes)?;
    // Left by an unfinished attempt.
    tree::remove(&staged)?;
    private_folder(&staged).map_err(|_| HomePlanError::Fixed(home.clone()))?;
    let planned = (|| {
        watch();
        tree::copy_content(&found.path, &staged, LinkTreatment::Skip, &is_folder_local, watch)?;
        let aside = unused_name(home, stamp);
        let plan = HomeChange::Restore { from: found.path.clone(), staged: staged.clone(), aside };
        let planned = PendingHomePlan { at, home: home.clone(), plan };
        planned.write(&location.default_home).map_err(|error| HomePlanError::from_io(&staged, error))?;
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
/// See [`HomePlanError`].
pub fn plan_move(location: &HomeLocation, to: &Path, at: Millis) -> Result<PendingHomePlan, HomePlanError> {
    if location.authority == HomeAuthority::Variable {
        return Err(HomePlanError::ByVariable);
    }
    require_no_plan(location)?;
    let to = check_target(&location.home, to)?;
    if !tree::entries(&to)?.is_empty() {
        return Err(HomePlanError::NotEmpty(to));
    }
    can_write(&to)?;
    let size = tree::measure(&location.home, &|name| !is_moved(name))?;
    require_space(&to, size.bytes)?;
    let mark = blake3::hash(format!("{at} {} {}", std::process::id(), to.display()).as_bytes()).to_hex();
    let plan = HomeChange::Move { to: to.clone(), mark: mark.to_string() };
    let planned = PendingHomePlan { at, home: location.home.clone(), plan };
    planned.write(&location.default_home).map_err(|error| HomePlanError::from_io(&to, error))?;
    Ok(planned)
}

/// Cancels the plan and removes the files made for it; the home was not touched.
///
/// # Errors
///
/// I/O errors.
pub fn cancel_plan(location: &HomeLocation) -> io::Result<()> {
    // Whatever the plan says, and even if it cannot be read.
    let planned = PendingHomePlan::read(location);
    PendingHomePlan::remove(&location.default_home)?;
    if let Ok(Some(PendingHomePlan { plan: HomeChange::Restore { staged, .. }, .. })) = planned {
        tree::remove(&staged).map_err(io::Error::other)?;
    }
    Ok(())
}

/// Whether an entry moves with the home: all do except files of one running process.
pub(super) fn is_moved(name: &str) -> bool {
    !matches!(name, "octo.lock" | "octo.db-shm") && name != super::MOVED_NOTE
}

/// Returns the target folder without links; it must exist, and neither contain the home nor be inside it.
pub(super) fn check_target(home: &Path, to: &Path) -> Result<PathBuf, HomePlanError> {
    let unusable = |error| HomePlanError::Unusable { path: to.to_owned(), error };
    if !to.is_absolute() {
        return Err(unusable(io::ErrorKind::InvalidInput.into()));
    }
    let real = to.canonicalize().map_err(unusable)?;
    if !real.is_dir() {
        return Err(unusable(io::ErrorKind::NotADirectory.into()));
    }
    let home = crate::real(home).unwrap_or_else(|_| home.to_owned());
    if is_inside(&real, &home) || is_inside(&home, &real) {
        return Err(HomePlanError::Inside(real));
    }
    Ok(real)
}

fn can_write(folder: &Path) -> Result<(), HomePlanError> {
    tempfile::Builder::new()
        .prefix(".octo-")
        .tempfile_in(folder)
        .map(drop)
        .map_err(|error| HomePlanError::Unusable { path: folder.to_owned(), error })
}

pub(super) fn require_space(folder: &Path, bytes: u64) -> Result<(), HomePlanError> {
    let needed = bytes.saturating_add(SPARE_BYTES);
    match tree::free_space(folder) {
        Some(room) if room < needed => {
            Err(HomePlanError::NoRoom { path: folder.to_owned(), needed: Some(needed) })
        }
        Some(_) | None => Ok(()),
    }
}

fn require_no_plan(location: &HomeLocation) -> Result<(), HomePlanError> {
    match PendingHomePlan::read(location)? {
        Some(_) => Err(HomePlanError::Planned),
        None => Ok(()),
    }
}

/// Returns an unused name next to the home.
pub(super) fn unused_name(home: &Path, stamp: &str) -> PathBuf {
    let first = sibling_path(home, &format!("{}{stamp}", super::FORMER_HOME_INFIX));
    let others = (2..).map(|number| sibling_path(&first, &format!("-{number}")));
    let is_free = |place: &PathBuf| place.symlink_metadata().is_err();
    std::iter::once(first.clone()).chain(others.take(1_000)).find(is_free).unwrap_or(first)
}
