//! Sessions that currently cannot be stored, and their watchers.
//!
//! Such news cannot be events, because events are stored. They are kept here, so that later watchers receive
//! them too.

use crate::updates::Updates;
use octo_protocol::{ApiError, SessionId, StoredTopic, Trouble, TroubleStage, Update};
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;

/// The faults of sessions.
pub(crate) struct Troubles {
    by_session: Mutex<HashMap<SessionId, Trouble>>,
    updates: Updates,
}

impl Troubles {
    pub(crate) fn new(updates: Updates) -> Self {
        Self { by_session: Mutex::default(), updates }
    }

    /// Records that the session cannot be stored.
    pub(crate) fn begin(&self, session: SessionId, error: ApiError, stage: TroubleStage) {
        let trouble = Trouble { error, stage };
        let previous = self.lock().insert(session, trouble.clone());
        if previous.as_ref() != Some(&trouble) {
            self.notify(session, Some(trouble));
        }
    }

    /// Records that the session can be stored or no longer exists.
    pub(crate) fn clear(&self, session: SessionId) {
        if self.lock().remove(&session).is_some() {
            self.notify(session, None);
        }
    }

    /// Returns all current faults.
    pub(crate) fn all(&self) -> Vec<(SessionId, Trouble)> {
        self.lock().iter().map(|(session, trouble)| (*session, trouble.clone())).collect()
    }

    fn notify(&self, session: SessionId, trouble: Option<Trouble>) {
        for topic in [StoredTopic::Session { id: session }, StoredTopic::Sessions] {
            self.updates.send(topic, Update::Trouble { session, trouble: trouble.clone() });
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Trouble>> {
        self.by_session.lock()
    }
}
