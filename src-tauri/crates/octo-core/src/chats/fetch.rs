//! The part that waits for what people write: one request that the service holds open, again and again. What comes is
//! stored, then handed on; only then is more asked for, by which the service forgets what was stored.

use super::{
    Line, Talk, Words, hand, is_in_charge,
    pairing::Stranger,
    setting::Chats,
    speak::{Waits, connection},
};
use crate::{
    octo::{FaintOcto, Octo},
    session::now,
};
use octo_chats::{ChatError, Incoming, POLL, Post, Telegram};
use octo_protocol::{ApiError, ChatAccount, ChatConnection, ChatService, KeyState, Millis, Switch};
use octo_store::{ChatRow, Fetched};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long until another look whether this process is in charge by now.
const LOOK: Duration = Duration::from_secs(5);
/// After how long without news the service may number anew ("at least a week"), in milliseconds; it keeps none for longer
/// than a day, so that nothing that was stored can come again by then.
const NUMBERED_ANEW: Millis = 6 * 24 * 60 * 60 * 1_000;

/// What is to be done next.
enum Plan {
    /// Ask for news, from this number on, and wait so long for them.
    Ask(Line, Option<i64>, Duration),
    /// Nothing, until something changes or this is over.
    Rest(Option<Duration>),
}

pub(super) fn begin(octo: &Octo, closing: CancellationToken) {
    let (faint, mut changes) = (octo.faint(), octo.shared().chats.changes());
    tokio::spawn(async move {
        let mut waits = Waits::default();
        loop {
            changes.mark_unchanged();
            let pause = tokio::select! {
                () = closing.cancelled() => return,
                pause = round(&faint, &mut waits, &mut changes) => pause,
            };
            match pause {
                Pause::None => {}
                Pause::Gone => return,
                Pause::For(wait) => {
                    let over = async {
                        match wait {
                            Some(wait) => tokio::time::sleep(wait).await,
                            None => std::future::pending().await,
                        }
                    };
                    tokio::select! {
                        () = closing.cancelled() => return,
                        changed = changes.changed() => if changed.is_err() { return },
                        () = over => {}
                    }
                }
            }
        }
    });
}

/// What lies before the next round.
enum Pause {
    None,
    For(Option<Duration>),
    /// The application is gone.
    Gone,
}

async fn round(
    faint: &FaintOcto,
    waits: &mut Waits,
    changes: &mut tokio::sync::watch::Receiver<u64>,
) -> Pause {
    let Some(octo) = faint.whole() else { return Pause::Gone };
    let planned = plan(&octo).await;
    let (line, next, wait) = match planned {
        Ok(Plan::Ask(line, next, wait)) => (line, next, wait),
        Ok(Plan::Rest(wait)) => return Pause::For(wait),
        Err(error) => return trouble(&octo, &error, waits),
    };
    // What an earlier process stored and did not hand on.
    if let Err(error) = hand::all(&octo, &line).await {
        tracing::warn!(%error, "what was written in a chat is not handed on yet");
        return Pause::For(Some(waits.next()));
    }
    // Not held while it waits: an application that is dropped goes.
    drop(octo);
    let news = tokio::select! {
        _ = changes.changed() => return Pause::None,
        news = line.telegram.news(next, wait) => news,
    };
    let Some(octo) = faint.whole() else { return Pause::Gone };
    let kept = match news {
        Ok(batch) => {
            waits.over();
            Chats::is_now(octo.shared(), ChatConnection::Connected);
            keep(&octo, &line, batch).await
        }
        Err(error) => return trouble(&octo, &error, waits),
    };
    match kept {
        Ok(strangers) => {
            for stranger in strangers {
                greet(&octo, &line, stranger).await;
            }
            Pause::None
        }
        // Nothing of it was stored: it is fetched again.
        Err(error) => {
            tracing::warn!(%error, "what was written in a chat cannot be stored; it is fetched again");
            Pause::For(Some(waits.next()))
        }
    }
}

fn trouble(octo: &Octo, error: &ChatError, waits: &mut Waits) -> Pause {
    tracing::info!(%error, "a chat service cannot be asked");
    let wait = Chats::pause(error, waits);
    let at = now() + Millis::try_from(wait.as_millis()).unwrap_or(0);
    let connection = connection(error, at);
    let is_over = matches!(connection, ChatConnection::Refused { .. });
    Chats::is_now(octo.shared(), connection);
    Pause::For((!is_over).then_some(wait))
}

async fn plan(octo: &Octo) -> Result<Plan, ChatError> {
    let shared = octo.shared();
    let of_store = |error: ApiError| ChatError::Unreachable(error.to_string());
    let on = shared.chats.telegram().filter(|telegram| telegram.on == Switch::On);
    let Some(telegram) = on.filter(|telegram| telegram.token != KeyState::Missing) else {
        Chats::is_now(shared, ChatConnection::Off);
        return Ok(Plan::Rest(None));
    };
    if !is_in_charge(octo).await.map_err(of_store)? {
        Chats::is_now(shared, ChatConnection::Elsewhere);
        return Ok(Plan::Rest(Some(LOOK)));
    }
    let line = line(octo).await?;
    let (service, account) = (ChatService::Telegram, line.account.id.clone());
    let fetched = shared.store.read(move |reader| reader.fetched(service, &account)).await;
    let fetched = fetched.map_err(|error| of_store(error.into()))?;
    let next = fetched.filter(|fetched| now() - fetched.at < NUMBERED_ANEW).map(|fetched| fetched.next);
    if telegram.bot.as_ref() != Some(&line.account) {
        octo.learn_bot(line.account.clone()).await.map_err(of_store)?;
    }
    // Whether it works is known at once where nothing is waited for.
    let wait = match Chats::state(shared).await.map_err(of_store)?.telegram {
        ChatConnection::Connected => POLL,
        ChatConnection::Reconnecting { .. } => Duration::ZERO,
        ChatConnection::Off
        | ChatConnection::Connecting
        | ChatConnection::Elsewhere
        | ChatConnection::Refused { .. } => {
            Chats::is_now(shared, ChatConnection::Connecting);
            Duration::ZERO
        }
    };
    Ok(Plan::Ask(line, next, wait))
}

/// The account as the settings have it; asked for its name where nobody tested the token.
pub(super) async fn line(octo: &Octo) -> Result<Line, ChatError> {
    let shared = octo.shared();
    let missing = || ChatError::Way(ApiError::new("chat.token_missing"));
    let settings = shared.chats.telegram().ok_or_else(missing)?;
    let server = settings.server.as_deref();
    let token = shared.chats.token(server).await.map_err(ChatError::Way)?;
    let telegram = Telegram::new(&shared.models.reach(), server, token)?;
    let account = match settings.bot {
        Some(bot) => bot,
        None => {
            let bot = telegram.me().await?;
            ChatAccount { id: bot.id, name: bot.name }
        }
    };
    Ok(Line { telegram, account })
}

/// Stores what people who are let in wrote, and how far it was fetched; those who are not.
async fn keep(octo: &Octo, line: &Line, batch: Vec<Incoming>) -> Result<Vec<Stranger>, ApiError> {
    let Some(last) = batch.iter().map(|one| one.number).max() else { return Ok(Vec::new()) };
    let fetched = Fetched { next: last.saturating_add(1), at: now() };
    let account = line.account.id.clone();
    let mut letters: Vec<(octo_chats::Person, String)> = Vec::new();
    for one in batch {
        if let (Some(from), Some(letter)) = (one.from, one.letter) {
            let json =
                serde_json::to_string(&letter).map_err(|error| ApiError::new("internal").detail(error))?;
            letters.push((from, json));
        }
    }
    let written = octo.shared().store.write(move |tx| {
        let service = ChatService::Telegram;
        let known: Vec<ChatRow> =
            tx.chats(service)?.into_iter().filter(|chat| chat.account == account).collect();
        let mut strangers: Vec<Stranger> = Vec::new();
        let mut rows = Vec::new();
        for (from, json) in letters {
            match known.iter().find(|chat| chat.person == from.id) {
                Some(chat) => rows.push((chat.key, json)),
                None => {
                    let stranger = Stranger { account: account.clone(), person: from.id, name: from.name };
                    if !strangers.contains(&stranger) {
                        strangers.push(stranger);
                    }
                }
            }
        }
        tx.keep_letters(service, &account, fetched, &rows)?;
        Ok(strangers)
    });
    written.await.map_err(ApiError::from)
}

/// Tells somebody who is not let in their code, and nothing else.
async fn greet(octo: &Octo, line: &Line, stranger: Stranger) {
    let chance = *uuid::Uuid::new_v4().as_bytes();
    // The bytes in the middle of such an id say what kind it is.
    let chance = [chance[0], chance[1], chance[2], chance[3], chance[4], chance[5], chance[14], chance[15]];
    let person = stranger.person.clone();
    let code = octo.shared().chats.pairing(|pairing| pairing.ask(stranger.clone(), now(), chance));
    let Some(code) = code else { return };
    let post = Post::plain(Words::of(octo).fill("chat.code", &[("code", &code)]));
    let chat = ChatRow {
        key: 0,
        service: ChatService::Telegram,
        account: stranger.account,
        person,
        name: stranger.name,
        paired_at: 0,
        session: None,
        told: 0,
        telling: None,
        at_desk: false,
    };
    Talk { octo, line, chat: &chat }.say(post).await;
}
