//! The steps at startup, before anything opens the home.

use super::{
    HomeAuthority, HomeChange, HomeLocation, HomePlanError, PendingHomePlan, STAGED,
    pointer::HomePointer,
    prepare::{check_target, is_moved, require_space, unused_name},
    sibling_path,
    tree::{self, ChangeHook, LinkTreatment},
};
use crate::{private::DRAFT, write_private};
use octo_protocol::ApiError;
use octo_store::{HomeClaim, claim, has_database};
use std::{
    fs, io,
    path::Path,
    time::{Duration, Instant},
};

/// The file in a former home that says where the home moved to. A former home with this file is not opened:
/// changes there would be missing from the home.
pub const MOVED_NOTE: &str = "MOVED.txt";

/// The marker file in a folder that is being filled.
const MARKER_FILE: &str = ".octo-arriving";

/// The home after its plan was carried out.
#[derive(Clone, Debug)]
pub struct HomeAtStart {
    /// Its location.
    pub location: HomeLocation,
    /// The reasons why a plan was not carried out, if so; the home is unchanged then.
    pub remarks: Vec<ApiError>,
}

impl HomeAtStart {
    /// Returns a home without a plan.
    pub fn without_plan(location: HomeLocation) -> Self {
        Self { location, remarks: Vec::new() }
    }
}

/// How long to wait while the home is still in use: a restarted Octo begins before the previous process has
/// ended.
const IN_USE_TIMEOUT: Duration = Duration::from_secs(2);

/// Carries out the plan for a home. Every process calls this before it opens anything in the home or fixes the
/// home's location. A move takes time in proportion to the home's size.
///
/// # Errors
///
/// When the home's location cannot be read; see [`HomeLocation::by_octo`].
pub fn carry_out_home_plan(location: HomeLocation) -> Result<HomeAtStart, HomePlanError> {
    carry_out_observed(location, &mut || {})
}

pub(super) fn carry_out_observed(
    location: HomeLocation,
    watch: ChangeHook<'_>,
) -> Result<HomeAtStart, HomePlanError> {
    let usual = location.default_home.clone();
    let Some((planned, lock)) = PendingHomePlan::lock(&usual)? else {
        // Another process may just have carried it out.
        let location = reread_location(location)?;
        remove_stale_staging(&location.home);
        return Ok(HomeAtStart { location: location.require_home()?, remarks: Vec::new() });
    };
    if !sources_exist(&planned) {
        // Its disk is not connected: the plan waits too.
        drop(lock);
        return Ok(HomeAtStart { location: reread_location(location)?.require_home()?, remarks: Vec::new() });
    }
    let outcome = match &planned.plan {
        HomeChange::Restore { .. } => replace_home(&planned, watch),
        HomeChange::Move { to, mark } => move_home(&usual, &planned, to, mark, watch),
    };
    let warnings = match outcome {
        Ok(()) => {
            remove_finished_plan(&usual, watch);
            Vec::new()
        }
        Err(HomePlanError::InUse) => {
            tracing::warn!("what is planned for the home waits: another process works in it");
            vec![ApiError::new("home.plan_waits")]
        }
        Err(error) => {
            tracing::error!(%error, "what was planned for the home was not done");
            remove_finished_plan(&usual, watch);
            plan_errors(&planned, error)
        }
    };
    drop(lock);
    Ok(HomeAtStart { location: reread_location(location)?.require_home()?, remarks: warnings })
}

/// Whether the sources of a plan exist.
fn sources_exist(planned: &PendingHomePlan) -> bool {
    let is_home = |path: &Path| has_database(path);
    match &planned.plan {
        HomeChange::Restore { staged, aside: former, .. } => {
            is_home(&planned.home) || is_home(staged) || is_home(former)
        }
        HomeChange::Move { to: target, .. } => is_home(&planned.home) || is_home(target),
    }
}

/// Reads the home's location again.
fn reread_location(location: HomeLocation) -> Result<HomeLocation, HomePlanError> {
    match location.authority {
        HomeAuthority::Variable => Ok(location),
        HomeAuthority::Octo => HomeLocation::by_octo(location.default_home),
    }
}

/// Removes the unpacked copy of a plan that was never completed. Not called while another process may be about
/// to make a plan.
fn remove_stale_staging(home: &Path) {
    let staged = sibling_path(home, STAGED);
    if staged.symlink_metadata().is_ok()
        && let Ok(HomeClaim::Alone(_lock)) = claim(home)
        && let Err(error) = tree::remove(&staged)
    {
        tracing::warn!(%error, "an unfinished copy stays beside the home");
    }
}

/// Removes the finished plan. If that fails, the next start checks the plan again and finds it finished.
fn remove_finished_plan(usual: &Path, watch: ChangeHook<'_>) {
    if let Err(error) = PendingHomePlan::remove(usual) {
        tracing::warn!(%error, "a plan for the home that is over stays");
    }
    watch();
}

/// Returns the errors that explain why a plan was not carried out.
fn plan_errors(planned: &PendingHomePlan, cause: HomePlanError) -> Vec<ApiError> {
    let key = match &planned.plan {
        HomeChange::Restore { from, .. } => ApiError::new("home.not_restored").arg("path", from.display()),
        HomeChange::Move { to, .. } => ApiError::new("home.not_moved").arg("path", to.display()),
    };
    vec![key, cause.into()]
}

/// Replaces the home with a copy. Each step is a rename; the files on disk show which step is next.
fn replace_home(planned: &PendingHomePlan, watch: ChangeHook<'_>) -> Result<(), HomePlanError> {
    let HomeChange::Restore { staged, aside: former_path, .. } = &planned.plan else { return Ok(()) };
    let home = &planned.home;
    let _lock = claim_exclusively(home)?;
    let exists = |candidate: &Path| candidate.symlink_metadata().is_ok();
    let failed = |path: &Path, error| HomePlanError::from_io(path, error);
    if !exists(staged) {
        if exists(home) {
            // Done already, or the unpacked copy is gone.
            return if exists(former_path) { Ok(()) } else { Err(HomePlanError::NoCopy(staged.clone())) };
        }
        tree::rename(former_path, home).map_err(|error| failed(former_path, error))?;
        return Err(HomePlanError::NoCopy(staged.clone()));
    }
    if exists(home) {
        // If both exist, a process created a home between the two steps: it is kept too.
        let former_path = if exists(former_path) { unused_name(home, "again") } else { former_path.clone() };
        if let Err(error) = tree::rename(home, &former_path) {
            tree::remove(staged)?;
            return Err(failed(home, error));
        }
        watch();
    }
    if let Err(error) = tree::rename(staged, home) {
        let restored = tree::rename(former_path, home);
        return Err(failed(home, restored.err().unwrap_or(error)));
    }
    watch();
    Ok(())
}

/// Moves the home into another folder. The old folder remains the home until the pointer changes, and is kept
/// afterwards.
fn move_home(
    usual: &Path,
    planned: &PendingHomePlan,
    target: &Path,
    marker: &str,
    watch: ChangeHook<'_>,
) -> Result<(), HomePlanError> {
    let (home, before) = (&planned.home, HomePointer::read(usual)?);
    if before.as_ref().is_none_or(|pointer| pointer.home != target) {
        let _lock = claim_exclusively(home)?;
        if let Err(error) = fill_target(home, target, marker, watch) {
            // An incomplete home is worse than none.
            if let Err(error) = clear_target(target, marker) {
                tracing::warn!(%error, "an unfinished copy stays where the home was to go");
            }
            return Err(error);
        }
        let pointer = HomePointer::after_move(before, home, target);
        if let Err(error) = pointer.write(usual) {
            clear_target(target, marker)?;
            return Err(HomePlanError::from_io(usual, error));
        }
        watch();
    }
    // The home has moved: the remaining steps may fail without harm.
    let write_result = write_private(&home.join(MOVED_NOTE), moved_to(target).as_bytes());
    let unmarked = tree::remove_file_if_there(&target.join(MARKER_FILE));
    // A home that returned to an earlier location is no longer a former one there.
    let at_home = tree::remove_file_if_there(&target.join(MOVED_NOTE));
    for outcome in [write_result, unmarked, at_home] {
        if let Err(error) = outcome {
            tracing::warn!(%error, "a note about the moved home is missing or too much");
        }
    }
    watch();
    Ok(())
}

fn moved_to(target: &Path) -> String {
    format!(
        "Octo's folder was moved to\n\n{}\n\nWhat is here is the folder as it was then. Octo does not use it any more. \
         Delete it in Octo under Settings, Data, or by hand.\n",
        target.display()
    )
}

/// Builds the whole home in a folder that is empty, or was left unfinished by this same plan.
fn fill_target(home: &Path, target: &Path, marker: &str, watch: ChangeHook<'_>) -> Result<(), HomePlanError> {
    let resolved = check_target(home, target)?;
    let names = tree::entries(&resolved)?;
    // A process that was killed while writing the mark left only its draft.
    let untouched = names.iter().all(|name| name.to_string_lossy().starts_with(DRAFT));
    if !untouched && !is_marked(target, marker) {
        return Err(HomePlanError::NotEmpty(resolved));
    }
    restrict_to_owner(&resolved)?;
    write_private(&target.join(MARKER_FILE), marker.as_bytes())
        .map_err(|error| HomePlanError::from_io(target, error))?;
    watch();
    tree::clear(target, MARKER_FILE, watch)?;
    let size = tree::measure(home, &|name| !is_moved(name))?;
    require_space(target, size.bytes)?;
    let copied = tree::copy_content(home, target, LinkTreatment::Recreate, &|name| !is_moved(name), watch)?;
    let amount = tree::measure(target, &|name| name == MARKER_FILE)?;
    if copied != size || copied != amount {
        let error = io::Error::other(format!(
            "{} files were to be copied, {} were, {} are there",
            size.files, copied.files, amount.files
        ));
        return Err(HomePlanError::Failed { path: target.to_owned(), error });
    }
    tree::sync_folder_of(target).map_err(|error| HomePlanError::from_io(target, error))
}

/// Closes the folder to other users: the person may have created it readable for all, and a home's content is
/// private.
#[cfg(unix)]
fn restrict_to_owner(folder: &Path) -> Result<(), HomePlanError> {
    use std::os::unix::fs::PermissionsExt as _;
    let closed = fs::Permissions::from_mode(0o700);
    fs::set_permissions(folder, closed)
        .map_err(|error| HomePlanError::Unusable { path: folder.to_owned(), error })
}

#[cfg(not(unix))]
fn restrict_to_owner(_folder: &Path) -> Result<(), HomePlanError> {
    Ok(())
}

/// Removes the files this plan put into a folder; the folder belongs to the person and stays.
fn clear_target(target: &Path, marker: &str) -> Result<(), HomePlanError> {
    if is_marked(target, marker) {
        tree::clear(target, MARKER_FILE, &mut || {})?;
        tree::remove(&target.join(MARKER_FILE))?;
    }
    Ok(())
}

fn is_marked(folder: &Path, marker: &str) -> bool {
    fs::read(folder.join(MARKER_FILE)).is_ok_and(|found| found == marker.as_bytes())
}

/// Keeps other processes out of a home while the returned file is open.
fn claim_exclusively(home: &Path) -> Result<Option<fs::File>, HomePlanError> {
    let started = Instant::now();
    loop {
        match claim(home).map_err(|error| HomePlanError::from_io(home, error))? {
            // There, a folder with an open file in it cannot be renamed.
            HomeClaim::Alone(lock) => return Ok(lock.filter(|_| cfg!(unix))),
            HomeClaim::Occupied if started.elapsed() >= IN_USE_TIMEOUT => return Err(HomePlanError::InUse),
            HomeClaim::Occupied => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}
