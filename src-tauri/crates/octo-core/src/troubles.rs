//! Sessions that cannot be stored at present, and who is told.
//!
//! Such news cannot be events, for events are stored. They are kept here instead, so that whoever begins to
//! watch later hears of them too.

use octo_protocol::{ApiError, SessionId, Trouble, TroubleStage};
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};
use tokio::sync::broadcast;

/// A session, and what is the matter with it; none once it is over.
pub(crate) type News = (SessionId, Option<Trouble>);

/// News a slow watcher may fall behind; each session has at most a few.
const NEWS: usize = 64;

/// What is the matter with which session.
pub(crate) struct Troubles {
    known: Mutex<HashMap<SessionId, Trouble>>,
    news: broadcast::Sender<News>,
}

impl Troubles {
    pub(crate) fn new() -> Self {
        Self { known: Mutex::default(), news: broadcast::channel(NEWS).0 }
    }

    /// The session cannot be stored.
    pub(crate) fn begin(&self, session: SessionId, error: ApiError, stage: TroubleStage) {
        let trouble = Trouble { error, stage };
        let before = self.known().insert(session, trouble.clone());
        if before.as_ref() != Some(&trouble) {
            // Nobody watching is no fault.
            let _nobody = self.news.send((session, Some(trouble)));
        }
    }

    /// The session can be stored, or is gone.
    pub(crate) fn over(&self, session: SessionId) {
        if self.known().remove(&session).is_some() {
            let _nobody = self.news.send((session, None));
        }
    }

    /// All there is.
    pub(crate) fn all(&self) -> Vec<(SessionId, Trouble)> {
        self.known().iter().map(|(session, trouble)| (*session, trouble.clone())).collect()
    }

    /// News from now on.
    pub(crate) fn watch(&self) -> broadcast::Receiver<News> {
        self.news.subscribe()
    }

    fn known(&self) -> MutexGuard<'_, HashMap<SessionId, Trouble>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
