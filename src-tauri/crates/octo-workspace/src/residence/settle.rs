//! What is done at the start, before anything opens the home.

use super::{
    Chosen, Plan, Planned, Residence, ResidenceError, STAGED, beside,
    pointer::Pointer,
    prepare::{free_name, has_room, is_moved, usable},
    tree::{self, Links, Watch},
};
use crate::{private::DRAFT, write_private};
use octo_protocol::ApiError;
use octo_store::{Claim, claim, has_database};
use std::{
    fs, io,
    path::Path,
    time::{Duration, Instant},
};

/// The file in a former home that says where it went. One that has it is not opened: what would be done there would be
/// missed in the home.
pub const MOVED: &str = "MOVED.txt";

/// The file in a folder that is being filled.
const MARK: &str = ".octo-arriving";

/// The home, after what was planned for it.
#[derive(Clone, Debug)]
pub struct Settled {
    /// Where it is.
    pub residence: Residence,
    /// Why what was planned was not done, where it was not; the home is as it was then.
    pub remarks: Vec<ApiError>,
}

impl Settled {
    /// A home for which nothing was planned.
    pub fn at(residence: Residence) -> Self {
        Self { residence, remarks: Vec::new() }
    }
}

/// How long a home may still be in use: an Octo that starts anew begins before the one before it is quite gone.
const PATIENCE: Duration = Duration::from_secs(2);

/// Carries out what is planned for a home. To be called by every process before it opens anything in the home, and
/// before it decides where the home is for good. It takes as long as the home is large where that is to move.
///
/// # Errors
/// Where nobody can tell where the home is; see [`Residence::by_octo`].
pub fn settle(residence: Residence) -> Result<Settled, ResidenceError> {
    settle_watched(residence, &mut || {})
}

pub(super) fn settle_watched(residence: Residence, watch: Watch<'_>) -> Result<Settled, ResidenceError> {
    let usual = residence.usual.clone();
    let Some((planned, held)) = Planned::hold(&usual)? else {
        // Somebody else may just have carried it out.
        let residence = anew(residence)?;
        sweep(&residence.home);
        return Ok(Settled { residence: residence.must_be_there()?, remarks: Vec::new() });
    };
    if !can_be_done(&planned) {
        // Its disk is not connected: the plan waits for it too.
        drop(held);
        return Ok(Settled { residence: anew(residence)?.must_be_there()?, remarks: Vec::new() });
    }
    let outcome = match &planned.plan {
        Plan::Restore { .. } => exchange(&planned, watch),
        Plan::Move { to, mark } => move_home(&usual, &planned, to, mark, watch),
    };
    let remarks = match outcome {
        Ok(()) => {
            finish(&usual, watch);
            Vec::new()
        }
        Err(ResidenceError::InUse) => {
            tracing::warn!("what is planned for the home waits: another process works in it");
            vec![ApiError::new("home.plan_waits")]
        }
        Err(error) => {
            tracing::error!(%error, "what was planned for the home was not done");
            finish(&usual, watch);
            explained(&planned, error)
        }
    };
    drop(held);
    Ok(Settled { residence: anew(residence)?.must_be_there()?, remarks })
}

/// Whether there is anything a plan could be carried out with.
fn can_be_done(planned: &Planned) -> bool {
    let is_home = |place: &Path| has_database(place);
    match &planned.plan {
        Plan::Restore { staged, aside, .. } => is_home(&planned.home) || is_home(staged) || is_home(aside),
        Plan::Move { to, .. } => is_home(&planned.home) || is_home(to),
    }
}

/// Where the home is now.
fn anew(residence: Residence) -> Result<Residence, ResidenceError> {
    match residence.chosen {
        Chosen::ByVariable => Ok(residence),
        Chosen::ByOcto => Residence::by_octo(residence.usual),
    }
}

/// Takes away what was made of a copy for a plan that never came to be. Not while somebody may be about to make one.
fn sweep(home: &Path) {
    let staged = beside(home, STAGED);
    if staged.symlink_metadata().is_ok()
        && let Ok(Claim::Alone(_lock)) = claim(home)
        && let Err(error) = tree::remove(&staged)
    {
        tracing::warn!(%error, "an unfinished copy stays beside the home");
    }
}

/// The plan is over. One that cannot be taken away is looked at again at the next start, and found to be over.
fn finish(usual: &Path, watch: Watch<'_>) {
    if let Err(error) = Planned::remove(usual) {
        tracing::warn!(%error, "a plan for the home that is over stays");
    }
    watch();
}

/// What was not done, and why.
fn explained(planned: &Planned, why: ResidenceError) -> Vec<ApiError> {
    let what = match &planned.plan {
        Plan::Restore { from, .. } => ApiError::new("home.not_restored").arg("path", from.display()),
        Plan::Move { to, .. } => ApiError::new("home.not_moved").arg("path", to.display()),
    };
    vec![what, why.into()]
}

/// A copy takes the home's place. Each step is a rename; which is next is seen from what is there.
fn exchange(planned: &Planned, watch: Watch<'_>) -> Result<(), ResidenceError> {
    let Plan::Restore { staged, aside, .. } = &planned.plan else { return Ok(()) };
    let home = &planned.home;
    let _lock = alone(home)?;
    let there = |place: &Path| place.symlink_metadata().is_ok();
    let failed = |path: &Path, error| ResidenceError::of(path, error);
    if !there(staged) {
        if there(home) {
            // Done before, or what was made of the copy is gone.
            return if there(aside) { Ok(()) } else { Err(ResidenceError::NoCopy(staged.clone())) };
        }
        tree::rename(aside, home).map_err(|error| failed(aside, error))?;
        return Err(ResidenceError::NoCopy(staged.clone()));
    }
    if there(home) {
        // Where both are there, something began a home between the two steps: it is kept too.
        let aside = if there(aside) { free_name(home, "again") } else { aside.clone() };
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

/// The home goes into another folder. It is the home until the pointer says otherwise, and is kept after that.
fn move_home(
    usual: &Path,
    planned: &Planned,
    to: &Path,
    mark: &str,
    watch: Watch<'_>,
) -> Result<(), ResidenceError> {
    let (home, before) = (&planned.home, Pointer::read(usual)?);
    if before.as_ref().is_none_or(|pointer| pointer.home != to) {
        let _lock = alone(home)?;
        if let Err(error) = fill(home, to, mark, watch) {
            // Half a home is worse than none.
            if let Err(error) = empty(to, mark) {
                tracing::warn!(%error, "an unfinished copy stays where the home was to go");
            }
            return Err(error);
        }
        let pointer = Pointer::moved(before, home, to);
        if let Err(error) = pointer.write(usual) {
            empty(to, mark)?;
            return Err(ResidenceError::of(usual, error));
        }
        watch();
    }
    // It has moved: what is left to do may fail without harm.
    let said = write_private(&home.join(MOVED), moved_to(to).as_bytes());
    let unmarked = tree::remove_file_if_there(&to.join(MARK));
    // A home that came back to where it was before is no former one any more.
    let at_home = tree::remove_file_if_there(&to.join(MOVED));
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

/// Makes a whole home in a folder that is empty, or was left unfinished by this very plan.
fn fill(home: &Path, to: &Path, mark: &str, watch: Watch<'_>) -> Result<(), ResidenceError> {
    let real = usable(home, to)?;
    let names = tree::entries(&real)?;
    // A process that was killed while it made the mark left nothing but its draft of it.
    let untouched = names.iter().all(|name| name.to_string_lossy().starts_with(DRAFT));
    if !untouched && !is_marked(to, mark) {
        return Err(ResidenceError::NotEmpty(real));
    }
    closed_to_others(&real)?;
    write_private(&to.join(MARK), mark.as_bytes()).map_err(|error| ResidenceError::of(to, error))?;
    watch();
    tree::clear(to, MARK, watch)?;
    let size = tree::measure(home, &|name| !is_moved(name))?;
    has_room(to, size.bytes)?;
    let copied = tree::copy_content(home, to, Links::Kept, &|name| !is_moved(name), watch)?;
    let arrived = tree::measure(to, &|name| name == MARK)?;
    if copied != size || copied != arrived {
        let error = io::Error::other(format!(
            "{} files were to be copied, {} were, {} are there",
            size.files, copied.files, arrived.files
        ));
        return Err(ResidenceError::Failed { path: to.to_owned(), error });
    }
    tree::sync_folder_of(to).map_err(|error| ResidenceError::of(to, error))
}

/// What is in a home is nobody else's to read: the folder the person made may be open to all.
#[cfg(unix)]
fn closed_to_others(folder: &Path) -> Result<(), ResidenceError> {
    use std::os::unix::fs::PermissionsExt as _;
    let closed = fs::Permissions::from_mode(0o700);
    fs::set_permissions(folder, closed)
        .map_err(|error| ResidenceError::Unusable { path: folder.to_owned(), error })
}

#[cfg(not(unix))]
fn closed_to_others(_folder: &Path) -> Result<(), ResidenceError> {
    Ok(())
}

/// Takes out what this plan put into a folder; the folder itself was the person's and stays.
fn empty(to: &Path, mark: &str) -> Result<(), ResidenceError> {
    if is_marked(to, mark) {
        tree::clear(to, MARK, &mut || {})?;
        tree::remove(&to.join(MARK))?;
    }
    Ok(())
}

fn is_marked(folder: &Path, mark: &str) -> bool {
    fs::read(folder.join(MARK)).is_ok_and(|found| found == mark.as_bytes())
}

/// Keeps others out of a home while this is kept.
fn alone(home: &Path) -> Result<Option<fs::File>, ResidenceError> {
    let begun = Instant::now();
    loop {
        match claim(home).map_err(|error| ResidenceError::of(home, error))? {
            // A folder with an open file in it keeps its name there.
            Claim::Alone(lock) => return Ok(lock.filter(|_| cfg!(unix))),
            Claim::Occupied if begun.elapsed() >= PATIENCE => return Err(ResidenceError::InUse),
            Claim::Occupied => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}
