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
    let mut beside = bridge.base.neighbours.watch();
    let mut teller = Teller {
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
            if teller.changes.has_changed().unwrap_or(true) {
                teller.line = None;
            }
            teller.changes.mark_unchanged();
            let wait = tokio::select! {
                () = closing.cancelled() => return,
                wait = teller.look() => wait,
            };
            let wait = match wait {
                Ok(Some(wait)) => wait,
                Ok(None) => return,
                Err(error) => {
                    tracing::warn!(%error, "chats could not be told of their sessions; it is tried again");
                    Wait::Hold(AGAIN)
                }
            };
            let over = async {
                match wait {
                    Wait::For(time) | Wait::Hold(time) => tokio::time::sleep(time).await,
                    Wait::ForNews => std::future::pending().await,
                }
            };
            // A delay requested by the service is never shortened.
            let hears = !matches!(wait, Wait::Hold(_));
            tokio::select! {
                () = closing.cancelled() => return,
                changed = teller.changes.changed() => {
                    teller.line = None;
                    if changed.is_err() { return }
                }
                // The connection is back.
                _ = connection.changed(), if hears => {}
                () = led.notified(), if hears => {}
                changed = beside.changed(), if hears && !teller.followed.is_empty() => {
                    if changed.is_err() { return }
                    tokio::time::sleep(GATHER).await;
                }
                () = moved(&mut events, &teller.followed), if hears => tokio::time::sleep(GATHER).await,
                () = over => {}
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
        let known = match self.line.take() {
            Some(known) => Ok(known),
            None => line(&bridge, service).await,
        };
        let line = match known {
            Ok(line) => self.line.insert(line).clone(),
            Err(error) => {
                tracing::info!(%error, "chats cannot be told anything now");
                return Ok(Some(Wait::Hold(AGAIN)));
            }
        };
        let mut wait = Wait::ForNews;
        let chats = bridge.base.store.read(move |reader| reader.chats(service)).await;
        for chat in chats?.into_iter().filter(|chat| line.is_of(chat)) {
            let Some(session) = chat.session else { continue };
            self.followed.insert(session);
            let key = chat.key;
            match tell(&bridge, &line, chat, session, &self.closing, &mut self.changes).await? {
                Sending::Done => {}
                Sending::NotYet(wait) => return Ok(Some(Wait::Hold(wait))),
                Sending::Doubtful => return Ok(Some(Wait::For(AGAIN))),
            }
            if self.shows_writing(&bridge, &line, key, session).await? {
                wait = Wait::For(TYPING);
            }
        }
        Ok(Some(wait))
    }

    /// Shows the typing indicator if the session is working. Returns whether it is.
    async fn shows_writing(
        &mut self,
        bridge: &ChatBridge,
        line: &ServiceLink,
        chat: i64,
        session: SessionId,
    ) -> Result<bool, ApiError> {
        let read = bridge.base.store.read(move |reader| Ok((reader.session(session)?, reader.chat(chat)?)));
        let (Some(info), Some(row)) = read.await? else { return Ok(false) };
        if info.status != SessionStatus::Running || row.last_from_window {
            return Ok(false);
        }
        let is_shown = self.typed.get(&chat).is_some_and(|at| at.elapsed() < TYPING);
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
        let talk = Talk { bridge, line, chat: &chat };
        match send_all(&talk, &[post], closing, changes).await {
            Sending::NotYet(wait) => return Ok(Sending::NotYet(wait)),
            // The doubt is reported only once.
            Sending::Done | Sending::Doubtful => {}
        }
        let at_desk = chat.last_from_window;
        store.write(move |tx| tx.finish_delivery(key, session, seq, at_desk)).await?;
        (chat.delivered_seq, chat.delivering_seq) = (seq, None);
    }
    let topic = StoredTopic::Session { id: session };
    loop {
        let from = chat.delivered_seq;
        let events = store.read(move |reader| reader.events_since(&topic, from, BATCH)).await;
        let events = events?;
        let Some(last) = events.last().map(|envelope| envelope.seq) else { return Ok(Sending::Done) };
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
                    let read = store.read(move |reader| reader.message(session, message)).await;
                    let message = read?;
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
            let telling = store.write_through(move |tx| tx.begin_delivery(key, session, seq)).await;
            if !telling? {
                // It continues with another session by now, or its person was removed.
                return Ok(Sending::Done);
            }
            let talk = Talk { bridge, line, chat: &chat };
            let sending = send_all(&talk, &posts, closing, changes).await;
            let at_desk = chat.last_from_window;
            match sending {
                Sending::Done => {
                    let told = store.write(move |tx| tx.finish_delivery(key, session, seq, at_desk)).await;
                    if !told? {
                        return Ok(Sending::Done);
                    }
                    chat.delivered_seq = seq;
                }
                Sending::NotYet(wait) => {
                    // No delivery is in progress any more.
                    let before = seq.saturating_sub(1);
                    let told = store.write(move |tx| tx.finish_delivery(key, session, before, at_desk)).await;
                    told?;
                    return Ok(Sending::NotYet(wait));
                }
                Sending::Doubtful => return Ok(Sending::Doubtful),
            }
        }
        let at_desk = chat.last_from_window;
        let told = store.write(move |tx| tx.finish_delivery(key, session, last, at_desk)).await;
        if !told? {
            return Ok(Sending::Done);
        }
        chat.delivered_seq = last;
    }
}
