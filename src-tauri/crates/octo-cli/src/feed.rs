//! Delivers the durable events of this process, in order and without gaps.

use octo_core::Octo;
use octo_protocol::{ApiError, Envelope, Event, Millis, SessionId, StoredTopic};
use std::{
    collections::HashMap,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};
use tokio::sync::{
    broadcast::{self, error::RecvError},
    mpsc, oneshot,
};

/// Number of events read from the store at a time.
const PAGE: u32 = 500;

/// An item of a [`Feed`].
#[derive(Clone, Debug)]
pub(crate) enum FeedItem {
    /// The next event.
    Event(Arc<Envelope>),
    /// This many events were missed and could not be reread. Reported, never hidden: the client must reopen its
    /// sessions.
    Lost(u64),
}

/// All durable events since it was opened.
///
/// The core's channel never waits for a listener, so a slow reader of standard output would lose events from
/// it. A separate task empties that channel at once; the backlog is bounded by the agent's work. If it falls
/// behind nevertheless, the missed events are read from the store.
#[derive(Debug)]
pub(crate) struct Feed {
    items: mpsc::UnboundedReceiver<FeedItem>,
}

/// Ends a [`Feed`] after its current last event. Dropping it has the same effect.
#[derive(Debug)]
pub(crate) struct FeedEnd {
    _open: oneshot::Sender<()>,
}

impl Feed {
    /// Starts listening, until the core or the returned end is dropped.
    pub fn open(octo: &Octo) -> (Self, FeedEnd) {
        let (pump, items) = FeedPump::new(octo);
        let (open, ended) = oneshot::channel();
        tokio::spawn(pump.run(ended));
        (Self { items }, FeedEnd { _open: open })
    }

    /// Returns the next item; `None` at the end.
    pub async fn next(&mut self) -> Option<FeedItem> {
        self.items.recv().await
    }
}

/// The feed no longer has a reader.
struct ReaderGone;

/// Moves events from the core's channel into the feed's.
struct FeedPump {
    octo: Octo,
    events: broadcast::Receiver<Arc<Envelope>>,
    items: mpsc::UnboundedSender<FeedItem>,
    /// Sequence number of the last event of each topic.
    last_seqs: HashMap<StoredTopic, u64>,
    since: Millis,
}

impl FeedPump {
    fn new(octo: &Octo) -> (Self, mpsc::UnboundedReceiver<FeedItem>) {
        let (items, feed) = mpsc::unbounded_channel();
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let started_at = Millis::try_from(elapsed.as_millis()).unwrap_or(Millis::MAX);
        (
            Self {
                octo: octo.clone(),
                events: octo.events(),
                items,
                last_seqs: HashMap::new(),
                since: started_at,
            },
            feed,
        )
    }

    async fn run(mut self, mut ended: oneshot::Receiver<()>) {
        loop {
            let event = tokio::select! {
                // In this order, so the end is handled only when nothing is left.
                biased;
                event = self.events.recv() => event,
                _ = &mut ended => return,
            };
            let forwarded = match event {
                Ok(envelope) => self.forward(envelope),
                Err(RecvError::Lagged(count)) => self.catch_up(count).await,
                Err(RecvError::Closed) => return,
            };
            if let Err(ReaderGone) = forwarded {
                return;
            }
        }
    }

    /// Forwards an event, unless it was already forwarded.
    fn forward(&mut self, envelope: Arc<Envelope>) -> Result<(), ReaderGone> {
        let last_seq = self.last_seqs.entry(envelope.topic).or_default();
        if envelope.seq <= *last_seq {
            return Ok(());
        }
        *last_seq = envelope.seq;
        self.items.send(FeedItem::Event(envelope)).map_err(|_| ReaderGone)
    }

    /// Reads missed events from the store: of the known topics, the two permanent ones, and the sessions in the
    /// list.
    async fn catch_up(&mut self, count: u64) -> Result<(), ReaderGone> {
        let mut topics: Vec<StoredTopic> = self.last_seqs.keys().copied().collect();
        topics.extend(
            [StoredTopic::Settings, StoredTopic::Sessions]
                .iter()
                .filter(|topic| !self.last_seqs.contains_key(topic)),
        );
        // The list is last, and its sessions follow it.
        topics.sort_by_key(|topic| *topic == StoredTopic::Sessions);
        let mut next_item = 0;
        while let Some(&topic) = topics.get(next_item) {
            next_item += 1;
            match self.read_topic(topic).await {
                Ok(missed) => {
                    for envelope in missed {
                        if let Some(id) = listed_session(&envelope.event) {
                            let session = StoredTopic::Session { id };
                            if !topics.contains(&session) {
                                topics.push(session);
                            }
                        }
                        self.forward(envelope)?;
                    }
                }
                Err(_) => self.items.send(FeedItem::Lost(count)).map_err(|_| ReaderGone)?,
            }
        }
        Ok(())
    }

    async fn read_topic(&self, topic: StoredTopic) -> Result<Vec<Arc<Envelope>>, ApiError> {
        let last_seq = self.last_seqs.get(&topic).copied();
        let mut next_seq = last_seq.unwrap_or(0);
        let mut missed = Vec::new();
        loop {
            let page = self.octo.events_since(topic, next_seq, PAGE).await?;
            let Some(last_event) = page.last() else { return Ok(missed) };
            next_seq = last_event.seq;
            // For a previously unknown topic, only events since the feed was opened.
            let fresh = page.into_iter().filter(|envelope| last_seq.is_some() || envelope.at >= self.since);
            missed.extend(fresh.map(Arc::new));
        }
    }
}

fn listed_session(event: &Event) -> Option<SessionId> {
    match event {
        Event::SessionListed { info } => Some(info.id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octo_core::{Config, HomeAtStart, HomeLocation, KeyStorage, NoHost, OpenTurnPolicy};
    use octo_protocol::{ChangeSettings, RenameSession, SettingsPatch, Source, StartDemo, Stop, Theme};
    use std::collections::BTreeMap;

    #[tokio::test]
    async fn missed_events_are_read_from_the_store() {
        let home = tempfile::tempdir().unwrap();
        let config = Config {
            home: home.path().to_owned(),
            home_at_start: HomeAtStart::without_plan(HomeLocation::by_variable(home.path().to_owned())),
            source: Source::Headless,
            open_turns: OpenTurnPolicy::WaitForUse,
            keys: KeyStorage::Memory,
            host: Arc::new(NoHost),
            idle_after: octo_core::IDLE_AFTER,
            remover: octo_core::Remover::System,
            supervision: octo_core::Supervision::Session,
            budget: None,
            secret_variables: Vec::new(),
        };
        let octo = Octo::start(config).await.unwrap();
        // The reader starts only after far more events than fit into the core's channel.
        let (pump, mut feed) = FeedPump::new(&octo);
        let session = octo.call(StartDemo {}).await.unwrap().id;
        octo.call(Stop { session }).await.unwrap();
        for number in 0..40 {
            octo.call(RenameSession { session, title: format!("Title {number}") }).await.unwrap();
        }
        let mut changed = 0;
        while changed <= 5_000 {
            let theme = if changed % 2 == 0 { Theme::Dark } else { Theme::Light };
            let patch = SettingsPatch { theme: Some(theme), ..SettingsPatch::default() };
            octo.call(ChangeSettings { patch }).await.unwrap();
            changed += 1;
        }
        let (open, ended) = oneshot::channel();
        drop(open);
        pump.run(ended).await;
        octo.shutdown().await;

        let mut seqs: BTreeMap<StoredTopic, Vec<u64>> = BTreeMap::new();
        let mut titles = Vec::new();
        while let Some(item) = feed.recv().await {
            let FeedItem::Event(envelope) = item else { panic!("{item:?}") };
            seqs.entry(envelope.topic).or_default().push(envelope.seq);
            if let Event::SessionChanged { info } = &envelope.event {
                titles.push(info.title.clone());
            }
        }
        assert_eq!(seqs.keys().copied().collect::<Vec<_>>().len(), 3, "all three topics: {:?}", seqs.keys());
        for (topic, seqs) in &seqs {
            let expected: Vec<u64> = (1..=seqs.len() as u64).collect();
            assert_eq!(*seqs, expected, "{topic}: every event once, in order");
        }
        assert_eq!(seqs[&StoredTopic::Settings].len(), 5_001);
        assert!(titles.contains(&"Title 39".to_owned()));
    }
}
