//! The registry of open sessions: it owns the handles of all running actors, and starts none twice.

use super::{Runtime, SessionHandle, resting::IDLE_MULTIPLE};
use octo_protocol::{ApiError, SessionId, TroubleStage};
use std::{collections::HashMap, sync::Arc, time::Duration};
use tokio::sync::{Mutex, MutexGuard};

/// The sessions with a running actor. The lock is held while a session is opened, so none is opened twice.
#[derive(Default)]
pub(crate) struct OpenSessions(Mutex<HashMap<SessionId, SessionHandle>>);

/// The locked registry: no session is opened while this guard lives.
pub(crate) struct LockedSessions<'a>(MutexGuard<'a, HashMap<SessionId, SessionHandle>>);

impl OpenSessions {
    /// Returns the session's handle, if it was opened here. Its actor may have ended since.
    pub(crate) async fn get(&self, id: SessionId) -> Option<SessionHandle> {
        self.0.lock().await.get(&id).cloned()
    }

    /// Returns the handles of all sessions opened here.
    pub(crate) async fn all(&self) -> Vec<SessionHandle> {
        self.0.lock().await.values().cloned().collect()
    }

    /// Removes a session whose actor has ended.
    pub(crate) async fn remove(&self, id: SessionId) {
        self.0.lock().await.remove(&id);
    }

    /// Prevents sessions from being opened while the guard lives.
    pub(crate) async fn lock(&self) -> LockedSessions<'_> {
        LockedSessions(self.0.lock().await)
    }

    /// Ends a session's actor and removes the session, unless it was opened again meanwhile.
    pub(crate) async fn close(&self, id: SessionId) {
        let Some(handle) = self.get(id).await else { return };
        handle.shut_down().await;
        let mut open = self.0.lock().await;
        if open.get(&id).is_some_and(|handle| !handle.is_open()) {
            open.remove(&id);
        }
    }

    /// Ends all actors and waits for them.
    pub(crate) async fn shut_down(&self) {
        let handles: Vec<SessionHandle> = self.0.lock().await.drain().map(|(_, handle)| handle).collect();
        futures::future::join_all(handles.iter().map(SessionHandle::shut_down)).await;
    }

    /// Ends the actors of sessions that have been idle for this long and have no other reason to stay open.
    pub(crate) async fn close_idle(&self, idle_after: Duration) {
        let ids: Vec<SessionId> = self.0.lock().await.keys().copied().collect();
        for id in ids {
            // While this lock is held no caller can obtain a handle.
            let mut open = self.0.lock().await;
            let Some(handle) = open.get(&id) else { continue };
            if handle.ended.is_cancelled() {
                open.remove(&id);
            } else if handle.is_open() && !handle.is_held() {
                handle.rest(idle_after * IDLE_MULTIPLE).await;
            }
        }
    }
}

impl LockedSessions<'_> {
    /// Returns the session's handle, if it was opened here. Its actor may have ended since.
    pub(crate) fn get(&self, id: SessionId) -> Option<&SessionHandle> {
        self.0.get(&id)
    }

    /// Removes a session whose actor has ended.
    pub(crate) fn remove(&mut self, id: SessionId) {
        self.0.remove(&id);
    }
}

impl Runtime {
    /// Returns the session's actor and starts it if necessary. Once the application is ending this starts none:
    /// such an actor would never be ended, and the previous actor, which is ending, still works on the same
    /// turn.
    pub(crate) async fn open_session(self: &Arc<Self>, id: SessionId) -> Result<SessionHandle, ApiError> {
        let mut open = self.open.0.lock().await;
        if self.base.shutdown.is_cancelled() {
            return Err(ApiError::new("store.closed"));
        }
        if let Some(handle) = open.get(&id) {
            if handle.is_open() {
                return Ok(handle.clone());
            }
            // An ending actor still has the lease and the session's commands.
            handle.ended().await;
        }
        let opened = SessionHandle::open(Arc::clone(self), id).await;
        match &opened {
            Ok(handle) => {
                open.insert(id, handle.clone());
                self.troubles.clear(id);
            }
            Err(error) if error.is_store_error() => {
                self.troubles.begin(id, error.clone(), TroubleStage::Ended);
            }
            Err(_) => {}
        }
        opened
    }
}
