//! The channel of all updates that are not stored events: the state of the policy file, chats, the browser, the
//! library, tasks, and sessions that cannot be stored.

use octo_protocol::{Topic, Update};
use std::sync::Arc;
use tokio::sync::broadcast;

/// Number of items a slow subscription may fall behind before it gets a snapshot.
const CAPACITY: usize = 1_024;

/// Sends updates to the subscriptions of their topics. Clones share the channel.
#[derive(Clone)]
pub(crate) struct Updates(broadcast::Sender<LiveUpdate>);

/// An item of the channel.
#[derive(Clone, Debug)]
pub(crate) enum LiveUpdate {
    /// An update for the subscribers of a topic.
    Update(Topic, Arc<Update>),
    /// Updates of unknown topics were lost: subscribers need a snapshot.
    Gap,
}

impl Default for Updates {
    fn default() -> Self {
        Self(broadcast::channel(CAPACITY).0)
    }
}

impl Updates {
    /// Sends an update to the subscribers of a topic.
    pub fn send(&self, topic: impl Into<Topic>, update: Update) {
        self.pass(LiveUpdate::Update(topic.into(), Arc::new(update)));
    }

    /// Makes all subscribers take a snapshot.
    pub fn report_gap(&self) {
        self.pass(LiveUpdate::Gap);
    }

    /// Returns all updates from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<LiveUpdate> {
        self.0.subscribe()
    }

    fn pass(&self, item: LiveUpdate) {
        // It is not an error if no client is watching.
        let _ = self.0.send(item);
    }
}
