//! Requests to the time machine.

use super::{Octo, json};
use crate::session::Ask;
use octo_protocol::{ApiError, TimeRequest};
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

    /// Ends what an earlier process left half-way, and from then on removes once a day what nothing refers to. Only in
    /// the one process that goes on with everything: a headless run beside it leaves both to it.
    pub(super) async fn tend_time(&self) {
        let recovered = self.look(|machine| machine.recover()).await;
        match recovered {
            Ok(recovered) => {
                for one in recovered {
                    tracing::warn!(session = %one.session, outcome = ?one.outcome, "a restore was interrupted");
                }
            }
            // Its session says so when it is asked to go anywhere.
            Err(error) => tracing::error!(%error, "an interrupted restore cannot be ended yet"),
        }
        let machine = self.shared.time.clone();
        tokio::spawn(async move {
            // Not at the start, when there is more urgent work.
            tokio::time::sleep(FIRST_COLLECTION).await;
            loop {
                let machine = machine.clone();
                match tokio::task::spawn_blocking(move || machine.collect(BUDGET)).await {
                    Ok(Ok(collected)) => tracing::info!(?collected, "kept content was tidied"),
                    Ok(Err(error)) => tracing::warn!(%error, "kept content was not tidied"),
                    Err(error) => tracing::error!(%error, "tidying kept content broke"),
                }
                tokio::time::sleep(BETWEEN_COLLECTIONS).await;
            }
        });
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

/// How long after the start kept content is tidied first.
const FIRST_COLLECTION: Duration = Duration::from_secs(10 * 60);
const BETWEEN_COLLECTIONS: Duration = Duration::from_secs(24 * 60 * 60);
/// What kept content may take on the disk, in bytes, where the person says nothing else.
const BUDGET: u64 = 10 << 30;
