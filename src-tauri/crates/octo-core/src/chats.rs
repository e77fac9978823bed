//! Chat services a person can write to Octo through: their settings, how they are, and the token, which is in the
//! keychain, bound to the host of its server. What listens and speaks is [`crate::chat_bridge`], above sessions.

pub(crate) mod pairing;

use octo_keys::{KeyRing, SecretKind};
use pairing::Pairing;

use crate::updates::Updates;
use octo_chats::{ChatClient as _, ServiceClient, server_address};
use octo_llm::Network;
use octo_protocol::{
    ApiError, ChatAccount, ChatConnection, ChatService, ChatSettings, ChatState, KeyState, PairedPerson,
    Secret, ServiceDraft, ServiceSettings, StoredTopic, Switch, Update,
};
use octo_runtime::{Change, now};
use octo_store::Store;
use octo_workspace::session_folder;
use parking_lot::Mutex;
use secrecy::SecretString;
use std::{collections::HashMap, path::Path, sync::Arc};
use tokio::sync::{Notify, watch};

/// Returns the keychain owner of a service's token, next to models and search providers.
fn owner(service: ChatService) -> &'static str {
    match service {
        ChatService::Telegram => "telegram",
    }
}

/// The chat state shared by all parts of the application.
pub(crate) struct Chats {
    store: Store,
    keys: KeyRing,
    settings: Mutex<ChatSettings>,
    /// Those that were ever tried.
    connections: Mutex<HashMap<ChatService, ChatConnection>>,
    /// Counts changes of the settings: waiting tasks start over.
    changed: watch::Sender<u64>,
    /// Signals that a chat continues with another session.
    session_changed: Arc<Notify>,
    /// Signals a change of the chat state.
    state_changed: Change,
    updates: Updates,
}

impl Chats {
    pub(crate) fn new(store: Store, keys: KeyRing, settings: &ChatSettings, updates: Updates) -> Self {
        Self {
            store,
            keys,
            settings: Mutex::new(settings.clone()),
            connections: Mutex::default(),
            changed: watch::Sender::new(0),
            session_changed: Arc::default(),
            state_changed: Change::default(),
            updates,
        }
    }

    /// Puts stored settings into effect.
    pub(crate) fn follow(&self, settings: &ChatSettings) {
        let mut current = self.settings.lock();
        if *current != *settings {
            *current = settings.clone();
            drop(current);
            self.signal_change();
        }
    }

    /// Makes waiting tasks start over, because the token, the people or the proxy changed.
    pub(crate) fn signal_change(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    /// Returns the signal that a chat continues with another session.
    pub(crate) fn session_changed(&self) -> Arc<Notify> {
        Arc::clone(&self.session_changed)
    }

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Adapts stored settings to this run: a token kept only for an earlier run is lost.
    pub(crate) fn adapt_to_run(&self, mut settings: ChatSettings) -> ChatSettings {
        for service in ChatService::ALL {
            let Some(service_settings) = settings.of_mut(service) else { continue };
            let has_token = server_address(service, service_settings.server.as_deref())
                .is_ok_and(|(_, host)| self.keys.holds(owner(service), &host, SecretKind::Key));
            if matches!(service_settings.token, KeyState::ThisRun { .. }) && !has_token {
                service_settings.token = KeyState::Missing;
            }
        }
        settings
    }

    /// Returns the stored settings as this process knows them.
    pub(crate) fn stored_settings(&self) -> ChatSettings {
        self.settings.lock().clone()
    }

    /// Returns a service's settings as this process knows them; `None` if it is not set up.
    pub(crate) fn service(&self, service: ChatService) -> Option<ServiceSettings> {
        self.adapt_to_run(self.stored_settings()).of(service).cloned()
    }

    /// Puts settings into effect that another process of the home may have chosen.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) async fn reload_settings(&self) -> Result<(), ApiError> {
        let settings = self.store.read(|reader| reader.settings()).await?;
        self.follow(&settings.chats);
        Ok(())
    }

    /// Subscribes to changes of the chat state.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.state_changed.watch()
    }

    /// Returns the current chat state.
    pub(crate) async fn state(&self) -> Result<ChatState, ApiError> {
        let mut people = Vec::new();
        for service in ChatService::ALL {
            let rows = self.store.read(move |reader| reader.chats(service)).await?;
            let account = self.service(service).and_then(|settings| settings.bot).map(|bot| bot.id);
            let paired = rows.into_iter().filter(|row| Some(&row.account) == account.as_ref());
            people.extend(paired.map(|row| PairedPerson {
                key: row.key,
                service: row.service,
                name: row.name,
                paired_at: row.paired_at,
            }));
        }
        Ok(ChatState { telegram: self.connection(ChatService::Telegram), people })
    }

    /// Returns the state of the connection to a service.
    pub(crate) fn connection(&self, service: ChatService) -> ChatConnection {
        let connections = self.connections.lock();
        connections.get(&service).cloned().unwrap_or(ChatConnection::Off)
    }

    /// Sets the state of the connection to a service and notifies watchers if it changed.
    pub(crate) fn set_connection(self: &Arc<Self>, service: ChatService, connection: ChatConnection) {
        let mut connections = self.connections.lock();
        let previous = connections.insert(service, connection.clone()).unwrap_or(ChatConnection::Off);
        drop(connections);
        if previous != connection {
            self.notify();
        }
    }

    /// Notifies watchers of the current state.
    pub(crate) fn notify(self: &Arc<Self>) {
        let chats = Arc::clone(self);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            if let Ok(state) = chats.state().await {
                chats.updates.send(StoredTopic::Settings, Update::Chats { state: Box::new(state) });
                chats.state_changed.notify();
            }
        });
    }

    /// Returns the bot a draft refers to.
    ///
    /// # Errors
    /// `chat.*`: the fault of the draft or of the connection to the service.
    pub(crate) async fn test(
        &self,
        service: ChatService,
        network: &Network,
        draft: &ServiceDraft,
    ) -> Result<ChatAccount, ApiError> {
        let token = match nonempty_token(draft) {
            Some(token) => SecretString::from(token.expose().to_owned()),
            None => self.token(service, draft.server.as_deref()).await?,
        };
        let bot =
            async { ServiceClient::new(service, network, draft.server.as_deref(), token)?.account().await };
        let bot = bot.await.map_err(|error| error.to_api())?;
        Ok(ChatAccount { id: bot.id, name: bot.name })
    }

    /// Converts a draft into settings and saves its token. Stores nothing else yet.
    ///
    /// # Errors
    /// `chat.server_wrong`, `chat.token_missing`, `session.folder_*`, `key.not_saved`.
    pub(crate) async fn accept(
        &self,
        service: ChatService,
        draft: ServiceDraft,
        bot: Option<ChatAccount>,
    ) -> Result<ServiceSettings, ApiError> {
        let server = draft.server.as_deref().map(str::trim).filter(|server| !server.is_empty());
        let (address, host) = server_address(service, server)?;
        let folder = session_folder(Path::new(&draft.folder))?;
        let previous = self.service(service);
        let is_same_server = |settings: &ServiceSettings| {
            server_address(service, settings.server.as_deref())
                .is_ok_and(|(_, known_host)| known_host == host)
        };
        let (token, bot) = match nonempty_token(&draft) {
            Some(token) => (self.keys.save(owner(service), &host, SecretKind::Key, token).await?, bot),
            None => {
                let unchanged =
                    previous.filter(is_same_server).filter(|unchanged| unchanged.token != KeyState::Missing);
                let unchanged = unchanged.ok_or_else(|| ApiError::new("chat.token_missing"))?;
                (unchanged.token, bot.or(unchanged.bot))
            }
        };
        Ok(ServiceSettings {
            on: Switch::On,
            token,
            server: server.map(|_| address),
            bot,
            folder: folder.display().to_string(),
            mode: draft.mode,
        })
    }

    /// Returns the token saved for a service's server.
    pub(crate) async fn token(
        &self,
        service: ChatService,
        server: Option<&str>,
    ) -> Result<SecretString, ApiError> {
        let (_, host) = server_address(service, server)?;
        let token = self.keys.load(owner(service), &host, SecretKind::Key).await?;
        token.ok_or_else(|| ApiError::new("chat.token_missing"))
    }

    /// Forgets the tokens of all services. A missing token is not an error.
    pub(crate) async fn forget_all(&self) -> Result<(), ApiError> {
        for service in ChatService::ALL {
            self.forget(service).await?;
        }
        Ok(())
    }

    /// Forgets the token of a service's present settings. A missing token is not an error.
    pub(crate) async fn forget(&self, service: ChatService) -> Result<(), ApiError> {
        match self.service(service) {
            Some(settings) => self.forget_token(service, &settings).await,
            None => Ok(()),
        }
    }

    /// Forgets the token of former settings if it belongs to another server than the present one.
    pub(crate) async fn forget_former_token(
        &self,
        service: ChatService,
        previous: &ServiceSettings,
    ) -> Result<(), ApiError> {
        let host = |settings: &ServiceSettings| server_address(service, settings.server.as_deref()).ok();
        match self.service(service) {
            Some(now) if host(&now) == host(previous) => Ok(()),
            Some(_) | None => self.forget_token(service, previous).await,
        }
    }

    async fn forget_token(&self, service: ChatService, settings: &ServiceSettings) -> Result<(), ApiError> {
        let (_, host) = server_address(service, settings.server.as_deref())?;
        self.keys.forget(owner(service), &host, SecretKind::Key).await
    }

    /// Returns the tokens of all services.
    ///
    /// # Errors
    /// `key.not_read`: an unreadable secret cannot be removed from an export.
    pub(crate) async fn secrets(&self) -> Result<Vec<SecretString>, ApiError> {
        let mut secrets = Vec::new();
        for service in ChatService::ALL {
            let Some(settings) = self.service(service) else { continue };
            let (_, host) = server_address(service, settings.server.as_deref())?;
            secrets.extend(self.keys.load(owner(service), &host, SecretKind::Key).await?);
        }
        Ok(secrets)
    }

    /// Returns the service of an account that someone wrote to.
    fn service_of(&self, account: &str) -> ChatService {
        let is_its = |service: &ChatService| {
            self.service(*service).and_then(|settings| settings.bot).is_some_and(|bot| bot.id == account)
        };
        // A code of a bot that is no longer connected is from the oldest service.
        ChatService::ALL.into_iter().find(is_its).unwrap_or(ChatService::Telegram)
    }

    /// Admits the person with this code.
    ///
    /// # Errors
    /// `chat.code_unknown`.
    pub(crate) async fn pair(self: &Arc<Self>, code: &str) -> Result<PairedPerson, ApiError> {
        let code = code.to_owned();
        let chats = Arc::clone(self);
        let paired = self.store.write(move |tx| {
            let mut pairing = Pairing(tx.pairing_codes()?);
            let Some(stranger) = pairing.redeem(&code, now()) else { return Ok(None) };
            tx.replace_pairing_codes(&pairing.0)?;
            let person = (stranger.person.as_str(), stranger.name.as_str());
            tx.pair(chats.service_of(&stranger.account), &stranger.account, person, now()).map(Some)
        });
        let row = paired.await?;
        let row = row.ok_or_else(|| ApiError::new("chat.code_unknown"))?;
        self.signal_change();
        self.notify();
        Ok(PairedPerson { key: row.key, service: row.service, name: row.name, paired_at: row.paired_at })
    }
}

fn nonempty_token(draft: &ServiceDraft) -> Option<Secret> {
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
        assert!(chats.token(ChatService::Telegram, None).await.is_ok());
    }
}
