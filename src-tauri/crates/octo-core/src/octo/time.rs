//! Requests to the time machine.

use super::{Octo, json};
use crate::session::Ask;
use octo_protocol::{ApiError, TimeRequest};
use octo_workspace::{TimeError, TimeMachine};
use serde_json::Value;
use std::path::PathBuf;

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

    async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&TimeMachine) -> Result<T, TimeError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let machine = self.shared.time.clone();
        let looked = tokio::task::spawn_blocking(move || look(&machine)).await;
        looked.map_err(|error| ApiError::new("internal").detail(error))?.map_err(ApiError::from)
    }
}

/// What kept content may take on the disk, in bytes, where the person says nothing else.
const BUDGET: u64 = 10 << 30;
