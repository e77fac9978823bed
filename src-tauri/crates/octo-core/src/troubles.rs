//! Sessions that currently cannot be stored, and their watchers.
//!
//! Such news cannot be events, because events are stored. They are kept here, so that later watchers receive
//! them too.

use octo_protocol::{ApiError, SessionId, Trouble, TroubleStage};
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};
use tokio::sync::broadcast;

/// A session and its fault; `None` once it is over.
pub(crate) type TroubleNews = (SessionId, Option<Trouble>);

/// Capacity of the news channel; each session has at most a few items.
const NEWS: usize = 64;

/// The faults of sessions.
pub(crate) struct Troubles {
    known: Mutex<HashMap<SessionId, Trouble>>,
    news: broadcast::Sender<TroubleNews>,
}

impl Troubles {
    pub(crate) fn new() -> Self {
        Self { known: Mutex::default(), news: broadcast::channel(NEWS).0 }
    }

    /// Records that the session cannot be stored.
    pub(crate) fn begin(&self, session: SessionId, error: ApiError, stage: TroubleStage) {
        let trouble = Trouble { error, stage };
        let before = self.known().insert(session, trouble.clone());
        if before.as_ref() != Some(&trouble) {
            // It is not an error if no client is watching.
            let _nobody = self.news.send((session, Some(trouble)));
        }
    }

    /// Records that the session can be stored or no longer exists.
    pub(crate) fn over(&self, session: SessionId) {
        if self.known().remove(&session).is_some() {
            let _nobody = self.news.send((session, None));
        }
    }

    /// Returns all current faults.
    pub(crate) fn all(&self) -> Vec<(SessionId, Trouble)> {
        self.known().iter().map(|(session, trouble)| (*session, trouble.clone())).collect()
    }

    /// Subscribes to the news.
    pub(crate) fn watch(&self) -> broadcast::Receiver<TroubleNews> {
        self.news.subscribe()
    }

    fn known(&self) -> MutexGuard<'_, HashMap<SessionId, Trouble>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
