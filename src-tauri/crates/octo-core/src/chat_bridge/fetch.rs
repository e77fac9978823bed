//! The task that receives messages: one long-polling request, repeated. Messages are written through to disk,
//! then handled; only then does it ask for more, which makes the service forget them.

use super::{
    ChatBridge, ServiceLink, Words,
    inbound::{self, PendingMessages},
    sending::{SendDelay, connection_after, pause, say},
};
use crate::chats::pairing::{Pairing, Stranger};
use octo_chats::{ChatClient as _, ChatError, InboundUpdate, POLL_TIME, Post, ServiceClient};
use octo_protocol::{
    ApiError, ChatAccount, ChatConnection, ChatService, ChatSettings, KeyState, Millis, Switch,
};
use octo_runtime::now;
use octo_store::{ChatRow, FetchPosition, Store};
use std::{
    sync::{Arc, Weak},
    time::Duration,
};
use tokio::sync::watch;

/// How long until the next check whether this process is in charge and whether a held message can proceed.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// How long without news until the service may restart its numbering ("at least a week"), in milliseconds; it
/// keeps no message for longer than a day, so no stored message can return by then.
const RENUMBERING_TIME: Millis = 6 * 24 * 60 * 60 * 1_000;

/// The next action.
enum FetchPlan {
    /// Request messages from this number on, and wait this long for them.
    Fetch(Option<i64>, Duration),
    /// Nothing, until a change or the end of this time.
    Wait(Option<Duration>),
}

/// What follows a round.
enum Pause {
    /// The next round, at once.
    None,
    /// The next round after a change, or at the end of this time.
    For(Option<Duration>),
    /// The application has ended.
    Closed,
}

/// The state kept between rounds.
struct Fetcher {
    bridge: Weak<ChatBridge>,
    service: ChatService,
    changes: watch::Receiver<u64>,
    /// Signals that another process of the home stored something.
    other_processes: watch::Receiver<u64>,
    delay: SendDelay,
    /// The account as of the last request; `None` after a change.
    link: Option<ServiceLink>,
    pending: PendingMessages,
}

pub(super) fn begin(bridge: &Arc<ChatBridge>, service: ChatService) {
    let closing = bridge.base.shutdown.clone();
    let mut fetcher = Fetcher {
        bridge: Arc::downgrade(bridge),
        service,
        changes: bridge.chats.changes(),
        other_processes: bridge.base.other_processes.watch(),
        delay: SendDelay::default(),
        link: None,
        pending: PendingMessages::default(),
    };
    tokio::spawn(async move {
        loop {
            if fetcher.changes.has_changed().unwrap_or(true) {
                fetcher.link = None;
            }
            fetcher.changes.mark_unchanged();
            let pause = tokio::select! {
                () = closing.cancelled() => return,
                pause = fetcher.run_round() => pause,
            };
            let wait = match pause {
                Pause::None => continue,
                Pause::Closed => return,
                Pause::For(wait) => wait,
            };
            let waited = async {
                match wait {
                    Some(wait) => tokio::time::sleep(wait).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = closing.cancelled() => return,
                changed = fetcher.changes.changed() => {
                    fetcher.link = None;
                    if changed.is_err() { return }
                }
                // Another window may have configured it.
                changed = fetcher.other_processes.changed(), if wait.is_none() => if changed.is_err() { return },
                () = waited => {}
            }
        }
    });
}

impl Fetcher {
    async fn run_round(&mut self) -> Pause {
        let Some(bridge) = self.bridge.upgrade() else { return Pause::Closed };
        let (next, timeout) = match self.plan(&bridge).await {
            Ok(FetchPlan::Fetch(next, timeout)) => (next, timeout),
            Ok(FetchPlan::Wait(delay)) => return Pause::For(delay),
            Err(error) => return self.report_error(&bridge, &error),
        };
        let Some(line) = self.link.clone() else { return Pause::None };
        // Messages stored but not handled by an earlier process or round.
        if let Err(error) = inbound::handle_all(&bridge, &line, &mut self.pending).await {
            return self.report_error(&bridge, &ChatError::Local(error));
        }
        let timeout = if self.pending.is_empty() { timeout } else { timeout.min(CHECK_INTERVAL) };
        let (store, settings) = (bridge.base.store.clone(), bridge.chats.stored_settings());
        // Not kept during the wait, so that a dropped application can end.
        drop(bridge);
        let changes = tokio::select! {
            _ = self.changes.changed() => {
                self.link = None;
                return Pause::None;
            }
            () = chosen_elsewhere(&mut self.other_processes, &store, &settings) => return Pause::None,
            news = line.client.fetch_updates(next, timeout) => news,
        };
        let Some(bridge) = self.bridge.upgrade() else { return Pause::Closed };
        let batch = match changes {
            Ok(batch) => batch,
            Err(error) => return self.report_error(&bridge, &error),
        };
        match store_batch(&bridge, &line, batch).await {
            Ok(strangers) => {
                self.delay.over();
                bridge.chats.set_connection(self.service, ChatConnection::Connected);
                for stranger in strangers {
                    greet(&bridge, &line, stranger).await;
                }
                Pause::None
            }
            // None of it was stored: it will be fetched again.
            Err(error) => self.report_error(&bridge, &ChatError::Local(error)),
        }
    }

    fn report_error(&mut self, bridge: &ChatBridge, error: &ChatError) -> Pause {
        tracing::info!(%error, "a chat service cannot be asked");
        self.link = None;
        let delay = pause(error, &mut self.delay);
        let retry_at = now() + Millis::try_from(delay.as_millis()).unwrap_or(0);
        let connection = connection_after(error, retry_at);
        let is_over = matches!(connection, ChatConnection::Refused { .. });
        bridge.chats.set_connection(self.service, connection);
        Pause::For((!is_over).then_some(delay))
    }

    async fn plan(&mut self, bridge: &ChatBridge) -> Result<FetchPlan, ChatError> {
        bridge.chats.reload_settings().await.map_err(ChatError::Local)?;
        let service = self.service;
        let Some(settings) = bridge.chats.service(service).filter(|settings| settings.on == Switch::On)
        else {
            bridge.chats.set_connection(self.service, ChatConnection::Off);
            return Ok(FetchPlan::Wait(None));
        };
        if settings.token == KeyState::Missing {
            return Err(ChatError::Connection(ApiError::new("chat.token_missing")));
        }
        if !bridge.is_in_charge().await.map_err(ChatError::Local)? {
            bridge.chats.set_connection(self.service, ChatConnection::Elsewhere);
            return Ok(FetchPlan::Wait(Some(CHECK_INTERVAL)));
        }
        let line = match self.link.take() {
            Some(line) => line,
            None => connect(bridge, service).await?,
        };
        let account = line.account.clone();
        self.link = Some(line);
        if settings.bot.as_ref() != Some(&account) {
            bridge.learn_account(service, account.clone()).await.map_err(ChatError::Local)?;
        }
        let fetched = bridge.base.store.read(move |reader| reader.fetch_position(service, &account.id)).await;
        let fetched = fetched.map_err(|error| ChatError::Local(error.into()))?;
        // A time in the future is from a clock that was ahead.
        let is_fresh =
            |fetched: &FetchPosition| (0..RENUMBERING_TIME).contains(&(now() - fetched.fetched_at));
        let next = fetched.filter(is_fresh).map(|fetched| fetched.next_update);
        // Without a wait the request shows at once whether the connection works.
        let delay = match bridge.chats.connection(service) {
            ChatConnection::Connected => POLL_TIME,
            ChatConnection::Reconnecting { .. } => Duration::ZERO,
            ChatConnection::Off
            | ChatConnection::Connecting
            | ChatConnection::Elsewhere
            | ChatConnection::Refused { .. } => {
                bridge.chats.set_connection(self.service, ChatConnection::Connecting);
                Duration::ZERO
            }
        };
        Ok(FetchPlan::Fetch(next, delay))
    }
}

/// SendDelay until another process of the home stored different settings.
async fn chosen_elsewhere(
    other_processes: &mut watch::Receiver<u64>,
    store: &Store,
    current_settings: &ChatSettings,
) {
    loop {
        if other_processes.changed().await.is_err() {
            return std::future::pending().await;
        }
        if store
            .read(|reader| reader.settings())
            .await
            .is_ok_and(|settings| settings.chats != *current_settings)
        {
            return;
        }
    }
}

/// Returns the account in the settings. Asks the service for its name if the token was never tested or belongs
/// to another account than the settings say.
pub(super) async fn connect(bridge: &ChatBridge, service: ChatService) -> Result<ServiceLink, ChatError> {
    let missing_token = || ChatError::Connection(ApiError::new("chat.token_missing"));
    let settings = bridge.chats.service(service).ok_or_else(missing_token)?;
    let server = settings.server.as_deref();
    let token = bridge.chats.token(service, server).await.map_err(|error| match error.key.as_str() {
        "key.not_read" => ChatError::Local(error),
        _ => ChatError::Connection(error),
    })?;
    let client = ServiceClient::new(service, &bridge.models.network_config(), server, token)?;
    let account = match settings.bot.filter(|account| client.known_id() == Some(&*account.id)) {
        Some(account) => account,
        None => {
            let bot = client.account().await?;
            ChatAccount { id: bot.id, name: bot.name }
        }
    };
    Ok(ServiceLink { client, account })
}

/// Stores the messages of admitted people and the fetch position; returns the people who are not admitted.
async fn store_batch(
    bridge: &ChatBridge,
    line: &ServiceLink,
    batch: Vec<InboundUpdate>,
) -> Result<Vec<Stranger>, ApiError> {
    let Some(last_number) = batch.iter().map(|update| update.number).max() else { return Ok(Vec::new()) };
    let fetched = FetchPosition { next_update: last_number.saturating_add(1), fetched_at: now() };
    let (service, account) = (line.client.service(), line.account.id.clone());
    let mut letters: Vec<(octo_chats::Person, String)> = Vec::new();
    for update in batch {
        if let (Some(sender), Some(content)) = (update.from, update.content) {
            let json =
                serde_json::to_string(&content).map_err(|error| ApiError::new("internal").detail(error))?;
            letters.push((sender, json));
        }
    }
    // The service forgets it with the next request: by then it must survive a power cut.
    let result = bridge.base.store.write_through(move |tx| {
        let chats: Vec<ChatRow> =
            tx.chats(service)?.into_iter().filter(|chat| chat.account == account).collect();
        let mut strangers: Vec<Stranger> = Vec::new();
        let mut rows = Vec::new();
        for (sender, json) in letters {
            match chats.iter().find(|chat| chat.person == sender.id) {
                Some(chat) => rows.push((chat.key, json)),
                None => {
                    let stranger =
                        Stranger { account: account.clone(), person: sender.id, name: sender.name };
                    if !strangers.contains(&stranger) {
                        strangers.push(stranger);
                    }
                }
            }
        }
        tx.add_inbound_messages(service, &account, fetched, &rows)?;
        Ok(strangers)
    });
    result.await.map_err(ApiError::from)
}

/// Sends a person who is not admitted their code, and nothing else.
async fn greet(bridge: &ChatBridge, line: &ServiceLink, stranger: Stranger) {
    let random = *uuid::Uuid::new_v4().as_bytes();
    // The middle bytes of such an id encode its version.
    let code_bytes =
        [random[0], random[1], random[2], random[3], random[4], random[5], random[14], random[15]];
    let person = stranger.person.clone();
    let result = bridge.base.store.write(move |tx| {
        let mut pairing = Pairing(tx.pairing_codes()?);
        let previous = pairing.clone();
        let code = pairing.request_code(stranger, now(), code_bytes);
        if pairing != previous {
            tx.replace_pairing_codes(&pairing.0)?;
        }
        Ok(code)
    });
    match result.await {
        Ok(Some(code)) => {
            let post = Post::plain(Words::of(bridge).fill("chat.code", &[("code", &code)]));
            say(bridge, line, &person, post).await;
        }
        Ok(None) => {}
        Err(error) => tracing::warn!(%error, "a stranger in a chat was told no code"),
    }
}
