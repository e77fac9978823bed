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
const MARK: &str = ".octo-arriving";

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
    let Some((planned, held)) = PendingHomePlan::lock(&usual)? else {
        // Another process may just have carried it out.
        let location = reread_location(location)?;
        remove_stale_staging(&location.home);
        return Ok(HomeAtStart { location: location.require_home()?, remarks: Vec::new() });
    };
    if !sources_exist(&planned) {
        // Its disk is not connected: the plan waits too.
        drop(held);
        return Ok(HomeAtStart { location: reread_location(location)?.require_home()?, remarks: Vec::new() });
    }
    let outcome = match &planned.plan {
        HomeChange::Restore { .. } => replace_home(&planned, watch),
        HomeChange::Move { to, mark } => move_home(&usual, &planned, to, mark, watch),
    };
    let remarks = match outcome {
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
    drop(held);
    Ok(HomeAtStart { location: reread_location(location)?.require_home()?, remarks })
}

/// Whether the sources of a plan exist.
fn sources_exist(planned: &PendingHomePlan) -> bool {
    let is_home = |place: &Path| has_database(place);
    match &planned.plan {
        HomeChange::Restore { staged, aside, .. } => {
            is_home(&planned.home) || is_home(staged) || is_home(aside)
        }
        HomeChange::Move { to, .. } => is_home(&planned.home) || is_home(to),
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
fn plan_errors(planned: &PendingHomePlan, why: HomePlanError) -> Vec<ApiError> {
    let what = match &planned.plan {
        HomeChange::Restore { from, .. } => ApiError::new("home.not_restored").arg("path", from.display()),
        HomeChange::Move { to, .. } => ApiError::new("home.not_moved").arg("path", to.display()),
    };
    vec![what, why.into()]
}

/// Replaces the home with a copy. Each step is a rename; the files on disk show which step is next.
fn replace_home(planned: &PendingHomePlan, watch: ChangeHook<'_>) -> Result<(), HomePlanError> {
    let HomeChange::Restore { staged, aside, .. } = &planned.plan else { return Ok(()) };
    let home = &planned.home;
    let _lock = claim_exclusively(home)?;
    let there = |place: &Path| place.symlink_metadata().is_ok();
    let failed = |path: &Path, error| HomePlanError::from_io(path, error);
    if !there(staged) {
        if there(home) {
            // Done already, or the unpacked copy is gone.
            return if there(aside) { Ok(()) } else { Err(HomePlanError::NoCopy(staged.clone())) };
        }
        tree::rename(aside, home).map_err(|error| failed(aside, error))?;
        return Err(HomePlanError::NoCopy(staged.clone()));
    }
    if there(home) {
        // If both exist, a process created a home between the two steps: it is kept too.
        let aside = if there(aside) { unused_name(home, "again") } else { aside.clone() };
        if let Err(error) = tree::rename(home, &aside) {
            tree::remove(staged)?;
            return Err(failed(home, error));
        }
        watch();
    }
    if let Err(error) = tree::rename(staged, home) {
        let back = tree::rename(aside, home);
        return Err(failed(home, back.err().unwrap_or(error)));
    }
    watch();
    Ok(())
}

/// Moves the home into another folder. The old folder remains the home until the pointer changes, and is kept
/// afterwards.
fn move_home(
    usual: &Path,
    planned: &PendingHomePlan,
    to: &Path,
    mark: &str,
    watch: ChangeHook<'_>,
) -> Result<(), HomePlanError> {
    let (home, before) = (&planned.home, HomePointer::read(usual)?);
    if before.as_ref().is_none_or(|pointer| pointer.home != to) {
        let _lock = claim_exclusively(home)?;
        if let Err(error) = fill_target(home, to, mark, watch) {
            // An incomplete home is worse than none.
            if let Err(error) = clear_target(to, mark) {
                tracing::warn!(%error, "an unfinished copy stays where the home was to go");
            }
            return Err(error);
        }
        let pointer = HomePointer::after_move(before, home, to);
        if let Err(error) = pointer.write(usual) {
            clear_target(to, mark)?;
            return Err(HomePlanError::from_io(usual, error));
        }
        watch();
    }
    // The home has moved: the remaining steps may fail without harm.
    let said = write_private(&home.join(MOVED_NOTE), moved_to(to).as_bytes());
    let unmarked = tree::remove_file_if_there(&to.join(MARK));
    // A home that returned to an earlier location is no longer a former one there.
    let at_home = tree::remove_file_if_there(&to.join(MOVED_NOTE));
    for outcome in [said, unmarked, at_home] {
        if let Err(error) = outcome {
            tracing::warn!(%error, "a note about the moved home is missing or too much");
        }
    }
    watch();
    Ok(())
}

fn moved_to(to: &Path) -> String {
    format!(
        "Octo's folder was moved to\n\n{}\n\nWhat is here is the folder as it was then. Octo does not use it any more. \
         Delete it in Octo under Settings, Data, or by hand.\n",
        to.display()
    )
}

/// Builds the whole home in a folder that is empty, or was left unfinished by this same plan.
fn fill_target(home: &Path, to: &Path, mark: &str, watch: ChangeHook<'_>) -> Result<(), HomePlanError> {
    let real = check_target(home, to)?;
    let names = tree::entries(&real)?;
    // A process that was killed while writing the mark left only its draft.
    let untouched = names.iter().all(|name| name.to_string_lossy().starts_with(DRAFT));
    if !untouched && !is_marked(to, mark) {
        return Err(HomePlanError::NotEmpty(real));
    }
    restrict_to_owner(&real)?;
    write_private(&to.join(MARK), mark.as_bytes()).map_err(|error| HomePlanError::from_io(to, error))?;
    watch();
    tree::clear(to, MARK, watch)?;
    let size = tree::measure(home, &|name| !is_moved(name))?;
    require_space(to, size.bytes)?;
    let copied = tree::copy_content(home, to, LinkTreatment::Recreate, &|name| !is_moved(name), watch)?;
    let arrived = tree::measure(to, &|name| name == MARK)?;
    if copied != size || copied != arrived {
        let error = io::Error::other(format!(
            "{} files were to be copied, {} were, {} are there",
            size.files, copied.files, arrived.files
        ));
        return Err(HomePlanError::Failed { path: to.to_owned(), error });
    }
    tree::sync_folder_of(to).map_err(|error| HomePlanError::from_io(to, error))
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
fn clear_target(to: &Path, mark: &str) -> Result<(), HomePlanError> {
    if is_marked(to, mark) {
        tree::clear(to, MARK, &mut || {})?;
        tree::remove(&to.join(MARK))?;
    }
    Ok(())
}

fn is_marked(folder: &Path, mark: &str) -> bool {
    fs::read(folder.join(MARK)).is_ok_and(|found| found == mark.as_bytes())
}

/// Keeps other processes out of a home while the returned file is open.
fn claim_exclusively(home: &Path) -> Result<Option<fs::File>, HomePlanError> {
    let begun = Instant::now();
    loop {
        match claim(home).map_err(|error| HomePlanError::from_io(home, error))? {
            // There, a folder with an open file in it cannot be renamed.
            HomeClaim::Alone(lock) => return Ok(lock.filter(|_| cfg!(unix))),
            HomeClaim::Occupied if begun.elapsed() >= IN_USE_TIMEOUT => return Err(HomePlanError::InUse),
            HomeClaim::Occupied => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}
