//! The work of each day: expired entries of the trash, unreferenced content, the backup of the database.

use super::Octo;
use crate::sessions::KEPT_CONTENT_LIMIT;
use octo_store::{BackupOutcome, StoreError};
use octo_workspace::TrashScan;
use std::{sync::Arc, time::Duration};

impl Octo {
    /// Repairs the trash after the last run and maintains it for as long as the application runs.
    pub(super) async fn tend_trash(&self) {
        self.services.trash.scan_and_log(TrashScan::All).await;
        self.services.trash.expire_in_background(self.base.preferences().trash);
        let (services, base) = (Arc::downgrade(&self.services), Arc::downgrade(&self.base));
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(DAILY).await;
                let (Some(services), Some(base)) = (services.upgrade(), base.upgrade()) else { return };
                services.trash.scan_and_log(TrashScan::New).await;
                services.trash.expire_in_background(base.preferences().trash);
            }
        });
    }

    /// Removes unreferenced content once a day. Runs only in the main process: a headless run next to it leaves
    /// this to it.
    pub(super) fn collect_daily(&self) {
        let (machine, home) = (self.services.time.clone(), self.base.config.home.clone());
        tokio::spawn(async move {
            // Not at the start, when other work is more urgent.
            tokio::time::sleep(FIRST_COLLECTION).await;
            loop {
                let (machine, home) = (machine.clone(), home.clone());
                let result = tokio::task::spawn_blocking(move || {
                    // Files that a damaged database refers to may be all that remains of it.
                    if octo_store::has_moved_damaged_database(&home) {
                        return Ok(octo_protocol::TimeCleanup::default());
                    }
                    machine.collect(KEPT_CONTENT_LIMIT)
                });
                match result.await {
                    Ok(Ok(removed)) => tracing::info!(?removed, "kept content was tidied"),
                    Ok(Err(error)) => tracing::warn!(%error, "kept content was not tidied"),
                    Err(error) => tracing::error!(%error, "tidying kept content broke"),
                }
                tokio::time::sleep(BETWEEN_COLLECTIONS).await;
            }
        });
    }

    /// Makes the database's backup once a day, like [`Octo::collect_daily`] in one process only.
    pub(super) fn back_up_daily(&self) {
        let store = self.base.store.clone();
        tokio::spawn(async move {
            tokio::time::sleep(FIRST_BACKUP).await;
            loop {
                let store = store.clone();
                let result = tokio::task::spawn_blocking(move || store.back_up(octo_runtime::now()));
                match result.await {
                    Ok(Ok(BackupOutcome::NotDue)) => {}
                    Ok(Ok(outcome)) => tracing::info!(?outcome, "the day's backup of the database"),
                    Ok(Err(StoreError::Closed)) => return,
                    Ok(Err(error)) => tracing::warn!(%error, "the database was not backed up"),
                    Err(error) => tracing::error!(%error, "backing the database up broke"),
                }
                tokio::time::sleep(BETWEEN_BACKUPS).await;
            }
        });
    }
}

/// Delay after the start before kept content is first tidied.
const FIRST_COLLECTION: Duration = Duration::from_secs(10 * 60);
/// Delay after the start before the first check whether a backup is due.
const FIRST_BACKUP: Duration = Duration::from_secs(2 * 60);
const BETWEEN_BACKUPS: Duration = Duration::from_secs(60 * 60);
const BETWEEN_COLLECTIONS: Duration = Duration::from_secs(24 * 60 * 60);
/// Interval of the check for expired entries of the trash.
const DAILY: Duration = Duration::from_secs(24 * 60 * 60);
