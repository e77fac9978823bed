//! Requests to the time machine.

use super::{Octo, json};
use crate::session::ActorRequest;
use octo_protocol::{ApiError, TimeRequest};
use octo_store::{BackupOutcome, StoreError};
use octo_workspace::{TimeError, TimeMachine};
use serde_json::Value;
use std::{path::PathBuf, time::Duration};

impl Octo {
    pub(super) async fn time(&self, request: TimeRequest) -> Result<Value, ApiError> {
        match request {
            TimeRequest::GetTaskTree(call) => {
                json(self.look(move |machine| machine.tree(call.session)).await?)
            }
            TimeRequest::GetTaskChanges(call) => {
                json(self.look(move |machine| machine.changes(call.session, call.task)).await?)
            }
            TimeRequest::CompareFile(call) => {
                let compared = self.look(move |machine| {
                    let named = machine.paths_named(call.session, std::slice::from_ref(&call.path))?;
                    let path = named
                        .into_iter()
                        .next()
                        .ok_or_else(|| TimeError::UnknownPath(PathBuf::from(&call.path)))?;
                    machine.compare(call.session, call.task, &path, call.with)
                });
                json(compared.await?)
            }
            TimeRequest::PreviewRestore(call) => {
                let session = self.sessions.open(call.session).await?;
                json(session.ask(|reply| ActorRequest::PreviewRestore(call, reply)).await?)
            }
            TimeRequest::RestoreTask(call) => {
                let session = self.sessions.open(call.session).await?;
                json(session.ask(|reply| ActorRequest::RestoreTask(call, reply)).await?)
            }
            TimeRequest::AddCheckpoint(call) => {
                let session = self.sessions.open(call.session).await?;
                json(session.ask(|reply| ActorRequest::AddCheckpoint(call, reply)).await?)
            }
            TimeRequest::GetTimeSpace(_) => json(self.look(|machine| machine.space(DEFAULT_BUDGET)).await?),
            TimeRequest::CollectTime(call) => {
                json(self.look(move |machine| machine.collect(call.budget)).await?)
            }
        }
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
                let collected = tokio::task::spawn_blocking(move || {
                    // Files that a damaged database refers to may be all that remains of it.
                    if octo_store::has_moved_damaged_database(&home) {
                        return Ok(octo_protocol::TimeCleanup::default());
                    }
                    machine.collect(DEFAULT_BUDGET)
                });
                match collected.await {
                    Ok(Ok(collected)) => tracing::info!(?collected, "kept content was tidied"),
                    Ok(Err(error)) => tracing::warn!(%error, "kept content was not tidied"),
                    Err(error) => tracing::error!(%error, "tidying kept content broke"),
                }
                tokio::time::sleep(BETWEEN_COLLECTIONS).await;
            }
        });
    }

    /// Makes the database's backup once a day, like [`Octo::tidy_time`] in one process only.
    pub(super) fn back_up_daily(&self) {
        let store = self.base.store.clone();
        tokio::spawn(async move {
            tokio::time::sleep(FIRST_BACKUP).await;
            loop {
                let store = store.clone();
                let made = tokio::task::spawn_blocking(move || store.back_up(crate::clock::now()));
                match made.await {
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

    async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&TimeMachine) -> Result<T, TimeError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let machine = self.services.time.clone();
        let looked = tokio::task::spawn_blocking(move || look(&machine)).await;
        looked.map_err(|error| ApiError::new("internal").detail(error))?.map_err(ApiError::from)
    }
}

/// Delay after the start before kept content is first tidied.
const FIRST_COLLECTION: Duration = Duration::from_secs(10 * 60);
/// Delay after the start before the first check whether a backup is due.
const FIRST_BACKUP: Duration = Duration::from_secs(2 * 60);
const BETWEEN_BACKUPS: Duration = Duration::from_secs(60 * 60);
const BETWEEN_COLLECTIONS: Duration = Duration::from_secs(24 * 60 * 60);
/// Default disk limit of kept content, in bytes.
const DEFAULT_BUDGET: u64 = 10 << 30;
