//! Requests about Octo's home and its state.

use super::{Octo, damage};
use crate::{
    diagnostics::{self, DiagnosticsInputs},
    reply::json,
};
use octo_protocol::{
    ApiError, Diagnostics, DiagnosticsAbout, DiagnosticsId, HomeBackup, HomeDeletion, HomeRequest, HomeSizes,
    Language, SavedFile, words,
};
use octo_runtime::blocking;
use octo_store::DatabaseHealth;
use octo_workspace::{copy_home, erase_all, measure_home, write_copy_manifest, write_private};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

impl Octo {
    pub(super) async fn home(&self, request: HomeRequest) -> Result<Value, ApiError> {
        match request {
            HomeRequest::MeasureHome(_) => json(self.measure().await?),
            HomeRequest::BackUpHome(call) => json(self.back_up(PathBuf::from(call.to)).await?),
            HomeRequest::GetHomeState(_) => json(self.residence().await?),
            HomeRequest::InspectHomeCopy(call) => json(self.look_at_copy(PathBuf::from(call.from)).await?),
            HomeRequest::RestoreHome(call) => json(self.restore_home(PathBuf::from(call.from)).await?),
            HomeRequest::MoveHome(call) => json(self.move_home(PathBuf::from(call.to)).await?),
            HomeRequest::CancelHomePlan(_) => json(self.cancel_home_plan().await?),
            HomeRequest::DeleteOldHome(call) => json(self.drop_kept_home(PathBuf::from(call.path)).await?),
            HomeRequest::EraseHome(call) => json(self.erase(&call.confirm).await?),
            HomeRequest::InspectDamage(_) | HomeRequest::ReplaceDatabase(_) => Err(damage::not_damaged()),
            HomeRequest::MakeDiagnostics(_) => json(self.diagnose().await?),
            HomeRequest::SaveDiagnostics(call) => json(self.save_report(call.id, Path::new(&call.to)).await?),
        }
    }

    async fn measure(&self) -> Result<HomeSizes, ApiError> {
        let home = self.base.config.home.clone();
        let sessions = self.base.store.read(|reader| reader.session_count()).await?;
        let path = home.clone();
        let parts = blocking(move || {
            measure_home(&home)
                .map_err(|error| ApiError::new("home.unreadable").arg("path", home.display()).detail(error))
        })
        .await?;
        Ok(HomeSizes {
            path: path.display().to_string(),
            bytes: parts.iter().map(|item| item.bytes).sum(),
            parts,
            sessions,
            models: u32::try_from(self.services.models.entries().len()).unwrap_or(u32::MAX),
        })
    }

    /// Copies the home into a new folder. The database is first, so that the files it refers to exist in the
    /// copy.
    async fn back_up(&self, target: PathBuf) -> Result<HomeBackup, ApiError> {
        let home = self.base.paths.resolved_home();
        let folder = octo_workspace::resolve_links(&target)
            .ok()
            .filter(|folder| folder.is_dir() && target.is_absolute());
        let folder = folder.ok_or_else(|| ApiError::new("home.no_folder").arg("path", target.display()))?;
        if octo_workspace::is_inside(&folder, &home) {
            return Err(ApiError::new("home.backup_inside").arg("path", target.display()));
        }
        let backup = folder.join(format!("octo-backup-{}", jiff::Zoned::now().strftime("%Y-%m-%d-%H%M%S")));
        let instructions = words::say(self.base.preferences().language, "backup.how", &BTreeMap::new());
        let (store, unfinished) = (self.base.store.clone(), self.base.unfinished_writes.clone());
        blocking(move || {
            let backup_error = |error: &dyn std::fmt::Display| {
                ApiError::new("home.backup_failed").arg("path", backup.display()).detail(error)
            };
            // Half a copy is worse than none: it gets its name once it is complete.
            let copied = unfinished.make_folder(
                &backup,
                |error| backup_error(&error),
                |half| {
                    let database = half.join("octo.db");
                    store
                        .read_blocking(|reader| reader.copy_to(&database))
                        .map_err(|error| backup_error(&error))?;
                    let copy = copy_home(&home, half).map_err(|error| backup_error(&error))?;
                    write_private(&half.join("README.txt"), instructions.as_bytes())
                        .map_err(|error| backup_error(&error))?;
                    write_copy_manifest(half, env!("CARGO_PKG_VERSION"), octo_runtime::now())
                        .map_err(|error| backup_error(&error))?;
                    let bytes = database.metadata().map_err(|error| backup_error(&error))?.len();
                    Ok((copy, bytes))
                },
            );
            let (copy, database) = copied?;
            Ok(HomeBackup {
                path: backup.display().to_string(),
                files: copy.files + 1,
                bytes: copy.bytes + database,
                missing: copy.missing,
            })
        })
        .await
    }

    /// Ends everything and deletes it. Refused before anything is changed if another process works in this
    /// home.
    async fn erase(&self, confirm: &str) -> Result<HomeDeletion, ApiError> {
        let home = self.base.config.home.clone();
        if confirm != home.display().to_string() {
            return Err(ApiError::new("home.not_confirmed"));
        }
        let store = self.base.store.clone();
        if !blocking(move || Ok(store.is_alone())).await? {
            return Err(ApiError::new("home.in_use"));
        }
        tracing::info!("everything is deleted, as the person asked");
        self.shutdown().await;
        let keys = self.forget_keys().await.err();
        let residence = self.base.config.home_at_start.location.clone();
        let remaining = blocking(move || {
            erase_all(&residence, &home)
                .map_err(|error| ApiError::new("home.unreadable").arg("path", home.display()).detail(error))
        })
        .await?;
        Ok(HomeDeletion { left: remaining, keys })
    }

    /// Forgets every key. A refusal of the keychain does not stop the others.
    async fn forget_keys(&self) -> Result<(), ApiError> {
        let mut outcome = Ok(());
        for entry in self.services.models.entries() {
            let result = self.services.models.remove(entry.id).await;
            outcome = outcome.and(result);
        }
        for provider in self.base.preferences().search.0 {
            let result = self.services.searching.forget(provider.kind).await;
            outcome = outcome.and(result);
        }
        let result = self.services.chats.forget_all().await;
        outcome.and(result).and(self.services.browser.secrets().forget_all().await)
    }

    async fn diagnose(&self) -> Result<Diagnostics, ApiError> {
        let settings = self.base.preferences();
        let health = self.base.store.health().await.unwrap_or_else(|error| {
            // A report is most needed when something is wrong.
            DatabaseHealth { schema: 0, fault: Some(error.to_string()), sessions: 0 }
        });
        let facts = DiagnosticsInputs {
            home: self.base.config.home.clone(),
            language: settings.language,
            settings,
            models: self.services.models.entries(),
            keychain: self.services.models.keys().state(),
            browser: self.services.browser.state(),
            no_command_network: octo_shell::try_network(&self.base.config.supervision)
                .await
                .err()
                .map(|error| error.to_string()),
            health,
        };
        let parts = blocking(move || Ok(diagnostics::parts(&facts))).await?;
        let report = Diagnostics { id: DiagnosticsId::new(), at: octo_runtime::now(), parts };
        *self.report.lock().await = Some(report.clone());
        Ok(report)
    }

    /// Writes the report the person viewed, word for word.
    async fn save_report(&self, id: DiagnosticsId, target: &Path) -> Result<SavedFile, ApiError> {
        let report = self.report.lock().await.clone().filter(|report| report.id == id);
        let report = report.ok_or_else(|| ApiError::new("diagnostics.gone"))?;
        if !target.is_absolute() || !target.is_dir() {
            return Err(ApiError::new("home.no_folder").arg("path", target.display()));
        }
        let name = format!("octo-report-{}.txt", jiff::Zoned::now().strftime("%Y-%m-%d-%H%M%S"));
        let path = target.join(name);
        let text = to_text(&report, self.base.preferences().language);
        let (target, unfinished) = (path.clone(), self.base.unfinished_writes.clone());
        blocking(move || {
            unfinished.write_private(&target, text.as_bytes()).map_err(|error| {
                ApiError::new("diagnostics.failed").arg("path", target.display()).detail(error)
            })
        })
        .await?;
        Ok(SavedFile { path: path.display().to_string() })
    }
}

/// Formats a report as one text.
fn to_text(report: &Diagnostics, language: Language) -> String {
    let mut text = String::new();
    for part in &report.parts {
        let key = match part.about {
            DiagnosticsAbout::System => "diagnostics.system",
            DiagnosticsAbout::Checks => "diagnostics.checks",
            DiagnosticsAbout::Settings => "diagnostics.settings",
            DiagnosticsAbout::Log => "diagnostics.log",
        };
        let heading = words::say(language, key, &BTreeMap::new());
        text.push_str(&format!("== {heading} ==\n\n{}\n\n", part.text.trim_end()));
    }
    text
}
