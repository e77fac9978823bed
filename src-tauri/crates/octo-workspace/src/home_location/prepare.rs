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
    time: Millis,
    stamp: &str,
) -> Result<(PendingHomePlan, CopySummary), HomePlanError> {
    restore(location, copy, time, stamp, &mut || {})
}

pub(super) fn restore(
    location: &HomeLocation,
    copy: &Path,
    time: Millis,
    stamp: &str,
    watch: ChangeHook<'_>,
) -> Result<(PendingHomePlan, CopySummary), HomePlanError> {
    require_no_plan(location)?;
    let found = inspect_copy(copy)?;
    let home = &location.home;
    if let Ok(resolved) = crate::resolve_links(home)
        && (is_inside(&found.path, &resolved) || is_inside(&resolved, &found.path))
    {
        return Err(HomePlanError::Inside(found.path));
    }
    if tree::is_mount(home) {
        return Err(HomePlanError::Fixed(home.clone()));
    }
    let staged = sibling_path(home, STAGED);
    let parent = home.parent().unwrap_or_else(|| Path::new("/"));
    require_space(parent, found.bytes)?;
    // Left by an unfinished attempt.
    tree::remove(&staged)?;
    private_folder(&staged).map_err(|_| HomePlanError::Fixed(home.clone()))?;
    let planned = (|| {
        watch();
        tree::copy_content(&found.path, &staged, LinkTreatment::Skip, &is_folder_local, watch)?;
        let former_path = unused_name(home, stamp);
        let plan =
            HomeChange::Restore { from: found.path.clone(), staged: staged.clone(), aside: former_path };
        let planned = PendingHomePlan { at: time, home: home.clone(), plan };
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
pub fn plan_move(
    location: &HomeLocation,
    target: &Path,
    time: Millis,
) -> Result<PendingHomePlan, HomePlanError> {
    if location.authority == HomeAuthority::Variable {
        return Err(HomePlanError::ByVariable);
    }
    require_no_plan(location)?;
    let target = check_target(&location.home, target)?;
    if !tree::entries(&target)?.is_empty() {
        return Err(HomePlanError::NotEmpty(target));
    }
    can_write(&target)?;
    let size = tree::measure(&location.home, &|name| !is_moved(name))?;
    require_space(&target, size.bytes)?;
    let marker =
        blake3::hash(format!("{time} {} {}", std::process::id(), target.display()).as_bytes()).to_hex();
    let plan = HomeChange::Move { to: target.clone(), mark: marker.to_string() };
    let planned = PendingHomePlan { at: time, home: location.home.clone(), plan };
    planned.write(&location.default_home).map_err(|error| HomePlanError::from_io(&target, error))?;
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
pub(super) fn check_target(home: &Path, target: &Path) -> Result<PathBuf, HomePlanError> {
    let unusable = |error| HomePlanError::Unusable { path: target.to_owned(), error };
    if !target.is_absolute() {
        return Err(unusable(io::ErrorKind::InvalidInput.into()));
    }
    let resolved = target.canonicalize().map_err(unusable)?;
    if !resolved.is_dir() {
        return Err(unusable(io::ErrorKind::NotADirectory.into()));
    }
    let home = crate::resolve_links(home).unwrap_or_else(|_| home.to_owned());
    if is_inside(&resolved, &home) || is_inside(&home, &resolved) {
        return Err(HomePlanError::Inside(resolved));
    }
    Ok(resolved)
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
    let base = sibling_path(home, &format!("{}{stamp}", super::FORMER_HOME_INFIX));
    let numbered = (2..).map(|number| sibling_path(&base, &format!("-{number}")));
    let is_free = |path: &PathBuf| path.symlink_metadata().is_err();
    std::iter::once(base.clone()).chain(numbered.take(1_000)).find(is_free).unwrap_or(base)
}
