//! Other processes on this home, such as `octo exec` next to the window. Their stored changes are shown here;
//! requests of the person to end their work are stored for them, and they poll for these.

use super::Sessions;
use crate::settings::LiveSettings;
use octo_protocol::{ApiError, SessionId};
use octo_store::{HolderState, OtherProcessSession, StopRequest, StoreError, probe};
use std::{sync::Arc, time::Duration};

/// How long another process's changes may stay unseen.
const IDLE_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Whether another process received the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopRequestOutcome {
    Sent,
    /// No other process does this work, or it no longer does.
    NoProcess,
}

impl Sessions {
    /// Polls for changes stored by others and for requests to this process, for as long as the application
    /// runs.
    pub(crate) fn poll_other_processes(&self) {
        let (weak, closing) = (Arc::downgrade(&self.runtime), self.runtime.base.shutdown.clone());
        let mending = self.recovery_lock.clone();
        tokio::spawn(async move {
            // Kept until it was processed: a write is signalled once.
            let mut has_changed = false;
            loop {
                tokio::select! {
                    () = closing.cancelled() => return,
                    () = tokio::time::sleep(IDLE_CHECK_INTERVAL) => {}
                }
                // Not kept during the wait, so that a dropped application can end.
                let Some(runtime) = weak.upgrade() else { return };
                let settings = LiveSettings::new(Arc::clone(&runtime));
                let sessions = Self { runtime, settings, recovery_lock: mending.clone() };
                match sessions.poll_once(&mut has_changed).await {
                    Ok(()) => has_changed = false,
                    Err(StoreError::Closed) => return,
                    Err(error) => {
                        tracing::warn!(%error, "other processes could not be looked at; it is tried again");
                    }
                }
            }
        });
    }

    async fn poll_once(&self, has_changed: &mut bool) -> Result<(), StoreError> {
        *has_changed |= self.runtime.base.store.has_foreign_writes().await?;
        if !*has_changed {
            return Ok(());
        }
        self.runtime.base.other_processes.notify();
        self.runtime.board.change().notify();
        let token = self.runtime.base.lease.token.clone();
        let owner = token.clone();
        if !self.runtime.base.store.read(move |reader| reader.has_stop_requests(&owner)).await? {
            return Ok(());
        }
        for (session, request) in
            self.runtime.base.store.write(move |tx| tx.take_stop_requests(&token)).await?
        {
            let ended = match request {
                StopRequest::Turn(turn) if self.runtime.board.is_running(session, turn) => {
                    self.stop(session).await
                }
                // The turn ended on its own; a turn begun since is not meant.
                StopRequest::Turn(_) => Ok(()),
                StopRequest::Command(handle) => self.stop_command(session, handle).await,
            };
            if let Err(error) = ended {
                tracing::warn!(%session, %error, "not ended as another process wished");
            }
        }
        Ok(())
    }

    /// Returns the sessions other living processes work in.
    pub(crate) async fn other_process_sessions(&self) -> Result<Vec<OtherProcessSession>, ApiError> {
        let token = self.runtime.base.lease.token.clone();
        let mut works =
            self.runtime.base.store.read(move |reader| reader.sessions_of_other_processes(&token)).await?;
        works.retain(|work| {
            (work.turn.is_some() || !work.commands.is_empty()) && probe(&work.holder) == HolderState::Alive
        });
        Ok(works)
    }

    /// Asks the process that works on a session to end its turn.
    pub(crate) async fn request_turn_stop(&self, session: SessionId) -> Result<StopRequestOutcome, ApiError> {
        self.request_stop(session, |work| work.turn.map(|(turn, ..)| StopRequest::Turn(turn))).await
    }

    /// Asks the process that works on a session to end a command there.
    pub(crate) async fn request_command_stop(
        &self,
        session: SessionId,
        handle: String,
    ) -> Result<StopRequestOutcome, ApiError> {
        let runs =
            |other: &OtherProcessSession| other.commands.iter().any(|command| command.handle == handle);
        self.request_stop(session, |work| runs(work).then(|| StopRequest::Command(handle.clone()))).await
    }

    async fn request_stop(
        &self,
        session: SessionId,
        pick: impl FnOnce(&OtherProcessSession) -> Option<StopRequest>,
    ) -> Result<StopRequestOutcome, ApiError> {
        let others = self.other_process_sessions().await?;
        let work = others.iter().find(|work| work.info.id == session);
        let Some(request) = work.and_then(pick) else { return Ok(StopRequestOutcome::NoProcess) };
        self.runtime.base.store.write(move |tx| tx.request_stop(session, &request)).await?;
        Ok(StopRequestOutcome::Sent)
    }
}
