//! The models the person connected: entries in the store, keys in the keychain, connections made on need.

mod trial;

use crate::{
    demo::{DemoProvider, READING_PACE},
    keys::KeyRing,
};
use octo_llm::{
    Endpoint, ErrorClass, ModelCard, Network, Presets, Provider, ProviderError, Proxy, connect,
    find_local_servers, host_of, list_models,
};
use octo_protocol::{
    ApiError, HeaderDraft, KeyState, Language, LocalServers, ModelDraft, ModelEntry, ModelId, PresetList,
    Protocol, ProxyChoice, RemoteModels, Settings, words,
};
use secrecy::SecretString;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};
use tokio_util::sync::CancellationToken;

/// The connected models. The store holds the entries; this is what is used while Octo runs.
pub(crate) struct Models {
    keys: KeyRing,
    presets: Presets,
    state: Mutex<State>,
    /// Held while a model is timed: two at once would slow each other.
    timing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    entries: Vec<ModelEntry>,
    connections: HashMap<ModelId, Connection>,
    /// Raised whenever connections are dropped, so that one made from what was before is not kept.
    generation: u64,
    /// Headers of the person's, each with the host they were given for. Only here: they are never stored.
    headers: HashMap<ModelId, (String, Headers)>,
    language: Language,
    proxy: ProxyChoice,
    /// Ends the timing of models that runs or waits.
    stop_timing: CancellationToken,
}

/// Headers of the person's.
type Headers = Vec<(String, SecretString)>;

/// A model that can be called.
#[derive(Clone)]
pub(crate) struct Connection {
    pub provider: Arc<dyn Provider>,
    pub model: String,
    pub vision: bool,
    pub max_output: u64,
    /// What is known of it: window, cache, prices.
    pub card: Arc<ModelCard>,
}

impl Models {
    pub fn new(keys: KeyRing, presets: Presets, entries: Vec<ModelEntry>, settings: &Settings) -> Self {
        let state = Mutex::new(State::default());
        let models = Self { keys, presets, state, timing: tokio::sync::Mutex::default() };
        models.follow(settings);
        let entries = models.as_of_now(entries);
        models.with(|state| state.entries = entries);
        models
    }

    pub fn keys(&self) -> &KeyRing {
        &self.keys
    }

    /// All entries, in the order they were added.
    pub fn entries(&self) -> Vec<ModelEntry> {
        self.with(|state| state.entries.clone())
    }

    /// The providers that can be picked.
    pub fn presets(&self) -> PresetList {
        self.presets.list()
    }

    /// What is known of a model at an address.
    fn card(&self, protocol: Protocol, base_url: &str, model: &str) -> ModelCard {
        self.presets.card(protocol, base_url, model)
    }

    /// Stored entries as they are true for this run: a key that was kept for an earlier run only is gone, and
    /// what is known of the models is what this Octo knows.
    pub fn as_of_now(&self, mut entries: Vec<ModelEntry>) -> Vec<ModelEntry> {
        for entry in &mut entries {
            let held = host_of(&entry.base_url).is_ok_and(|host| self.keys.holds(entry.id, &host));
            if matches!(entry.key, KeyState::ThisRun { .. }) && !held {
                entry.key = KeyState::Missing;
            }
            let card = self.card(entry.protocol, &entry.base_url, &entry.model);
            entry.context_window = card.context_window;
            entry.max_output = card.max_output;
            entry.vision = card.vision;
            entry.facts = card.facts();
        }
        entries
    }

    /// The vendor's name of an entry's model; none when there is no such entry.
    pub fn vendor_name(&self, id: ModelId) -> Option<String> {
        self.with(|state| state.entries.iter().find(|entry| entry.id == id).map(|entry| entry.model.clone()))
    }

    /// How many tokens a model takes in all; none when there is no such entry.
    pub fn window(&self, id: ModelId) -> Option<u64> {
        self.with(|state| state.entries.iter().find(|entry| entry.id == id).map(|entry| entry.context_window))
    }

    /// The model that takes over while a model's service fails; none where there is none, or it is gone.
    pub fn fallback_of(&self, id: ModelId) -> Option<ModelId> {
        self.with(|state| {
            let other = state.entries.iter().find(|entry| entry.id == id)?.fallback?;
            (other != id && state.entries.iter().any(|entry| entry.id == other)).then_some(other)
        })
    }

    /// What is known of an entry's model; none when there is no such entry.
    pub fn card_of(&self, id: ModelId) -> Option<ModelCard> {
        let entry = self.with(|state| state.entries.iter().find(|entry| entry.id == id).cloned())?;
        Some(self.card(entry.protocol, &entry.base_url, &entry.model))
    }

    /// The vendor's names of all models.
    pub fn names(&self) -> Vec<String> {
        self.with(|state| state.entries.iter().map(|entry| entry.model.clone()).collect())
    }

    /// The entry whose model has this name, whatever its case.
    pub fn find(&self, name: &str) -> Option<ModelId> {
        self.with(|state| {
            state.entries.iter().find(|entry| entry.model.eq_ignore_ascii_case(name)).map(|entry| entry.id)
        })
    }

    /// Does as the settings say: the demo's language, and the way to the servers.
    pub fn follow(&self, settings: &Settings) {
        self.with(|state| {
            state.language = settings.language;
            if state.proxy != settings.proxy {
                state.proxy = settings.proxy.clone();
                state.connections.clear();
                state.generation += 1;
            }
        });
    }

    /// The demo, in a model's place.
    pub fn demo(&self) -> Connection {
        let language = words::resolve(self.with(|state| state.language));
        let provider = Arc::new(DemoProvider::new(language, READING_PACE));
        let card = Arc::new(ModelCard::unknown(Protocol::OpenaiChat));
        Connection { provider, model: "demo".to_owned(), vision: false, max_output: 4_096, card }
    }

    /// The connection of a model, made on the first call.
    pub async fn connect(&self, id: Option<ModelId>) -> Result<Connection, ProviderError> {
        let missing =
            || ProviderError::new(ErrorClass::NotFound, "the session's model is no longer in the list");
        let id = id.ok_or_else(missing)?;
        if let Some(connection) = self.with(|state| state.connections.get(&id).cloned()) {
            return Ok(connection);
        }
        let (generation, entry) =
            self.with(|state| (state.generation, state.entries.iter().find(|entry| entry.id == id).cloned()));
        let entry = entry.ok_or_else(missing)?;
        let host = host_of(&entry.base_url)?;
        let key = self
            .keys
            .load(id, &host)
            .await
            .map_err(|error| ProviderError::new(ErrorClass::Auth, error.detail.unwrap_or(error.key)))?;
        let headers = self.headers(id, &host);
        let connection = self.connection(&entry, key, headers)?;
        self.with(|state| {
            // The key may have taken a while; what was changed meanwhile is asked for anew at the next call.
            if state.generation == generation {
                state.connections.insert(id, connection.clone());
            }
        });
        Ok(connection)
    }

    /// Reads a draft into an entry, its key put away. Nothing else is stored yet.
    pub async fn accept(&self, draft: ModelDraft) -> Result<ModelEntry, ApiError> {
        let base_url = draft.base_url.trim().trim_end_matches('/').to_owned();
        let model = draft.model.trim().to_owned();
        if model.is_empty() {
            return Err(ApiError::new("model.name_missing"));
        }
        let host =
            host_of(&base_url).map_err(|error| ApiError::new("model.address_wrong").detail(error.message))?;
        let before = draft.id.and_then(|id| self.entries().into_iter().find(|entry| entry.id == id));
        let id = before.as_ref().map_or_else(ModelId::new, |entry| entry.id);
        let moved =
            before.as_ref().is_some_and(|entry| host_of(&entry.base_url).is_ok_and(|old| old != host));
        let key = match draft.key.filter(|key| !key.expose().trim().is_empty()) {
            Some(key) => {
                let key = octo_protocol::Secret::new(key.expose().trim());
                let kept = self.keys.save(id, &host, key).await?;
                // A key that is only passed through says nothing about the one the window has saved.
                match &before {
                    Some(before) if self.keys.is_passing() && !moved => before.key.clone(),
                    Some(_) | None => kept,
                }
            }
            // A key is bound to the host it was saved for: at another one there is none.
            None if moved => KeyState::Missing,
            None => before.as_ref().map_or(KeyState::Missing, |entry| entry.key.clone()),
        };
        if let (true, Some(before)) = (moved, &before)
            && let Ok(old) = host_of(&before.base_url)
        {
            self.keys.forget(id, &old).await?;
        }
        if !draft.headers.is_empty() {
            let given = (host, given(draft.headers));
            self.with(|state| state.headers.insert(id, given));
        }
        let card = self.card(draft.protocol, &base_url, &model);
        Ok(ModelEntry {
            id,
            protocol: draft.protocol,
            base_url,
            model,
            context_window: card.context_window,
            max_output: card.max_output,
            vision: card.vision,
            key,
            facts: card.facts(),
            fallback: before.and_then(|entry| entry.fallback),
        })
    }

    /// Takes a stored entry into use.
    pub fn put(&self, entry: ModelEntry) {
        self.with(|state| {
            state.connections.remove(&entry.id);
            state.generation += 1;
            match state.entries.iter_mut().find(|known| known.id == entry.id) {
                Some(known) => *known = entry,
                None => state.entries.push(entry),
            }
        });
    }

    /// Sets the model that takes over from another.
    pub fn fall_back(&self, model: ModelId, fallback: Option<ModelId>) {
        self.with(|state| {
            for entry in state.entries.iter_mut().filter(|entry| entry.id == model) {
                entry.fallback = fallback;
            }
        });
    }

    /// Forgets an entry, its key, and that it took over from others. The entry is gone even where the keychain refuses.
    pub async fn remove(&self, id: ModelId) -> Result<(), ApiError> {
        let removed = self.with(|state| {
            state.connections.remove(&id);
            state.generation += 1;
            state.headers.remove(&id);
            for entry in state.entries.iter_mut().filter(|entry| entry.fallback == Some(id)) {
                entry.fallback = None;
            }
            let at = state.entries.iter().position(|entry| entry.id == id)?;
            Some(state.entries.remove(at))
        });
        let Some(entry) = removed else { return Ok(()) };
        match host_of(&entry.base_url) {
            Ok(host) => self.keys.forget(id, &host).await,
            Err(_) => Ok(()),
        }
    }

    /// Looks for model servers on this machine.
    pub async fn local_servers(&self) -> Result<LocalServers, ApiError> {
        let servers = find_local_servers(&self.presets).await.map_err(|error| error.to_api())?;
        Ok(LocalServers { servers })
    }

    /// Asks the drafted provider for its models.
    pub async fn remote_models(&self, draft: ModelDraft) -> Result<RemoteModels, ApiError> {
        let endpoint = self.drafted(draft).await?;
        let models = list_models(endpoint).await.map_err(|error| error.to_api())?;
        Ok(RemoteModels { models })
    }

    /// The endpoint a draft means, with the key it brings or the one that was saved for its host.
    async fn drafted(&self, draft: ModelDraft) -> Result<Endpoint, ApiError> {
        let base_url = draft.base_url.trim().trim_end_matches('/').to_owned();
        let host =
            host_of(&base_url).map_err(|error| ApiError::new("model.address_wrong").detail(error.message))?;
        let key = match (draft.key.filter(|key| !key.expose().trim().is_empty()), draft.id) {
            (Some(key), _) => Some(SecretString::from(key.expose().trim().to_owned())),
            (None, Some(id)) => self.keys.load(id, &host).await?,
            (None, None) => None,
        };
        let headers = match (draft.headers.is_empty(), draft.id) {
            (false, _) => given(draft.headers),
            (true, Some(id)) => self.headers(id, &host),
            (true, None) => Headers::new(),
        };
        let card = self.card(draft.protocol, &base_url, draft.model.trim());
        let network = Network { proxy: self.proxy(), headers, ..Network::default() };
        Ok(endpoint(draft.protocol, base_url, key, network, &card))
    }

    /// How the world is reached, apart from any model.
    pub fn network(&self) -> Network {
        Network { proxy: self.proxy(), ..Network::default() }
    }

    fn proxy(&self) -> Proxy {
        match self.with(|state| state.proxy.clone()) {
            ProxyChoice::System => Proxy::System,
            ProxyChoice::None => Proxy::None,
            ProxyChoice::Manual { url } => Proxy::Manual(SecretString::from(url)),
        }
    }

    /// The headers given for a model at a host: at another one there are none.
    fn headers(&self, id: ModelId, host: &str) -> Headers {
        let given = |state: &mut State| state.headers.get(&id).filter(|(of, _)| of == host).cloned();
        self.with(given).map(|(_, headers)| headers).unwrap_or_default()
    }

    fn connection(
        &self,
        entry: &ModelEntry,
        key: Option<SecretString>,
        headers: Headers,
    ) -> Result<Connection, ProviderError> {
        let card = Arc::new(self.card(entry.protocol, &entry.base_url, &entry.model));
        let network = Network { proxy: self.proxy(), headers, ..Network::default() };
        let provider = connect(endpoint(entry.protocol, entry.base_url.clone(), key, network, &card))?;
        Ok(Connection {
            provider,
            model: entry.model.clone(),
            vision: card.vision,
            max_output: card.max_output,
            card,
        })
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// An endpoint in the dialect that fits the model.
fn endpoint(
    protocol: Protocol,
    base_url: String,
    key: Option<SecretString>,
    network: Network,
    card: &ModelCard,
) -> Endpoint {
    let endpoint = Endpoint::new(protocol, base_url, key);
    let dialect = endpoint.dialect.for_model(card);
    Endpoint { dialect, network, ..endpoint }
}

fn given(headers: Vec<HeaderDraft>) -> Headers {
    headers
        .into_iter()
        .map(|header| (header.name, SecretString::from(header.value.expose().to_owned())))
        .collect()
}

/// Whether a proxy can be kept in the settings: it is an address, and holds no secret.
pub(crate) fn check_proxy(proxy: &ProxyChoice) -> Result<(), ApiError> {
    match proxy {
        ProxyChoice::System | ProxyChoice::None => Ok(()),
        // The same rules as for a model's address; what it says must not repeat a password.
        ProxyChoice::Manual { url } => {
            host_of(url).map(|_| ()).map_err(|_| ApiError::new("settings.proxy_wrong"))
        }
    }
}
