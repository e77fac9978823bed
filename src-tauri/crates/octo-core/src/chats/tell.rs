//! The part that waits for what sessions do, and says it in their chats.
//!
//! How far a chat was told is a number of its session's events. Before anything is sent it is stored that it is being
//! sent, and afterwards that it was: where a process ended in between, nobody knows whether it arrived, and what is said
//! then is that, not the answer a second time.

use super::{
    Line, Talk, Words,
    fetch::line,
    is_in_charge,
    speak::{Sending, send_all},
    telling::{self, Told, told},
};
use crate::octo::{FaintOcto, Octo};
use octo_chats::Post;
use octo_protocol::{ApiError, ChatConnection, ChatService, Envelope, SessionId, SessionStatus, Topic};
use octo_store::ChatRow;
use std::{collections::HashSet, sync::Arc, time::Duration};
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio_util::sync::CancellationToken;

/// Events that are read at once.
const BATCH: u32 = 100;
/// How long the service shows that something is being written, and a little less.
const TYPING: Duration = Duration::from_secs(4);
/// How long until another look where something could not be read or said.
const AGAIN: Duration = Duration::from_secs(10);

pub(super) fn begin(octo: &Octo, closing: CancellationToken) {
    let (faint, chats, mut events) = (octo.faint(), &octo.shared().chats, octo.events());
    let (mut changes, mut connection, led) = (chats.changes(), chats.watch(), chats.led());
    tokio::spawn(async move {
        let mut followed = HashSet::new();
        loop {
            changes.mark_unchanged();
            let wait = tokio::select! {
                () = closing.cancelled() => return,
                wait = look(&faint, &mut followed, &closing) => wait,
            };
            let wait = match wait {
                Ok(Some(wait)) => wait,
                Ok(None) => return,
                Err(error) => {
                    tracing::warn!(%error, "chats could not be told of their sessions; it is tried again");
                    Wait::For(AGAIN)
                }
            };
            let over = async {
                match wait {
                    Wait::For(time) => tokio::time::sleep(time).await,
                    Wait::ForNews => std::future::pending().await,
                }
            };
            tokio::select! {
                () = closing.cancelled() => return,
                changed = changes.changed() => if changed.is_err() { return },
                // The connection is there again.
                _ = connection.recv() => {}
                () = led.notified() => {}
                () = moved(&mut events, &followed) => {}
                () = over => {}
            }
        }
    });
}

enum Wait {
    ForNews,
    For(Duration),
}

/// Waits until something happened in one of these sessions.
async fn moved(events: &mut Receiver<Arc<Envelope>>, followed: &HashSet<SessionId>) {
    loop {
        match events.recv().await {
            Ok(envelope) => match envelope.topic {
                Topic::Session { id } if followed.contains(&id) => return,
                _ => {}
            },
            Err(RecvError::Lagged(_)) => return,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

/// Tells every chat what it was not told; none once the application is gone.
async fn look(
    faint: &FaintOcto,
    followed: &mut HashSet<SessionId>,
    closing: &CancellationToken,
) -> Result<Option<Wait>, ApiError> {
    let Some(octo) = faint.whole() else { return Ok(None) };
    followed.clear();
    let state = super::Chats::state(octo.shared()).await?;
    let is_there = matches!(state.telegram, ChatConnection::Connected | ChatConnection::Reconnecting { .. });
    if !is_there || state.people.is_empty() || !is_in_charge(&octo).await? {
        return Ok(Some(Wait::ForNews));
    }
    let line = match line(&octo).await {
        Ok(line) => line,
        Err(error) => {
            tracing::info!(%error, "chats cannot be told anything now");
            return Ok(Some(Wait::For(AGAIN)));
        }
    };
    let mut wait = Wait::ForNews;
    let chats = octo.shared().store.read(|reader| reader.chats(ChatService::Telegram)).await;
    for chat in chats.map_err(ApiError::from)?.into_iter().filter(|chat| line.is_of(chat)) {
        let Some(session) = chat.session else { continue };
        followed.insert(session);
        match tell(&octo, &line, chat, session, closing).await? {
            Sending::Done => {}
            Sending::NotYet(wait) => return Ok(Some(Wait::For(wait))),
            Sending::Doubtful => return Ok(Some(Wait::For(AGAIN))),
        }
        if is_writing(&octo, &line, session).await? {
            wait = Wait::For(TYPING);
        }
    }
    Ok(Some(wait))
}

/// Tells one chat what it was not told.
async fn tell(
    octo: &Octo,
    line: &Line,
    mut chat: ChatRow,
    session: SessionId,
    closing: &CancellationToken,
) -> Result<Sending, ApiError> {
    let (store, words, key) = (&octo.shared().store, Words::of(octo), chat.key);
    if let Some(seq) = chat.telling {
        let post = Post::plain(words.say("chat.maybe_lost"));
        let talk = Talk { octo, line, chat: &chat };
        match send_all(&talk, &[post], closing).await {
            Sending::NotYet(wait) => return Ok(Sending::NotYet(wait)),
            // That it may be missing is not said for ever.
            Sending::Done | Sending::Doubtful => {}
        }
        let at_desk = chat.at_desk;
        store.write(move |tx| tx.chat_told(key, session, seq, at_desk)).await.map_err(ApiError::from)?;
        (chat.told, chat.telling) = (seq, None);
    }
    let topic = Topic::Session { id: session };
    loop {
        let from = chat.told;
        let events = store.read(move |reader| reader.events_since(&topic, from, BATCH)).await;
        let events = events.map_err(ApiError::from)?;
        let Some(last) = events.last().map(|envelope| envelope.seq) else { return Ok(Sending::Done) };
        for envelope in events {
            let mut posts = match told(&envelope.event, words) {
                Told::Nothing => continue,
                Told::InChat => {
                    chat.at_desk = false;
                    continue;
                }
                Told::AtDesk(posts) => {
                    chat.at_desk = true;
                    posts
                }
                Told::Answer(message) => {
                    let read = store.read(move |reader| reader.message(session, message)).await;
                    let message = read.map_err(ApiError::from)?;
                    message.map(|message| telling::answer(&message, words)).unwrap_or_default()
                }
                Told::Say(posts) => posts,
            };
            if posts.is_empty() {
                continue;
            }
            for post in &mut posts {
                // Whoever sits before the window needs no sound.
                post.silent |= chat.at_desk;
            }
            let seq = envelope.seq;
            store.write(move |tx| tx.chat_telling(key, session, seq)).await.map_err(ApiError::from)?;
            let talk = Talk { octo, line, chat: &chat };
            let sending = send_all(&talk, &posts, closing).await;
            let at_desk = chat.at_desk;
            match sending {
                Sending::Done => {
                    let told = store.write(move |tx| tx.chat_told(key, session, seq, at_desk)).await;
                    told.map_err(ApiError::from)?;
                    chat.told = seq;
                }
                Sending::NotYet(wait) => {
                    // Nothing is on its way any more.
                    let before = seq.saturating_sub(1);
                    let told = store.write(move |tx| tx.chat_told(key, session, before, at_desk)).await;
                    told.map_err(ApiError::from)?;
                    return Ok(Sending::NotYet(wait));
                }
                Sending::Doubtful => return Ok(Sending::Doubtful),
            }
        }
        let at_desk = chat.at_desk;
        store.write(move |tx| tx.chat_told(key, session, last, at_desk)).await.map_err(ApiError::from)?;
        chat.told = last;
    }
}

/// Shows that the session works, where it does. Whether it does.
async fn is_writing(octo: &Octo, line: &Line, session: SessionId) -> Result<bool, ApiError> {
    let read = octo.shared().store.read(move |reader| {
        let Some(info) = reader.session(session)? else { return Ok(None) };
        let chats = reader.chats(ChatService::Telegram)?;
        Ok(Some((info, chats.into_iter().find(|chat| chat.session == Some(session)))))
    });
    let Some((info, Some(chat))) = read.await.map_err(ApiError::from)? else { return Ok(false) };
    if info.status != SessionStatus::Running || chat.at_desk {
        return Ok(false);
    }
    if let Err(error) = line.telegram.typing(&chat.person).await {
        tracing::debug!(%error, "that something is written is not shown");
    }
    Ok(true)
}
