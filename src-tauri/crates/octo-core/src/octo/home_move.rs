//! Requests about the location of the home, and about copies that replace it.

use super::Octo;
use octo_protocol::{ApiError, CopyInspection, HomePlan, HomeState, OldHome, OldHomeDeletion};
use octo_runtime::blocking;
use octo_store::{HolderState, probe};
use octo_workspace::{
    HomeAuthority, HomeChange, HomeLocation, HomePlanError, MOVED_NOTE, PendingHomePlan, cancel_plan,
    delete_former_home, former_homes, inspect_copy, plan_move, plan_restore,
};
use std::path::{Path, PathBuf};

impl Octo {
    /// Returns the home's location, the plan for it, and replaced copies.
    pub(super) async fn residence(&self) -> Result<HomeState, ApiError> {
        let residence = self.current_home();
        blocking(move || state(&residence)).await
    }

    pub(super) async fn look_at_copy(&self, source: PathBuf) -> Result<CopyInspection, ApiError> {
        let inspection = blocking(move || Ok(inspect_copy(&source)?)).await?;
        Ok(CopyInspection {
            path: inspection.path.display().to_string(),
            at: inspection.at,
            octo: inspection.octo,
            sessions: inspection.sessions,
            files: inspection.files,
            bytes: inspection.bytes,
        })
    }

    /// Plans that a copy replaces the home at the next start.
    pub(super) async fn restore_home(&self, source: PathBuf) -> Result<HomeState, ApiError> {
        self.check_no_other_process().await?;
        let residence = self.current_home();
        let _one_at_a_time = self.plan_lock.lock().await;
        blocking(move || {
            let stamp = jiff::Zoned::now().strftime("%Y-%m-%d-%H%M%S").to_string();
            plan_restore(&residence, &source, octo_runtime::now(), &stamp)?;
            state(&residence)
        })
        .await
    }

    /// Plans that the home moves at the next start.
    pub(super) async fn move_home(&self, target: PathBuf) -> Result<HomeState, ApiError> {
        self.check_no_other_process().await?;
        let residence = self.current_home();
        let _one_at_a_time = self.plan_lock.lock().await;
        blocking(move || {
            plan_move(&residence, &target, octo_runtime::now())?;
            state(&residence)
        })
        .await
    }

    pub(super) async fn cancel_home_plan(&self) -> Result<HomeState, ApiError> {
        let residence = self.current_home();
        blocking(move || {
            cancel_plan(&residence).map_err(|error| change_error(&residence.home, error))?;
            state(&residence)
        })
        .await
    }

    pub(super) async fn drop_kept_home(&self, path: PathBuf) -> Result<OldHomeDeletion, ApiError> {
        let residence = self.current_home();
        blocking(move || {
            let leftover = delete_former_home(&residence, &path).map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => ApiError::new("home.not_kept").arg("path", path.display()),
                _ => change_error(&path, error),
            })?;
            Ok(OldHomeDeletion { left: leftover, state: state(&residence)? })
        })
        .await
    }

    /// Returns the home this process works in.
    fn current_home(&self) -> HomeLocation {
        self.base.config.home_at_start.location.clone()
    }

    /// Fails if another process works in this home: its work would be missing from the new one.
    async fn check_no_other_process(&self) -> Result<(), ApiError> {
        let (store, own_process) = (self.base.store.clone(), std::process::id());
        let holders = store.read(|reader| reader.holders()).await?;
        let is_alone = blocking(move || {
            let others = holders
                .iter()
                .any(|holder| holder.process != own_process && probe(holder) == HolderState::Alive);
            Ok(!others && store.is_alone())
        });
        if is_alone.await? { Ok(()) } else { Err(HomePlanError::InUse.into()) }
    }
}

/// Fails if a home has moved, so that the old location is not used.
pub(super) fn check_not_moved(home: &Path) -> Result<(), ApiError> {
    let note_path = home.join(MOVED_NOTE);
    if note_path.exists() {
        return Err(ApiError::new("start.home_moved")
            .arg("home", home.display())
            .arg("note", note_path.display()));
    }
    Ok(())
}

fn state(residence: &HomeLocation) -> Result<HomeState, ApiError> {
    let chosen_by = match residence.authority {
        HomeAuthority::Variable => Some(HomePlanError::ByVariable.into()),
        HomeAuthority::Octo => None,
    };
    let planned = PendingHomePlan::read(residence)?.map(|planned| match planned.plan {
        HomeChange::Restore { from, aside, .. } => {
            HomePlan::Restore { from: from.display().to_string(), aside: aside.display().to_string() }
        }
        HomeChange::Move { to, .. } => HomePlan::Move { to: to.display().to_string() },
    });
    let former = former_homes(residence)
        .into_iter()
        .map(|former| OldHome { path: former.path.display().to_string(), bytes: former.bytes })
        .collect();
    Ok(HomeState {
        home: residence.home.display().to_string(),
        move_obstacle: chosen_by,
        planned,
        kept: former,
    })
}

fn change_error(path: &Path, error: std::io::Error) -> ApiError {
    ApiError::new("home.change_failed").arg("path", path.display()).detail(error)
}
