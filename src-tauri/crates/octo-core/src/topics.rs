//! The current state of each topic, which a client receives first when it begins to watch.

mod activity;
mod relay;

use crate::{base::Base, services::Services, session::Runtime, sessions::Sessions, settings::LiveSettings};
use octo_protocol::{ApiError, Envelope, LiveTopic, Snapshot, StoredTopic, Update};
use std::sync::Arc;

/// Number of sessions in the list's snapshot; more are loaded in pages.
const SNAPSHOT_SESSIONS: u32 = 200;

/// The topics of an application. Clones share them.
#[derive(Clone)]
pub(crate) struct Topics {
    pub(crate) base: Arc<Base>,
    pub(crate) services: Arc<Services>,
    pub(crate) runtime: Arc<Runtime>,
    sessions: Sessions,
    settings: LiveSettings,
}

impl Topics {
    pub(crate) fn new(sessions: Sessions, settings: LiveSettings) -> Self {
        let runtime = Arc::clone(sessions.runtime());
        relay::relay(&runtime.services, &runtime.base.updates);
        Self {
            base: Arc::clone(&runtime.base),
            services: Arc::clone(&runtime.services),
            runtime,
            sessions,
            settings,
        }
    }

    /// Returns the state of a topic with stored events, and the number of the last event it includes.
    pub(crate) async fn stored(&self, topic: StoredTopic) -> Result<(u64, Snapshot), ApiError> {
        match topic {
            StoredTopic::Session { id } => {
                let session = self.sessions.snapshot(id).await?;
                Ok((session.seq, Snapshot::Session(Box::new(session))))
            }
            StoredTopic::Sessions => {
                let result = self.base.store.read(|reader| reader.list_snapshot(SNAPSHOT_SESSIONS)).await?;
                let seq = result.seq;
                Ok((seq, Snapshot::Sessions { seq, sessions: result.sessions, total: result.total }))
            }
            StoredTopic::Trash => {
                let (seq, totals) = self.base.store.read(|reader| reader.trash_snapshot()).await?;
                Ok((seq, Snapshot::Trash { seq, totals }))
            }
            StoredTopic::Settings => {
                let (seq, snapshot) = self.settings.snapshot().await?;
                Ok((seq, Snapshot::Settings { seq, snapshot: Box::new(snapshot) }))
            }
        }
    }

    /// Returns the state of a topic without events of its own.
    pub(crate) async fn live(&self, topic: LiveTopic) -> Result<Snapshot, ApiError> {
        match topic {
            LiveTopic::Ledger => Ok(Snapshot::Ledger {}),
            LiveTopic::Library => Ok(Snapshot::Library { state: self.services.library.state().await? }),
            LiveTopic::Tasks => Ok(Snapshot::Tasks { state: self.services.tasks.state().await? }),
            LiveTopic::Browser => Ok(Snapshot::Browser { state: self.services.browser.state() }),
            LiveTopic::Activity => Ok(Snapshot::Activity { state: self.activity().await? }),
        }
    }

    /// Returns the current state that the events of a topic do not contain: faults, the rules, the chats, the
    /// open page.
    pub(crate) async fn unstored_state(&self, topic: StoredTopic) -> Result<Vec<Update>, ApiError> {
        let trouble = |(session, trouble)| Update::Trouble { session, trouble: Some(trouble) };
        let mut updates = Vec::new();
        match topic {
            StoredTopic::Session { id } => {
                let troubles = self.runtime.troubles.all().into_iter();
                updates.extend(troubles.filter(|(session, _)| *session == id).map(trouble));
                let page = self.services.browser.existing_session(id).and_then(|session| session.live());
                updates.extend(page.map(|page| Update::Page { page: Some(page) }));
            }
            StoredTopic::Sessions => updates.extend(self.runtime.troubles.all().into_iter().map(trouble)),
            StoredTopic::Settings => {
                updates.push(Update::Policy { policy: Box::new(self.services.rules.current().await?) });
                updates.push(Update::Chats { state: Box::new(self.services.chats.state().await?) });
            }
            StoredTopic::Trash => {}
        }
        Ok(updates)
    }

    /// Returns the stored events of a topic after `seq`, oldest first, at most `limit`.
    pub(crate) async fn events_since(
        &self,
        topic: StoredTopic,
        seq: u64,
        limit: u32,
    ) -> Result<Vec<Envelope>, ApiError> {
        Ok(self.base.store.read(move |reader| reader.events_since(&topic, seq, limit)).await?)
    }
}
