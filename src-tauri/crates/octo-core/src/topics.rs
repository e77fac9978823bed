//! The current state of each topic, which a client receives first when it begins to watch.

mod activity;

use crate::{
    base::Base,
    blocking::blocking,
    services::Services,
    session::Runtime,
    sessions::{Sessions, unknown_session},
    settings::LiveSettings,
};
use octo_protocol::{
    ApiError, Envelope, LivePage, PolicyState, SessionId, SessionSnapshot, Snapshot, StreamKind, Topic,
};
use std::sync::Arc;

/// Number of messages in a session's snapshot; earlier ones are loaded in pages.
const SNAPSHOT_MESSAGES: u32 = 200;
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
        Self {
            base: Arc::clone(&runtime.base),
            services: Arc::clone(&runtime.services),
            runtime,
            sessions,
            settings,
        }
    }

    /// Returns the state of a topic.
    pub(crate) async fn snapshot(&self, topic: &Topic) -> Result<Snapshot, ApiError> {
        match *topic {
            Topic::Session { id } => Ok(Snapshot::Session(Box::new(self.session(id).await?))),
            Topic::Sessions => {
                let list = self.base.store.read(|reader| reader.list_snapshot(SNAPSHOT_SESSIONS)).await?;
                Ok(Snapshot::Sessions { seq: list.seq, sessions: list.sessions, total: list.total })
            }
            Topic::Trash => {
                let (seq, totals) = self.base.store.read(|reader| reader.trash_snapshot()).await?;
                Ok(Snapshot::Trash { seq, totals })
            }
            Topic::Settings => {
                let (seq, snapshot) = self.settings.snapshot().await?;
                Ok(Snapshot::Settings { seq, snapshot: Box::new(snapshot) })
            }
            Topic::Ledger => Ok(Snapshot::Ledger {}),
            Topic::Library => Ok(Snapshot::Library { state: self.services.library.state().await? }),
            Topic::Tasks => Ok(Snapshot::Tasks { state: self.services.tasks.state().await? }),
            Topic::Browser => Ok(Snapshot::Browser { state: self.services.browser.state() }),
            Topic::Activity => Ok(Snapshot::Activity { state: self.activity().await? }),
        }
    }

    /// Returns the current session with its streams.
    pub(crate) async fn session(&self, id: SessionId) -> Result<SessionSnapshot, ApiError> {
        // The streams are read first: a block that ends in between is then in the page as well, and is left out
        // below; in the opposite order it could be in neither.
        let live = self.runtime.open.get(id).await.map(|handle| handle.live().clone());
        let streaming = live.map(|live| live.now()).unwrap_or_default();
        let read = self.runtime.base.store.read(move |reader| reader.snapshot(id, SNAPSHOT_MESSAGES)).await;
        let mut snapshot = read?.ok_or_else(unknown_session)?;
        snapshot.streaming = streaming
            .into_iter()
            .filter(|stream| {
                matches!(stream.kind, StreamKind::Output { .. })
                    || snapshot.page.messages.iter().any(|message| {
                        message.id == stream.message
                            && message.meta.end.is_none()
                            && message.blocks.len() <= stream.block as usize
                    })
            })
            .collect();
        Ok(snapshot)
    }

    /// Returns the current state of `policy.toml`.
    pub(crate) async fn policy(&self) -> Result<PolicyState, ApiError> {
        let services = Arc::clone(&self.services);
        blocking(move || Ok(services.rules.state())).await
    }

    /// Returns the page a session is working in.
    pub(crate) fn live_page(&self, session: SessionId) -> Option<LivePage> {
        self.services.browser.seated(session)?.live()
    }

    /// Returns the stored events of a topic after `seq`, oldest first, at most `limit`.
    pub(crate) async fn events_since(
        &self,
        topic: Topic,
        seq: u64,
        limit: u32,
    ) -> Result<Vec<Envelope>, ApiError> {
        Ok(self.base.store.read(move |reader| reader.events_since(&topic, seq, limit)).await?)
    }
}
