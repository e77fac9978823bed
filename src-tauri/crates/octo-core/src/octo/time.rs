//! Requests to the time machine.

use super::{Octo, json};
use crate::{session::Ask, shared::Shared};
use octo_protocol::{ApiError, SessionId, TimeRequest};
use octo_store::{BackedUp, LeaseOutcome, StoreError, probe};
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
                let session = self.session(call.session).await?;
                json(session.ask(|reply| Ask::PreviewRestore(call.task, call.selection, reply)).await?)
            }
            TimeRequest::RestoreTask(call) => {
                let session = self.session(call.session).await?;
                json(session.ask(|reply| Ask::RestoreTask(call, reply)).await?)
            }
            TimeRequest::AddCheckpoint(call) => {
                let session = self.session(call.session).await?;
                json(session.ask(|reply| Ask::AddCheckpoint(call.name, reply)).await?)
            }
            TimeRequest::GetTimeSpace(_) => json(self.look(|machine| machine.space(BUDGET)).await?),
            TimeRequest::CollectTime(call) => {
                json(self.look(move |machine| machine.collect(call.budget)).await?)
            }
        }
    }

    /// Ends what an earlier process left half-way, beside everything else: nobody waits for it, and a session that is
    /// opened meanwhile does its own part first.
    pub(super) fn tend_time(&self) {
        let octo = self.clone();
        tokio::spawn(async move { octo.end_unfinished().await });
    }

    /// Removes once a day what nothing refers to. Only in the one process that goes on with everything: a headless run
    /// beside it leaves that to it.
    pub(super) fn tidy_time(&self) {
        let (machine, home) = (self.shared.time.clone(), self.shared.config.home.clone());
        tokio::spawn(async move {
            // Not at the start, when there is more urgent work.
            tokio::time::sleep(FIRST_COLLECTION).await;
            loop {
                let (machine, home) = (machine.clone(), home.clone());
                let collected = tokio::task::spawn_blocking(move || {
                    // What a damaged database mentions may be all that is left of it.
                    if octo_store::has_damaged_aside(&home) {
                        return Ok(octo_protocol::TimeCollected::default());
                    }
                    machine.collect(BUDGET)
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

    /// Makes the database's backup once a day, as [`Octo::tidy_time`] tidies: in one process only.
    pub(super) fn tend_backups(&self) {
        let store = self.shared.store.clone();
        tokio::spawn(async move {
            tokio::time::sleep(FIRST_BACKUP).await;
            loop {
                let store = store.clone();
                let made = tokio::task::spawn_blocking(move || store.back_up(crate::clock::now()));
                match made.await {
                    Ok(Ok(BackedUp::NotDue)) => {}
                    Ok(Ok(outcome)) => tracing::info!(?outcome, "the day's backup of the database"),
                    Ok(Err(StoreError::Closed)) => return,
                    Ok(Err(error)) => tracing::warn!(%error, "the database was not backed up"),
                    Err(error) => tracing::error!(%error, "backing the database up broke"),
                }
                tokio::time::sleep(BETWEEN_BACKUPS).await;
            }
        });
    }

    async fn end_unfinished(&self) {
        let unfinished = self.look(|machine| {
            machine.put_back()?;
            machine.unfinished()
        });
        match unfinished.await {
            Ok(sessions) => {
                for session in sessions {
                    self.end_unfinished_in(session).await;
                }
            }
            Err(error) => tracing::error!(%error, "what was interrupted is not known"),
        }
    }

    /// Ends what was interrupted in one session, under its lease: what a living process is in the middle of is its own.
    async fn end_unfinished_in(&self, session: SessionId) {
        // A shutdown waits, so that nobody else takes the lease while this goes on.
        let _mending = self.mending.lock().await;
        {
            let open = self.open.lock().await;
            // One that is open has done it already.
            if self.shared.closing.is_cancelled() || open.contains_key(&session) {
                return;
            }
            let holder = self.shared.lease.clone();
            let taken = self.shared.store.write(move |tx| tx.take_lease(session, &holder, probe)).await;
            match taken {
                Ok(LeaseOutcome::Taken | LeaseOutcome::TakenOver(_)) => {}
                Ok(LeaseOutcome::HeldBy(_)) => return,
                Err(error) => {
                    tracing::warn!(%session, %error, "what was interrupted is left");
                    return;
                }
            }
        }
        recover(&self.shared, session).await;
        let open = self.open.lock().await;
        // One that was opened meanwhile keeps the lease.
        if !open.contains_key(&session) {
            let token = self.shared.lease.token.clone();
            let released = self.shared.store.write(move |tx| tx.release_lease(session, &token)).await;
            if let Err(error) = released {
                tracing::warn!(%session, %error, "lease not released");
            }
        }
    }

    async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&TimeMachine) -> Result<T, TimeError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let machine = self.shared.time.clone();
        let looked = tokio::task::spawn_blocking(move || look(&machine)).await;
        looked.map_err(|error| ApiError::new("internal").detail(error))?.map_err(ApiError::from)
    }
}

/// Ends what an earlier process left half-way in a session whose lease is ours.
pub(crate) async fn recover(shared: &Shared, session: SessionId) {
    let machine = shared.time.clone();
    match tokio::task::spawn_blocking(move || machine.recover(session)).await {
        Ok(Ok(recovered)) => {
            for one in recovered {
                tracing::warn!(%session, outcome = ?one.outcome, "a restore was interrupted");
            }
        }
        // The session says so when it is asked to go anywhere.
        Ok(Err(error)) => tracing::error!(%session, %error, "what was interrupted cannot be ended yet"),
        Err(error) => tracing::error!(%session, %error, "ending what was interrupted broke"),
    }
}

/// How long after the start kept content is tidied first.
const FIRST_COLLECTION: Duration = Duration::from_secs(10 * 60);
/// How long after the start it is looked whether a backup is due.
const FIRST_BACKUP: Duration = Duration::from_secs(2 * 60);
const BETWEEN_BACKUPS: Duration = Duration::from_secs(60 * 60);
const BETWEEN_COLLECTIONS: Duration = Duration::from_secs(24 * 60 * 60);
/// What kept content may take on the disk, in bytes, where the person says nothing else.
const BUDGET: u64 = 10 << 30;
