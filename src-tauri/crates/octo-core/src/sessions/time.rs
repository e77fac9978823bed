//! Requests to the time machine.

use super::Sessions;
use crate::{reply::json, session::ActorRequest};
use octo_protocol::{ApiError, TimeRequest};
use octo_workspace::{TimeError, TimeMachine};
use serde_json::Value;
use std::path::PathBuf;

/// Default disk limit of kept content, in bytes.
pub(crate) const KEPT_CONTENT_LIMIT: u64 = 10 << 30;

impl Sessions {
    /// Carries out a request to the time machine.
    pub(crate) async fn time(&self, request: TimeRequest) -> Result<Value, ApiError> {
        match request {
            TimeRequest::GetTaskTree(call) => {
                json(self.run_query(move |machine| machine.tree(call.session)).await?)
            }
            TimeRequest::GetTaskChanges(call) => {
                json(self.run_query(move |machine| machine.changes(call.session, call.task)).await?)
            }
            TimeRequest::CompareFile(call) => {
                let compared = self.run_query(move |machine| {
                    let paths = machine.paths_named(call.session, std::slice::from_ref(&call.path))?;
                    let path = paths
                        .into_iter()
                        .next()
                        .ok_or_else(|| TimeError::UnknownPath(PathBuf::from(&call.path)))?;
                    machine.compare(call.session, call.task, &path, call.with)
                });
                json(compared.await?)
            }
            TimeRequest::PreviewRestore(call) => {
                let session = self.open(call.session).await?;
                json(session.request(|reply| ActorRequest::PreviewRestore(call, reply)).await?)
            }
            TimeRequest::RestoreTask(call) => {
                let session = self.open(call.session).await?;
                json(session.request(|reply| ActorRequest::RestoreTask(call, reply)).await?)
            }
            TimeRequest::AddCheckpoint(call) => {
                let session = self.open(call.session).await?;
                json(session.request(|reply| ActorRequest::AddCheckpoint(call, reply)).await?)
            }
            TimeRequest::GetTimeSpace(_) => {
                json(self.run_query(|machine| machine.space(KEPT_CONTENT_LIMIT)).await?)
            }
            TimeRequest::CollectTime(call) => {
                json(self.run_query(move |machine| machine.collect(call.budget)).await?)
            }
        }
    }

    async fn run_query<T: Send + 'static>(
        &self,
        query: impl FnOnce(&TimeMachine) -> Result<T, TimeError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let machine = self.runtime.services.time.clone();
        let result = tokio::task::spawn_blocking(move || query(&machine)).await;
        result.map_err(|error| ApiError::new("internal").detail(error))?.map_err(ApiError::from)
    }
}
