//! The updates a client receives for a topic.
//!
//! One forwarder per subscription merges adjacent deltas for about [`MERGE_TIME`], sends batches, and after a lag or
//! a gap sends a fresh snapshot. It never makes the agent wait.

use crate::{topics::Topics, updates::LiveUpdate};
use octo_protocol::{ApiError, Delta, Envelope, Event, LiveTopic, StoredTopic, Topic, Update};
use std::{sync::Arc, time::Duration};
use tokio::sync::{
    broadcast::{self, error::RecvError, error::TryRecvError},
    mpsc, watch,
};

/// How long deltas are merged: about two frames, imperceptible to the eye.
const MERGE_TIME: Duration = Duration::from_millis(30);
/// How long changes of the running work are gathered: one step of an agent causes several.
const GATHER_TIME: Duration = Duration::from_millis(100);
/// Delay before a failed lookup is repeated.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Maximum number of another process's events read at once.
const CATCH_UP_EVENTS: u32 = 500;
/// Number of batches a client may leave unread before the forwarder waits for it; further events collect in the
/// broadcast meanwhile, and a lag there ends in a snapshot.
const PENDING_BATCHES: usize = 64;

/// The updates of a topic, in batches. The first batch is a snapshot. Dropping this ends the subscription.
#[derive(Debug)]
pub struct Subscription {
    batches: mpsc::Receiver<Vec<Update>>,
}

impl Subscription {
    /// Returns the next batch, or `None` if the topic's subject is deleted or Octo has ended.
    pub async fn next(&mut self) -> Option<Vec<Update>> {
        self.batches.recv().await
    }
}

/// Starts a subscription. Fails if the topic's subject does not exist.
pub(crate) async fn subscribe(topics: Topics, topic: Topic) -> Result<Subscription, ApiError> {
    // Subscribed before the snapshot is read, so nothing is lost between the two.
    let mut forwarder = Forwarder {
        events: topics.base.store.published(),
        deltas: topics.runtime.deltas.subscribe(),
        updates: topics.base.updates.subscribe(),
        activity: topics.runtime.board.change().watch(),
        other_processes: topics.base.other_processes.watch(),
        topics,
        topic,
        seq: 0,
    };
    let first_batch = forwarder.begin().await?;
    let (sender, batches) = mpsc::channel(PENDING_BATCHES);
    tokio::spawn(async move {
        if sender.send(first_batch).await.is_ok() {
            forwarder.forward(sender).await;
        }
    });
    Ok(Subscription { batches })
}

struct Forwarder {
    topics: Topics,
    topic: Topic,
    events: broadcast::Receiver<Arc<Envelope>>,
    deltas: broadcast::Receiver<Arc<Delta>>,
    updates: broadcast::Receiver<LiveUpdate>,
    activity: watch::Receiver<u64>,
    other_processes: watch::Receiver<u64>,
    /// The number of the last event, for a topic with stored events.
    seq: u64,
}

enum ForwarderFlow {
    Continue,
    End,
}

impl Forwarder {
    /// Reads a snapshot, and the current state that it does not contain.
    async fn begin(&mut self) -> Result<Vec<Update>, ApiError> {
        match self.topic {
            Topic::Stored(topic) => {
                let (seq, snapshot) = self.topics.stored(topic).await?;
                self.seq = seq;
                let mut batch = vec![Update::Snapshot { snapshot }];
                batch.extend(self.topics.unstored_state(topic).await?);
                Ok(batch)
            }
            Topic::Live(topic) => Ok(vec![Update::Snapshot { snapshot: self.topics.live(topic).await? }]),
        }
    }

    async fn forward(&mut self, sender: mpsc::Sender<Vec<Update>>) {
        loop {
            let mut batch = Vec::new();
            let next = tokio::select! {
                () = sender.closed() => return,
                event = self.events.recv() => self.take_event(event, &mut batch).await,
                delta = self.deltas.recv() => self.take_delta(delta, &mut batch).await,
                update = self.updates.recv() => self.take_update(update, &mut batch).await,
                changed = self.activity.changed(), if self.topic == LiveTopic::Activity.into() => match changed {
                    Ok(()) => self.take_activity(&mut batch).await,
                    Err(_) => ForwarderFlow::End,
                },
                changed = self.other_processes.changed() => match changed {
                    Ok(()) => self.catch_up(&mut batch).await,
                    Err(_) => ForwarderFlow::End,
                },
            };
            let mut is_over = matches!(next, ForwarderFlow::End);
            // Text is gathered for a moment; any other update is sent at once, with the gathered text.
            let gather =
                !batch.is_empty() && batch.iter().all(|update| matches!(update, Update::Delta { .. }));
            if gather && !is_over {
                let deadline = tokio::time::Instant::now() + MERGE_TIME;
                while !is_over {
                    let next = tokio::select! {
                        () = tokio::time::sleep_until(deadline) => break,
                        event = self.events.recv() => {
                            let next = self.take_event(event, &mut batch).await;
                            if matches!(next, ForwarderFlow::End) || matches!(batch.last(), Some(Update::Event { .. })) {
                                is_over = matches!(next, ForwarderFlow::End);
                                break;
                            }
                            next
                        }
                        delta = self.deltas.recv() => self.take_delta(delta, &mut batch).await,
                    };
                    is_over = matches!(next, ForwarderFlow::End);
                }
            }
            if !batch.is_empty() && sender.send(batch).await.is_err() {
                return;
            }
            if is_over {
                return;
            }
        }
    }

    async fn take_event(
        &mut self,
        event: Result<Arc<Envelope>, RecvError>,
        batch: &mut Vec<Update>,
    ) -> ForwarderFlow {
        match event {
            Ok(envelope) => self.push_event(&envelope, batch).await,
            Err(RecvError::Lagged(_)) => self.start_over(batch).await,
            Err(RecvError::Closed) => ForwarderFlow::End,
        }
    }

    async fn push_event(&mut self, envelope: &Envelope, batch: &mut Vec<Update>) -> ForwarderFlow {
        let topic = match self.topic {
            Topic::Stored(topic) => topic,
            Topic::Live(LiveTopic::Ledger) => {
                if let (StoredTopic::Session { id }, Event::CallBilled { call }) =
                    (envelope.topic, &envelope.event)
                {
                    batch.push(Update::Billed { session: id, call: Box::new(call.clone()) });
                }
                return ForwarderFlow::Continue;
            }
            Topic::Live(_) => return ForwarderFlow::Continue,
        };
        if let (StoredTopic::Session { id }, Event::SessionRemoved { id: gone }) = (topic, &envelope.event)
            && id == *gone
        {
            batch.push(Update::Ended);
            return ForwarderFlow::End;
        }
        if envelope.topic != topic || envelope.seq <= self.seq {
            return ForwarderFlow::Continue;
        }
        if envelope.seq != self.seq + 1 {
            return self.start_over(batch).await;
        }
        self.seq = envelope.seq;
        batch.push(Update::Event { envelope: envelope.clone() });
        ForwarderFlow::Continue
    }

    async fn take_delta(
        &mut self,
        delta: Result<Arc<Delta>, RecvError>,
        batch: &mut Vec<Update>,
    ) -> ForwarderFlow {
        match delta {
            Ok(delta) => {
                // The event a delta builds on was published before it: take events first.
                loop {
                    match self.events.try_recv() {
                        Ok(envelope) => {
                            if let ForwarderFlow::End = self.push_event(&envelope, batch).await {
                                return ForwarderFlow::End;
                            }
                        }
                        Err(TryRecvError::Empty) => break,
                        Err(TryRecvError::Lagged(_)) => return self.start_over(batch).await,
                        Err(TryRecvError::Closed) => return ForwarderFlow::End,
                    }
                }
                if self.topic == (StoredTopic::Session { id: delta.session }).into() {
                    merge(batch, &delta);
                }
                ForwarderFlow::Continue
            }
            Err(RecvError::Lagged(_)) => self.start_over(batch).await,
            Err(RecvError::Closed) => ForwarderFlow::End,
        }
    }

    async fn take_update(
        &mut self,
        update: Result<LiveUpdate, RecvError>,
        batch: &mut Vec<Update>,
    ) -> ForwarderFlow {
        match update {
            Ok(LiveUpdate::Update(topic, update)) if topic == self.topic => {
                batch.push(Arc::unwrap_or_clone(update));
            }
            // The activity includes the runs of tasks.
            Ok(LiveUpdate::Update(Topic::Live(LiveTopic::Tasks), _)) => self.activity.mark_changed(),
            Ok(LiveUpdate::Update(..)) => {}
            Ok(LiveUpdate::Gap) | Err(RecvError::Lagged(_)) => return self.start_over(batch).await,
            Err(RecvError::Closed) => return ForwarderFlow::End,
        }
        ForwarderFlow::Continue
    }

    /// Takes another process's stored changes to the topic. Changes of this process that are not sent yet are
    /// among them and are not taken again.
    async fn catch_up(&mut self, batch: &mut Vec<Update>) -> ForwarderFlow {
        let topic = match self.topic {
            // Each process keeps its settings itself.
            Topic::Stored(StoredTopic::Settings) | Topic::Live(_) => return ForwarderFlow::Continue,
            Topic::Stored(topic) => topic,
        };
        loop {
            let result = match self.topics.events_since(topic, self.seq, CATCH_UP_EVENTS).await {
                Ok(events) => events,
                // The next change includes it; the session list reports a purged session.
                Err(error) => {
                    tracing::warn!(%error, "what another process stored could not be read");
                    return ForwarderFlow::Continue;
                }
            };
            let has_more = result.len() >= CATCH_UP_EVENTS as usize;
            for envelope in &result {
                if let ForwarderFlow::End = self.push_event(envelope, batch).await {
                    return ForwarderFlow::End;
                }
            }
            if !has_more {
                return ForwarderFlow::Continue;
            }
        }
    }

    /// Takes the running work, once all changes of one step have happened.
    async fn take_activity(&mut self, batch: &mut Vec<Update>) -> ForwarderFlow {
        tokio::time::sleep(GATHER_TIME).await;
        self.activity.mark_unchanged();
        match self.topics.activity().await {
            Ok(state) => {
                batch.push(Update::Activity { state });
                ForwarderFlow::Continue
            }
            // Clients keep their last state; a closed store ends the subscription anyway.
            Err(error) => {
                tracing::warn!(%error, "what runs could not be looked up; it is tried again");
                tokio::time::sleep(RETRY_DELAY).await;
                self.activity.mark_changed();
                ForwarderFlow::Continue
            }
        }
    }

    /// Replaces everything collected with a snapshot.
    async fn start_over(&mut self, batch: &mut Vec<Update>) -> ForwarderFlow {
        self.events = self.events.resubscribe();
        self.deltas = self.deltas.resubscribe();
        self.updates = self.updates.resubscribe();
        batch.clear();
        match self.begin().await {
            Ok(updates) => {
                *batch = updates;
                ForwarderFlow::Continue
            }
            Err(error) => {
                batch.push(Update::Fault { error });
                ForwarderFlow::End
            }
        }
    }
}

/// Adds a delta, appending it to the last one if it continues it.
fn merge(batch: &mut Vec<Update>, delta: &Delta) {
    if let Some(Update::Delta { delta: last_delta }) = batch.last_mut()
        && last_delta.message == delta.message
        && last_delta.block == delta.block
        && last_delta.kind == delta.kind
        && last_delta.offset + last_delta.text.len() as u64 == delta.offset
    {
        last_delta.text.push_str(&delta.text);
    } else {
        batch.push(Update::Delta { delta: delta.clone() });
    }
}
