//! Changes to sessions that are not in use, made in the store. Opening such a session would resume a turn a
//! crash left open, and might send a paid request that no one asked for.

use super::{Sessions, other_processes::StopRequestOutcome};
use crate::{
    naming,
    session::{ActorRequest, ChangeHead, LockedSessions, SessionHandle, command_gone},
};
use octo_protocol::{ApiError, ErrorCode, SessionId, Source};
use octo_runtime::now;
use octo_store::{LeaseOutcome, StoreError, Tx, probe};

impl Sessions {
    /// Renames a session.
    pub(crate) async fn rename(&self, id: SessionId, title: &str) -> Result<(), ApiError> {
        let title = naming::given_title(title)?;
        self.change_head(id, move |info| info.title = title).await
    }

    /// Pins or unpins a session.
    pub(crate) async fn pin(&self, id: SessionId, pinned: bool) -> Result<(), ApiError> {
        self.change_head(id, move |info| info.pinned = pinned).await
    }

    /// Marks a session as read because the person is looking at it. A session in use by another Octo process
    /// stays unread until that process is done with it.
    pub(crate) async fn mark_read(&self, id: SessionId) -> Result<(), ApiError> {
        let info = self.runtime.base.store.read(move |reader| reader.session(id)).await?;
        let info = info.ok_or_else(|| ApiError::new("session.unknown").code(ErrorCode::UnknownSession))?;
        let is_read = info.read_at.is_some_and(|read_at| read_at >= info.updated_at);
        if is_read || info.source == Source::SubAgent {
            return Ok(());
        }
        let result = self.change_head(id, |info| info.read_at = Some(now().max(info.updated_at))).await;
        match result {
            Err(error) if error.code == Some(ErrorCode::InUse) => Ok(()),
            other => other,
        }
    }

    /// Fails for a sub-agent's session: it belongs to its parent and has no entry in the list.
    pub(crate) async fn check_owned_here(&self, id: SessionId) -> Result<(), ApiError> {
        let sub_agent = self.runtime.base.store.read(move |reader| reader.sub_agent(id)).await?;
        match sub_agent {
            Some(sub_agent) => Err(ApiError::new("fork.belongs").arg("title", sub_agent.origin.title)),
            None => Ok(()),
        }
    }

    /// Ends the work of the session's sub-agents and releases them.
    async fn close_sub_agents(&self, id: SessionId) -> Result<(), ApiError> {
        let sub_agents = self.runtime.base.store.read(move |reader| reader.sub_agents(id)).await?;
        for sub_agent in sub_agents {
            let handle = self.runtime.open.get(sub_agent).await;
            if let Some(handle) = handle {
                if handle.is_open() {
                    handle.stop().await?;
                    handle.request(ActorRequest::WhenIdle).await?;
                }
                handle.shut_down().await;
                self.runtime.open.remove(sub_agent).await;
            }
            self.runtime.troubles.clear(sub_agent);
        }
        Ok(())
    }

    async fn change_head(
        &self,
        id: SessionId,
        change: impl FnOnce(&mut octo_protocol::SessionInfo) + Send + 'static,
    ) -> Result<(), ApiError> {
        self.check_owned_here(id).await?;
        let (open, handle) = self.lock_running(id).await;
        match handle {
            Some(handle) => {
                drop(open);
                handle.call(ChangeHead::new(change)).await
            }
            None => self.in_store(id, move |tx| tx.change_head(id, change)).await,
        }
    }

    /// Stops the session's turn. A turn left open by a crash is marked, and then ended.
    pub(crate) async fn stop(&self, id: SessionId) -> Result<(), ApiError> {
        let (open, handle) = self.lock_running(id).await;
        match handle {
            Some(handle) => {
                drop(open);
                handle.stop().await
            }
            None => {
                match self.in_store(id, move |tx| tx.stop_unfinished(id)).await {
                    Err(error) if error.code == Some(ErrorCode::InUse) => {
                        drop(open);
                        return self.request_turn_stop(id).await.map(|_| ());
                    }
                    other => other?,
                }
                drop(open);
                self.open(id).await.map(|_| ())
            }
        }
    }

    /// Stops a background command. A closed session has none.
    pub(crate) async fn stop_command(&self, id: SessionId, command: String) -> Result<(), ApiError> {
        let (open, handle) = self.lock_running(id).await;
        drop(open);
        let Some(handle) = handle else {
            return match self.request_command_stop(id, command).await? {
                StopRequestOutcome::Sent => Ok(()),
                StopRequestOutcome::NoProcess => Err(command_gone()),
            };
        };
        handle.request(|reply| ActorRequest::StopCommand(command, reply)).await
    }

    /// Stops running work, then removes the session from the list.
    pub(crate) async fn delete(&self, id: SessionId) -> Result<(), ApiError> {
        self.check_owned_here(id).await?;
        let (mut open, mut handle) = self.lock_running(id).await;
        if handle.is_none() {
            // Its sub-agents may be open without it.
            drop(open);
            self.close_sub_agents(id).await?;
            (open, handle) = self.lock_running(id).await;
        }
        match handle {
            Some(handle) => {
                drop(open);
                handle.stop().await?;
                handle.request(ActorRequest::WhenIdle).await?;
                self.close_sub_agents(id).await?;
                handle.shut_down().await;
                self.runtime.open.remove(id).await;
                self.in_store(id, move |tx| tx.soft_delete(id, now())).await?;
            }
            None => {
                let deleted = self.in_store(id, move |tx| {
                    tx.stop_unfinished(id)?;
                    tx.soft_delete(id, now())
                });
                deleted.await?;
                open.remove(id);
            }
        }
        self.runtime.troubles.clear(id);
        let temporary = self.runtime.base.paths.temporary_folders();
        let removed = tokio::task::spawn_blocking(move || temporary.remove(id)).await;
        if let Ok(Err(error)) = removed {
            tracing::warn!(%error, "temporary files of a deleted session stay until the next start");
        }
        Ok(())
    }

    /// Removes the temporary folders of sessions that no longer exist: the process that deleted them was killed, or
    /// could not.
    pub(crate) async fn sweep_temporary_folders(&self) -> Result<(), ApiError> {
        let folders = self.runtime.base.paths.temporary_folders();
        let listing = folders.clone();
        let sessions = tokio::task::spawn_blocking(move || listing.sessions()).await.unwrap_or_default();
        if sessions.is_empty() {
            return Ok(());
        }
        let gone = self.runtime.base.store.read(move |reader| {
            let mut gone = Vec::new();
            for session in sessions {
                if reader.session(session)?.is_none() {
                    gone.push(session);
                }
            }
            Ok(gone)
        });
        for session in gone.await? {
            let folders = folders.clone();
            // What remains is tried again at the next start.
            let _ = tokio::task::spawn_blocking(move || folders.remove(session)).await;
        }
        Ok(())
    }

    /// Returns the session's actor if it runs; none is started while the guard is alive.
    async fn lock_running(&self, id: SessionId) -> (LockedSessions<'_>, Option<SessionHandle>) {
        let open = self.runtime.open.lock().await;
        let handle = open.get(id).cloned();
        match handle {
            Some(handle) if handle.is_open() => (open, Some(handle)),
            Some(handle) => {
                // An ending actor still has the lease.
                handle.ended().await;
                (open, None)
            }
            None => (open, None),
        }
    }

    /// Changes a session that no process uses, in one transaction.
    async fn in_store(
        &self,
        id: SessionId,
        change: impl FnOnce(&mut Tx<'_>) -> Result<(), StoreError> + Send + 'static,
    ) -> Result<(), ApiError> {
        let holder = self.runtime.base.lease.clone();
        let outcome = self.runtime.base.store.write(move |tx| {
            let outcome = tx.take_lease(id, &holder, probe)?;
            if let LeaseOutcome::HeldBy(_) = outcome {
                return Ok(outcome);
            }
            change(tx)?;
            tx.release_lease(id, &holder.token)?;
            Ok(outcome)
        });
        match outcome.await? {
            LeaseOutcome::HeldBy(_) => Err(ApiError::new("session.in_use").code(ErrorCode::InUse)),
            _ => Ok(()),
        }
    }
}
