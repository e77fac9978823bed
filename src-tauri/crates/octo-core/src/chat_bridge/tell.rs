//! The task that waits for events of sessions and reports them in their chats.
//!
//! A chat's progress is a number of its session's events. The start of a delivery is stored before it is sent,
//! and its end afterwards: if a process ended in between, it is unknown whether the message arrived, and Octo
//! reports this doubt and does not send the answer a second time.

use super::{
    ChatBridge, ServiceLink, Talk, Words,
    fetch::line,
    speak::{Sending, send_all},
    telling::{self, ChatUpdate, told},
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
const AGAIN: Duration = Duration::from_secs(10);
/// How long events are gathered: one step of an agent causes several.
const GATHER: Duration = Duration::from_millis(200);

/// The state kept between looks.
struct Teller {
    bridge: Weak<ChatBridge>,
    service: ChatService,
    closing: CancellationToken,
    changes: watch::Receiver<u64>,
    /// The sessions with a chat.
    followed: HashSet<SessionId>,
    /// The account as last used; `None` after a change.
    line: Option<ServiceLink>,
    /// When the typing indicator was last shown, by chat.
    typed: HashMap<i64, Instant>,
}

pub(super) fn begin(bridge: &Arc<ChatBridge>, service: ChatService) {
    let closing = bridge.base.closing.clone();
    let chats = &bridge.chats;
    let (mut events, mut connection, led) = (bridge.base.store.published(), chats.watch(), chats.led());
    let mut other_processes = bridge.base.neighbours.watch();
    let mut reporter = Teller {
        bridge: Arc::downgrade(bridge),
        service,
        closing: closing.clone(),
        changes: chats.changes(),
        followed: HashSet::new(),
        line: None,
        typed: HashMap::new(),
    };
    tokio::spawn(async move {
        loop {
            if reporter.changes.has_changed().unwrap_or(true) {
                reporter.line = None;
            }
            reporter.changes.mark_unchanged();
            let wake = tokio::select! {
                () = closing.cancelled() => return,
                wait = reporter.look() => wait,
            };
            let outcome = match wake {
                Ok(Some(next_wait)) => next_wait,
                Ok(None) => return,
                Err(error) => {
                    tracing::warn!(%error, "chats could not be told of their sessions; it is tried again");
                    Wait::Hold(AGAIN)
                }
            };
            let waited = async {
                match outcome {
                    Wait::For(time) | Wait::Hold(time) => tokio::time::sleep(time).await,
                    Wait::ForNews => std::future::pending().await,
                }
            };
            // A delay requested by the service is never shortened.
            let hears = !matches!(outcome, Wait::Hold(_));
            tokio::select! {
                () = closing.cancelled() => return,
                changed = reporter.changes.changed() => {
                    reporter.line = None;
                    if changed.is_err() { return }
                }
                // The connection is back.
                _ = connection.changed(), if hears => {}
                () = led.notified(), if hears => {}
                changed = other_processes.changed(), if hears && !reporter.followed.is_empty() => {
                    if changed.is_err() { return }
                    tokio::time::sleep(GATHER).await;
                }
                () = moved(&mut events, &reporter.followed), if hears => tokio::time::sleep(GATHER).await,
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
    Hold(Duration),
}

/// Waits for an event in one of these sessions.
async fn moved(events: &mut Receiver<Arc<Envelope>>, followed: &HashSet<SessionId>) {
    loop {
        match events.recv().await {
            Ok(envelope) => match envelope.topic {
                StoredTopic::Session { id } if followed.contains(&id) => return,
                _ => {}
            },
            Err(RecvError::Lagged(_)) => return,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

impl Teller {
    /// Reports all news to every chat. Returns `None` once the application has ended.
    async fn look(&mut self) -> Result<Option<Wait>, ApiError> {
        let Some(bridge) = self.bridge.upgrade() else { return Ok(None) };
        self.followed.clear();
        let state = bridge.chats.state().await?;
        let service = self.service;
        let connection = bridge.chats.connection(service);
        let is_there = matches!(connection, ChatConnection::Connected | ChatConnection::Reconnecting { .. });
        if !is_there || state.people.is_empty() || !bridge.is_in_charge().await? {
            return Ok(Some(Wait::ForNews));
        }
        let link = match self.line.take() {
            Some(link) => Ok(link),
            None => line(&bridge, service).await,
        };
        let line = match link {
            Ok(line) => self.line.insert(line).clone(),
            Err(error) => {
                tracing::info!(%error, "chats cannot be told anything now");
                return Ok(Some(Wait::Hold(AGAIN)));
            }
        };
        let mut next_wait = Wait::ForNews;
        let chats = bridge.base.store.read(move |reader| reader.chats(service)).await;
        for chat in chats?.into_iter().filter(|chat| line.is_of(chat)) {
            let Some(session) = chat.session else { continue };
            self.followed.insert(session);
            let key = chat.key;
            match tell(&bridge, &line, chat, session, &self.closing, &mut self.changes).await? {
                Sending::Done => {}
                Sending::NotYet(delay) => return Ok(Some(Wait::Hold(delay))),
                Sending::Doubtful => return Ok(Some(Wait::For(AGAIN))),
            }
            if self.shows_writing(&bridge, &line, key, session).await? {
                next_wait = Wait::For(TYPING);
            }
        }
        Ok(Some(next_wait))
    }

    /// Shows the typing indicator if the session is working. Returns whether it is.
    async fn shows_writing(
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
        let is_shown = self.typed.get(&chat).is_some_and(|shown_at| shown_at.elapsed() < TYPING);
        if !is_shown {
            self.typed.insert(chat, Instant::now());
            if let Err(error) = line.client.typing(&row.person).await {
                tracing::debug!(%error, "that something is written is not shown");
            }
        }
        Ok(true)
    }
}

/// Reports the news to one chat.
async fn tell(
    bridge: &ChatBridge,
    line: &ServiceLink,
    mut chat: ChatRow,
    session: SessionId,
    closing: &CancellationToken,
    changes: &mut watch::Receiver<u64>,
) -> Result<Sending, ApiError> {
    let (store, words, key) = (&bridge.base.store, Words::of(bridge), chat.key);
    if let Some(seq) = chat.delivering_seq {
        let post = Post::plain(words.say("chat.answer_maybe_lost"));
        let recipient = Talk { bridge, line, chat: &chat };
        match send_all(&recipient, &[post], closing, changes).await {
            Sending::NotYet(delay) => return Ok(Sending::NotYet(delay)),
            // The doubt is reported only once.
            Sending::Done | Sending::Doubtful => {}
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
        let Some(last_seq) = events.last().map(|envelope| envelope.seq) else { return Ok(Sending::Done) };
        for envelope in events {
            let mut posts = match told(&envelope.event, words) {
                ChatUpdate::Nothing => continue,
                ChatUpdate::InChat => {
                    chat.last_from_window = false;
                    continue;
                }
                ChatUpdate::AtDesk(posts) => {
                    chat.last_from_window = true;
                    posts
                }
                ChatUpdate::Answer(message) => {
                    let result = store.read(move |reader| reader.message(session, message)).await;
                    let message = result?;
                    message.map(|message| telling::answer(&message, words)).unwrap_or_default()
                }
                ChatUpdate::Say(posts) => posts,
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
                // It continues with another session by now, or its person was removed.
                return Ok(Sending::Done);
            }
            let recipient = Talk { bridge, line, chat: &chat };
            let sending = send_all(&recipient, &posts, closing, changes).await;
            let from_window = chat.last_from_window;
            match sending {
                Sending::Done => {
                    let result =
                        store.write(move |tx| tx.finish_delivery(key, session, seq, from_window)).await;
                    if !result? {
                        return Ok(Sending::Done);
                    }
                    chat.delivered_seq = seq;
                }
                Sending::NotYet(delay) => {
                    // No delivery is in progress any more.
                    let previous_seq = seq.saturating_sub(1);
                    let result = store
                        .write(move |tx| tx.finish_delivery(key, session, previous_seq, from_window))
                        .await;
                    result?;
                    return Ok(Sending::NotYet(delay));
                }
                Sending::Doubtful => return Ok(Sending::Doubtful),
            }
        }
        let from_window = chat.last_from_window;
        let result = store.write(move |tx| tx.finish_delivery(key, session, last_seq, from_window)).await;
        if !result? {
            return Ok(Sending::Done);
        }
        chat.delivered_seq = last_seq;
    }
}
