//! Chat services a person can write to Octo through: their settings, how they are, and the token, which is in the
//! keychain, bound to the host of its server. What listens and speaks is [`crate::chat_bridge`], above sessions.

pub(crate) mod pairing;

use octo_keys::{KeyRing, SecretKind};
use pairing::Pairing;

use crate::updates::Updates;
use octo_chats::{Telegram, server_address};
use octo_llm::Network;
use octo_protocol::{
    ApiError, ChatAccount, ChatConnection, ChatService, ChatSettings, ChatState, KeyState, PairedPerson,
    Secret, StoredTopic, Switch, TelegramDraft, TelegramSettings, Update,
};
use octo_runtime::{Change, now};
use octo_store::Store;
use octo_workspace::session_folder;
use secrecy::SecretString;
use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::{Notify, watch};

/// The keychain owner of the token, next to models and search providers.
const OWNER: &str = "telegram";

/// The chat state shared by all parts of the application.
pub(crate) struct Chats {
    store: Store,
    keys: KeyRing,
    settings: Mutex<ChatSettings>,
    connection: Mutex<ChatConnection>,
    /// Counts changes of the settings: waiting tasks start over.
    changed: watch::Sender<u64>,
    /// Signals that a chat continues with another session.
    led: Arc<Notify>,
    /// Signals a change of the chat state.
    told: Change,
    updates: Updates,
}

impl Chats {
    pub(crate) fn new(store: Store, keys: KeyRing, settings: &ChatSettings, updates: Updates) -> Self {
        Self {
            store,
            keys,
            settings: Mutex::new(settings.clone()),
            connection: Mutex::new(ChatConnection::Off),
            changed: watch::Sender::new(0),
            led: Arc::default(),
            told: Change::default(),
            updates,
        }
    }

    /// Puts stored settings into effect.
    pub(crate) fn follow(&self, settings: &ChatSettings) {
        let mut known = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        if *known != *settings {
            *known = settings.clone();
            drop(known);
            self.changed();
        }
    }

    /// Makes waiting tasks start over, because the token, the people or the proxy changed.
    pub(crate) fn changed(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    /// Returns the signal that a chat continues with another session.
    pub(crate) fn led(&self) -> Arc<Notify> {
        Arc::clone(&self.led)
    }

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Adapts stored settings to this run: a token kept only for an earlier run is lost.
    pub(crate) fn as_of_now(&self, mut settings: ChatSettings) -> ChatSettings {
        if let Some(telegram) = &mut settings.telegram {
            let held = server_address(telegram.server.as_deref())
                .is_ok_and(|(_, host)| self.keys.holds(OWNER, &host, SecretKind::Key));
            if matches!(telegram.token, KeyState::ThisRun { .. }) && !held {
                telegram.token = KeyState::Missing;
            }
        }
        settings
    }

    /// Returns the stored settings as this process knows them.
    pub(crate) fn stored(&self) -> ChatSettings {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the Telegram settings as this process knows them.
    pub(crate) fn telegram(&self) -> Option<TelegramSettings> {
        self.as_of_now(self.stored()).telegram
    }

    /// Puts settings into effect that another process of the home may have chosen.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) async fn look(&self) -> Result<(), ApiError> {
        let stored = self.store.read(|reader| reader.settings()).await?;
        self.follow(&stored.chats);
        Ok(())
    }

    /// Subscribes to changes of the chat state.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.told.watch()
    }

    /// Returns the current chat state.
    pub(crate) async fn state(&self) -> Result<ChatState, ApiError> {
        let rows = self.store.read(|reader| reader.chats(ChatService::Telegram));
        let rows = rows.await?;
        let account = self.telegram().and_then(|telegram| telegram.bot).map(|bot| bot.id);
        let people = rows.into_iter().filter(|row| Some(&row.account) == account.as_ref()).map(|row| {
            PairedPerson { key: row.key, service: row.service, name: row.name, paired_at: row.paired_at }
        });
        let telegram = self.connection.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(ChatState { telegram, people: people.collect() })
    }

    /// Sets the state of the connection and notifies watchers if it changed.
    pub(crate) fn is_now(self: &Arc<Self>, connection: ChatConnection) {
        let mut known = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = *known != connection;
        *known = connection;
        drop(known);
        if changed {
            self.tell();
        }
    }

    /// Notifies watchers of the current state.
    pub(crate) fn tell(self: &Arc<Self>) {
        let chats = Arc::clone(self);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            if let Ok(state) = chats.state().await {
                chats.updates.send(StoredTopic::Settings, Update::Chats { state: Box::new(state) });
                chats.told.notify();
            }
        });
    }

    /// Returns the bot a draft refers to.
    ///
    /// # Errors
    /// `chat.*`: the fault of the draft or of the connection to the service.
    pub(crate) async fn test(
        &self,
        network: &Network,
        draft: &TelegramDraft,
    ) -> Result<ChatAccount, ApiError> {
        let token = match given(draft) {
            Some(token) => SecretString::from(token.expose().to_owned()),
            None => self.token(draft.server.as_deref()).await?,
        };
        let bot = async { Telegram::new(network, draft.server.as_deref(), token)?.me().await };
        let bot = bot.await.map_err(|error| error.to_api())?;
        Ok(ChatAccount { id: bot.id, name: bot.name })
    }

    /// Converts a draft into settings and saves its token. Stores nothing else yet.
    ///
    /// # Errors
    /// `chat.server_wrong`, `chat.token_missing`, `session.folder_*`, `key.not_saved`.
    pub(crate) async fn accept(
        &self,
        draft: TelegramDraft,
        bot: Option<ChatAccount>,
    ) -> Result<TelegramSettings, ApiError> {
        let server = draft.server.as_deref().map(str::trim).filter(|server| !server.is_empty());
        let (address, host) = server_address(server)?;
        let folder = session_folder(Path::new(&draft.folder))?;
        let before = self.telegram();
        let same_server = |known: &TelegramSettings| {
            server_address(known.server.as_deref()).is_ok_and(|(_, known)| known == host)
        };
        let (token, bot) = match given(&draft) {
            Some(token) => (self.keys.save(OWNER, &host, SecretKind::Key, token).await?, bot),
            None => {
                let known = before.filter(same_server).filter(|known| known.token != KeyState::Missing);
                let known = known.ok_or_else(|| ApiError::new("chat.token_missing"))?;
                (known.token, bot.or(known.bot))
            }
        };
        Ok(TelegramSettings {
            on: Switch::On,
            token,
            server: server.map(|_| address),
            bot,
            folder: folder.display().to_string(),
            mode: draft.mode,
        })
    }

    /// Returns the token saved for a server.
    pub(crate) async fn token(&self, server: Option<&str>) -> Result<SecretString, ApiError> {
        let (_, host) = server_address(server)?;
        let found = self.keys.load(OWNER, &host, SecretKind::Key).await?;
        found.ok_or_else(|| ApiError::new("chat.token_missing"))
    }

    /// Forgets the token of the present settings. A missing token is not an error.
    pub(crate) async fn forget(&self) -> Result<(), ApiError> {
        match self.telegram() {
            Some(telegram) => self.forget_of(&telegram).await,
            None => Ok(()),
        }
    }

    /// Forgets the token of former settings if it belongs to another server than the present one.
    pub(crate) async fn forget_former(&self, before: &TelegramSettings) -> Result<(), ApiError> {
        let host = |telegram: &TelegramSettings| server_address(telegram.server.as_deref()).ok();
        match self.telegram() {
            Some(now) if host(&now) == host(before) => Ok(()),
            Some(_) | None => self.forget_of(before).await,
        }
    }

    async fn forget_of(&self, telegram: &TelegramSettings) -> Result<(), ApiError> {
        let (_, host) = server_address(telegram.server.as_deref())?;
        self.keys.forget(OWNER, &host, SecretKind::Key).await
    }

    /// Returns the tokens of all services.
    ///
    /// # Errors
    /// `key.not_read`: an unreadable secret cannot be removed from an export.
    pub(crate) async fn secrets(&self) -> Result<Vec<SecretString>, ApiError> {
        let Some(telegram) = self.telegram() else { return Ok(Vec::new()) };
        let (_, host) = server_address(telegram.server.as_deref())?;
        Ok(self.keys.load(OWNER, &host, SecretKind::Key).await?.into_iter().collect())
    }

    /// Admits the person with this code.
    ///
    /// # Errors
    /// `chat.code_unknown`.
    pub(crate) async fn pair(self: &Arc<Self>, code: &str) -> Result<PairedPerson, ApiError> {
        let code = code.to_owned();
        let paired = self.store.write(move |tx| {
            let mut pairing = Pairing(tx.pairing_codes()?);
            let Some(stranger) = pairing.redeem(&code, now()) else { return Ok(None) };
            tx.replace_pairing_codes(&pairing.0)?;
            let who = (stranger.person.as_str(), stranger.name.as_str());
            tx.pair(ChatService::Telegram, &stranger.account, who, now()).map(Some)
        });
        let row = paired.await?;
        let row = row.ok_or_else(|| ApiError::new("chat.code_unknown"))?;
        self.changed();
        self.tell();
        Ok(PairedPerson { key: row.key, service: row.service, name: row.name, paired_at: row.paired_at })
    }
}

fn given(draft: &TelegramDraft) -> Option<Secret> {
    let token = draft.token.as_ref()?.expose().trim();
    (!token.is_empty()).then(|| Secret::new(token))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyStorage;

    /// Under another name the token that a person saved would not be found.
    #[tokio::test]
    async fn the_name_in_the_keychain_stays() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path()).unwrap();
        let keys = KeyRing::open(KeyStorage::Memory).await;
        let chats = Chats::new(store, keys.clone(), &ChatSettings::default(), Updates::default());
        keys.save("telegram", "https://api.telegram.org", SecretKind::Key, Secret::new("77:token"))
            .await
            .unwrap();
        assert!(chats.token(None).await.is_ok());
    }
}
