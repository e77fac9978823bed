//! The task that waits for events of sessions and reports them in their chats.
//!
//! A chat's progress is a number of its session's events. The start of a delivery is stored before it is sent,
//! and its end afterwards: if a process ended in between, it is unknown whether the message arrived, and Octo
//! reports this doubt and does not send the answer a second time.

use super::{
    ChatBridge, ChatRecipient, ServiceLink, Words,
    fetch::connect,
    posts::{self, ChatUpdate, chat_update},
    sending::{DeliveryOutcome, send_all},
};
use octo_chats::{ChatClient as _, Post};
use octo_protocol::{ApiError, ChatConnection, ChatService, Envelope, SessionId, SessionStatus, StoredTopic};
use octo_store::ChatRow;
use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Weak},
    time::{Duration, Instant},
};
use tokio::sync::{
    broadcast::{Receiver, error::RecvError},
    watch,
};
use tokio_util::sync::CancellationToken;

/// Number of events read at once.
const BATCH: u32 = 100;
/// How long the service shows the typing indicator, minus a margin.
const TYPING: Duration = Duration::from_secs(4);
/// Delay before another look if something could not be read or sent.
const TYPING_INTERVAL: Duration = Duration::from_secs(10);
/// How long events are gathered: one step of an agent causes several.
const GATHER_TIME: Duration = Duration::from_millis(200);

/// The state kept between looks.
struct ChatReporter {
    bridge: Weak<ChatBridge>,
    service: ChatService,
    closing: CancellationToken,
    changes: watch::Receiver<u64>,
    /// The sessions with a chat.
    watched_sessions: HashSet<SessionId>,
    /// The account as last used; `None` after a change.
    link: Option<ServiceLink>,
    /// When the typing indicator was last shown, by chat.
    typing_shown_at: HashMap<i64, Instant>,
}

pub(super) fn begin(bridge: &Arc<ChatBridge>, service: ChatService) {
    let closing = bridge.base.shutdown.clone();
    let chats = &bridge.chats;
    let (mut events, mut connection, session_changed) =
        (bridge.base.store.published(), chats.watch(), chats.session_changed());
    let mut other_processes = bridge.base.other_processes.watch();
    let mut reporter = ChatReporter {
        bridge: Arc::downgrade(bridge),
        service,
        closing: closing.clone(),
        changes: chats.changes(),
        watched_sessions: HashSet::new(),
        link: None,
        typing_shown_at: HashMap::new(),
    };
    tokio::spawn(async move {
        loop {
            if reporter.changes.has_changed().unwrap_or(true) {
                reporter.link = None;
            }
            reporter.changes.mark_unchanged();
            let wake = tokio::select! {
                () = closing.cancelled() => return,
                wait = reporter.report_all() => wait,
            };
            let outcome = match wake {
                Ok(Some(next_wait)) => next_wait,
                Ok(None) => return,
                Err(error) => {
                    tracing::warn!(%error, "chats could not be told of their sessions; it is tried again");
                    Wait::Pause(TYPING_INTERVAL)
                }
            };
            let waited = async {
                match outcome {
                    Wait::For(time) | Wait::Pause(time) => tokio::time::sleep(time).await,
                    Wait::ForNews => std::future::pending().await,
                }
            };
            // A delay requested by the service is never shortened.
            let hears = !matches!(outcome, Wait::Pause(_));
            tokio::select! {
                () = closing.cancelled() => return,
                changed = reporter.changes.changed() => {
                    reporter.link = None;
                    if changed.is_err() { return }
                }
                // The connection is back.
                _ = connection.changed(), if hears => {}
                () = session_changed.notified(), if hears => {}
                changed = other_processes.changed(), if hears && !reporter.watched_sessions.is_empty() => {
                    if changed.is_err() { return }
                    tokio::time::sleep(GATHER_TIME).await;
                }
                () = wait_for_event(&mut events, &reporter.watched_sessions), if hears => tokio::time::sleep(GATHER_TIME).await,
                () = waited => {}
            }
        }
    });
}

enum Wait {
    ForNews,
    /// At most this long.
    For(Duration),
    /// This long, whatever happens.
    Pause(Duration),
}

/// Waits for an event in one of these sessions.
async fn wait_for_event(events: &mut Receiver<Arc<Envelope>>, watched_sessions: &HashSet<SessionId>) {
    loop {
        match events.recv().await {
            Ok(envelope) => match envelope.topic {
                StoredTopic::Session { id } if watched_sessions.contains(&id) => return,
                _ => {}
            },
            Err(RecvError::Lagged(_)) => return,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

impl ChatReporter {
    /// Reports all news to every chat. Returns `None` once the application has ended.
    async fn report_all(&mut self) -> Result<Option<Wait>, ApiError> {
        let Some(bridge) = self.bridge.upgrade() else { return Ok(None) };
        self.watched_sessions.clear();
        let state = bridge.chats.state().await?;
        let service = self.service;
        let connection = bridge.chats.connection(service);
        let is_there = matches!(connection, ChatConnection::Connected | ChatConnection::Reconnecting { .. });
        if !is_there || state.people.is_empty() || !bridge.is_in_charge().await? {
            return Ok(Some(Wait::ForNews));
        }
        let link = match self.link.take() {
            Some(link) => Ok(link),
            None => connect(&bridge, service).await,
        };
        let line = match link {
            Ok(line) => self.link.insert(line).clone(),
            Err(error) => {
                tracing::info!(%error, "chats cannot be told anything now");
                return Ok(Some(Wait::Pause(TYPING_INTERVAL)));
            }
        };
        let mut next_wait = Wait::ForNews;
        let chats = bridge.base.store.read(move |reader| reader.chats(service)).await;
        for chat in chats?.into_iter().filter(|chat| line.is_of(chat)) {
            let Some(session) = chat.session else { continue };
            self.watched_sessions.insert(session);
            let key = chat.key;
            match report_to_chat(&bridge, &line, chat, session, &self.closing, &mut self.changes).await? {
                DeliveryOutcome::Done => {}
                DeliveryOutcome::Postponed(delay) => return Ok(Some(Wait::Pause(delay))),
                DeliveryOutcome::Doubtful => return Ok(Some(Wait::For(TYPING_INTERVAL))),
            }
            if self.show_typing(&bridge, &line, key, session).await? {
                next_wait = Wait::For(TYPING);
            }
        }
        Ok(Some(next_wait))
    }

    /// Shows the typing indicator if the session is working. Returns whether it is.
    async fn show_typing(
        &mut self,
        bridge: &ChatBridge,
        line: &ServiceLink,
        chat: i64,
        session: SessionId,
    ) -> Result<bool, ApiError> {
        let result = bridge.base.store.read(move |reader| Ok((reader.session(session)?, reader.chat(chat)?)));
        let (Some(info), Some(row)) = result.await? else { return Ok(false) };
        if info.status != SessionStatus::Running || row.last_from_window {
            return Ok(false);
        }
        let is_shown = self.typing_shown_at.get(&chat).is_some_and(|shown_at| shown_at.elapsed() < TYPING);
        if !is_shown {
            self.typing_shown_at.insert(chat, Instant::now());
            if let Err(error) = line.client.typing(&row.person).await {
                tracing::debug!(%error, "that something is written is not shown");
            }
        }
        Ok(true)
    }
}

/// Reports the news to one chat.
async fn report_to_chat(
    bridge: &ChatBridge,
    line: &ServiceLink,
    mut chat: ChatRow,
    session: SessionId,
    closing: &CancellationToken,
    changes: &mut watch::Receiver<u64>,
) -> Result<DeliveryOutcome, ApiError> {
    let (store, words, key) = (&bridge.base.store, Words::of(bridge), chat.key);
    if let Some(seq) = chat.delivering_seq {
        let post = Post::plain(words.say("chat.answer_maybe_lost"));
        let recipient = ChatRecipient { bridge, link: line, chat: &chat };
        match send_all(&recipient, &[post], closing, changes).await {
            DeliveryOutcome::Postponed(delay) => return Ok(DeliveryOutcome::Postponed(delay)),
            // The doubt is reported only once.
            DeliveryOutcome::Done | DeliveryOutcome::Doubtful => {}
        }
        let from_window = chat.last_from_window;
        store.write(move |tx| tx.finish_delivery(key, session, seq, from_window)).await?;
        (chat.delivered_seq, chat.delivering_seq) = (seq, None);
    }
    let topic = StoredTopic::Session { id: session };
    loop {
        let start_seq = chat.delivered_seq;
        let events = store.read(move |reader| reader.events_since(&topic, start_seq, BATCH)).await;
        let events = events?;
        let Some(last_seq) = events.last().map(|envelope| envelope.seq) else {
            return Ok(DeliveryOutcome::Done);
        };
        for envelope in events {
            let mut posts = match chat_update(&envelope.event, words) {
                ChatUpdate::Nothing => continue,
                ChatUpdate::InChat => {
                    chat.last_from_window = false;
                    continue;
                }
                ChatUpdate::InWindow(posts) => {
                    chat.last_from_window = true;
                    posts
                }
                ChatUpdate::Answer(message) => {
                    let result = store.read(move |reader| reader.message(session, message)).await;
                    let message = result?;
                    message.map(|message| posts::answer_posts(&message, words)).unwrap_or_default()
                }
                ChatUpdate::Send(posts) => posts,
            };
            if posts.is_empty() {
                continue;
            }
            for post in &mut posts {
                // A person in front of the window needs no sound.
                post.silent |= chat.last_from_window;
            }
            let seq = envelope.seq;
            // Written through to disk: a power cut must not cause a second delivery.
            let result = store.write_through(move |tx| tx.begin_delivery(key, session, seq)).await;
            if !result? {
                // It continues with another session by now, or the person was removed.
                return Ok(DeliveryOutcome::Done);
            }
            let recipient = ChatRecipient { bridge, link: line, chat: &chat };
            let sending = send_all(&recipient, &posts, closing, changes).await;
            let from_window = chat.last_from_window;
            match sending {
                DeliveryOutcome::Done => {
                    let result =
                        store.write(move |tx| tx.finish_delivery(key, session, seq, from_window)).await;
                    if !result? {
                        return Ok(DeliveryOutcome::Done);
                    }
                    chat.delivered_seq = seq;
                }
                DeliveryOutcome::Postponed(delay) => {
                    // No delivery is in progress any more.
                    let previous_seq = seq.saturating_sub(1);
                    let result = store
                        .write(move |tx| tx.finish_delivery(key, session, previous_seq, from_window))
                        .await;
                    result?;
                    return Ok(DeliveryOutcome::Postponed(delay));
                }
                DeliveryOutcome::Doubtful => return Ok(DeliveryOutcome::Doubtful),
            }
        }
        let from_window = chat.last_from_window;
        let result = store.write(move |tx| tx.finish_delivery(key, session, last_seq, from_window)).await;
        if !result? {
            return Ok(DeliveryOutcome::Done);
        }
        chat.delivered_seq = last_seq;
    }
}
