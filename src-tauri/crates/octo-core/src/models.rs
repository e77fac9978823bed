//! The models the person connected: entries in the store, keys in the keychain, connections made on need.

mod companion;
mod connecting;
mod headers;
mod secrets;
mod trial;

pub(crate) use companion::Companion;

use crate::{
    demo::{DemoProvider, READING_PACE},
    keys::{KeyRing, Slot},
};
use headers::{Headers, Moved, Saving};
use octo_llm::{
    Endpoint, ModelCard, Network, Presets, Provider, ProviderError, Proxy, connect, find_local_servers,
    host_of, list_models, proxy_address,
};
use octo_protocol::{
    ApiError, ErrorCode, KeyState, Language, LocalServers, ModelDraft, ModelEntry, ModelId, PresetList,
    Protocol, ProxyChoice, RemoteModels, SavedHeader, Settings, TrustedCertificates, words,
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
    /// Headers given for this run only, each with the host they were given for. Only here: they are never stored.
    headers: HashMap<ModelId, (String, Headers)>,
    language: Language,
    proxy: ProxyChoice,
    /// Certificates trusted beside the system's, as PEM.
    certificates: Option<Box<TrustedCertificates>>,
    /// Ends the timing of models that runs or waits.
    stop_timing: CancellationToken,
}

/// A model that can be called.
#[derive(Clone)]
pub(crate) struct Connection {
    pub provider: Arc<dyn Provider>,
    pub model: String,
    /// What is known of it: window, limits, cache, prices.
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
            let (id, host) = (entry.id, host_of(&entry.base_url).ok());
            let held = |slot| host.as_ref().is_some_and(|host| self.keys.holds(id, host, slot));
            if matches!(entry.key, KeyState::ThisRun { .. }) && !held(Slot::Key) {
                entry.key = KeyState::Missing;
            }
            for SavedHeader { name, value } in &mut entry.headers {
                if matches!(value, KeyState::ThisRun { .. }) && !held(Slot::Header(name)) {
                    *value = KeyState::Missing;
                }
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
            if state.proxy != settings.proxy || state.certificates != settings.certificates {
                state.proxy = settings.proxy.clone();
                state.certificates = settings.certificates.clone();
                state.connections.clear();
                state.generation += 1;
            }
        });
    }

    /// The demo, in a model's place.
    pub fn demo(&self) -> Connection {
        let language = words::resolve(self.with(|state| state.language));
        let provider = Arc::new(DemoProvider::new(language, READING_PACE));
        let card = Arc::new(ModelCard { vision: false, ..ModelCard::unknown(Protocol::OpenaiChat) });
        Connection { provider, model: "demo".to_owned(), card }
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
        let given = headers::read(draft.headers)?;
        let saving = Saving {
            id,
            host: &host,
            before: before.as_ref(),
            moved: if moved { Moved::Yes } else { Moved::No },
        };
        let headers = self.keep_headers(saving, given).await?;
        let key = match draft.key.filter(|key| !key.expose().trim().is_empty()) {
            Some(key) => {
                let key = octo_protocol::Secret::new(key.expose().trim());
                let kept = self.keys.save(id, &host, Slot::Key, key).await?;
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
            self.forget_secrets(before, &old).await?;
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
            headers,
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
            Ok(host) => self.forget_secrets(&entry, &host).await,
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
            (None, Some(id)) => self.keys.load(id, &host, Slot::Key).await?,
            (None, None) => None,
        };
        let known = draft.id.and_then(|id| self.entries().into_iter().find(|entry| entry.id == id));
        let is_lost = |entry: &ModelEntry| self.is_out_of_reach(entry, &host, &entry.key, Slot::Key);
        if key.is_none() && known.as_ref().is_some_and(is_lost) {
            return Err(ApiError::new("key.no_keychain").code(ErrorCode::KeyNeeded));
        }
        let headers = self.drafted_headers(draft.headers, known.as_ref(), &host).await?;
        let card = self.card(draft.protocol, &base_url, draft.model.trim());
        Ok(endpoint(draft.protocol, base_url, key, self.network(headers), &card))
    }

    /// How the world is reached, apart from any model.
    pub fn reach(&self) -> Network {
        self.network(Headers::new())
    }

    /// The way to a server, as the settings have it, with these headers.
    fn network(&self, headers: Headers) -> Network {
        let (proxy, certificates) = self.with(|state| (state.proxy.clone(), state.certificates.clone()));
        let proxy = match proxy {
            ProxyChoice::System => Proxy::System,
            ProxyChoice::None => Proxy::None,
            ProxyChoice::Manual { url } => Proxy::Manual(SecretString::from(url)),
        };
        Network { proxy, headers, extra_ca: certificates.map(|certificates| certificates.pem.into_bytes()) }
    }

    fn connection(
        &self,
        entry: &ModelEntry,
        key: Option<SecretString>,
        headers: Headers,
    ) -> Result<Connection, ProviderError> {
        let card = Arc::new(self.card(entry.protocol, &entry.base_url, &entry.model));
        let network = self.network(headers);
        let provider = connect(endpoint(entry.protocol, entry.base_url.clone(), key, network, &card))?;
        Ok(Connection { provider, model: entry.model.clone(), card })
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

/// Whether a proxy can be kept in the settings: it is an address, and holds no secret.
pub(crate) fn check_proxy(proxy: &ProxyChoice) -> Result<(), ApiError> {
    match proxy {
        ProxyChoice::System | ProxyChoice::None => Ok(()),
        ProxyChoice::Manual { url } => match proxy_address(url) {
            Ok(url)
                if url.username().is_empty()
                    && url.password().is_none()
                    && url.query().is_none()
                    && url.fragment().is_none() =>
            {
                Ok(())
            }
            // What it says must not repeat a password.
            Ok(_) | Err(_) => Err(ApiError::new("settings.proxy_wrong")),
        },
    }
}
