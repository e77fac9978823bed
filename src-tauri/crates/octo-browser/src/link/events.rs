//! Delivers the browser's events to the subscribers of each session.

use crate::BrowserEvent;
use chromiumoxide::cdp::browser_protocol::target::SessionId;
use parking_lot::{Mutex, MutexGuard};
use std::{collections::HashMap, fmt, sync::Arc};
use tokio::sync::broadcast::{self, error::RecvError};

/// The result of [`SessionEvents::next`].
#[derive(Clone, Debug)]
pub enum NextEvent {
    /// The next event.
    Event(Arc<BrowserEvent>),
    /// Number of events missed because they were not read in time.
    Missed(u64),
    /// The session or the link has ended.
    Ended,
}

/// A session's events since the subscription.
pub struct SessionEvents(broadcast::Receiver<Arc<BrowserEvent>>);

impl fmt::Debug for SessionEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionEvents").field("buffered", &self.0.len()).finish()
    }
}

impl SessionEvents {
    /// Number of events buffered for a slow reader.
    pub const CAPACITY: usize = 512;

    /// Returns the next event. Dropping the future loses no event.
    pub async fn next(&mut self) -> NextEvent {
        match self.0.recv().await {
            Ok(event) => NextEvent::Event(event),
            Err(RecvError::Lagged(missed)) => NextEvent::Missed(missed),
            Err(RecvError::Closed) => NextEvent::Ended,
        }
    }
}

/// The senders that reach the subscribers of each session.
#[derive(Clone, Default)]
pub(crate) struct EventHub(Arc<Mutex<SubscriberMap>>);

#[derive(Default)]
struct SubscriberMap {
    senders: HashMap<Option<SessionId>, broadcast::Sender<Arc<BrowserEvent>>>,
    ended: bool,
}

impl EventHub {
    pub(crate) fn subscribe(&self, session: Option<&SessionId>) -> SessionEvents {
        let mut map = self.lock();
        if map.ended {
            // A channel without a sender reports its end immediately.
            return SessionEvents(broadcast::channel(1).1);
        }
        let channel = map
            .senders
            .entry(session.cloned())
            .or_insert_with(|| broadcast::Sender::new(SessionEvents::CAPACITY));
        SessionEvents(channel.subscribe())
    }

    /// Delivers an event to the subscribers of its session.
    pub(crate) fn publish(&self, event: BrowserEvent) {
        let mut map = self.lock();
        if let Some(channel) = map.senders.get(&event.session) {
            let session = event.session.clone();
            if channel.send(Arc::new(event)).is_err() {
                // The last subscriber is gone.
                map.senders.remove(&session);
            }
        }
    }

    /// Ends a session's subscriptions.
    pub(crate) fn unsubscribe(&self, session: &SessionId) {
        self.lock().senders.remove(&Some(session.clone()));
    }

    /// Ends all subscriptions and refuses new ones.
    pub(crate) fn close(&self) {
        *self.lock() = SubscriberMap { senders: HashMap::new(), ended: true };
    }

    fn lock(&self) -> MutexGuard<'_, SubscriberMap> {
        // No code that holds this lock can panic, so no other thread sees a half-made change.
        self.0.lock()
    }
}
