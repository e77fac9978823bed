//! The models the person connected: entries in the store, keys in the keychain, connections made on demand.

mod companion;
mod connecting;
mod headers;
mod secrets;
mod trial;

pub(crate) use companion::Companion;

use headers::{HeaderSave, Headers, HostChange};
use octo_demo::{DemoProvider, READING_PACE};
use octo_keys::{KeyRing, SecretKind};
use octo_llm::{
    Endpoint, ModelCard, Network, Presets, Provider, ProviderError, Proxy, connect, find_local_servers,
    host_of, list_models, proxy_address,
};
use octo_protocol::{
    ApiError, ErrorCode, KeyState, Language, LocalServers, ModelDraft, ModelEntry, ModelId, PresetList,
    Protocol, ProxyChoice, RemoteModels, SavedHeader, Settings, TrustedCertificates, words,
};
use octo_schedule::ModelNames;
use parking_lot::Mutex;
use secrecy::SecretString;
use std::{collections::HashMap, sync::Arc};
use tokio_util::sync::CancellationToken;

/// The connected models. The store has the entries; this is the copy used while Octo runs.
pub(crate) struct Models {
    keys: KeyRing,
    presets: Presets,
    state: Mutex<State>,
    /// Locked while a model is timed: two at once would slow each other.
    timing_lock: tokio::sync::Mutex<()>,
}

impl ModelNames for Models {
    fn find(&self, name: &str) -> Option<ModelId> {
        Self::find(self, name)
    }

    fn name(&self, id: ModelId) -> Option<String> {
        self.vendor_name(id)
    }
}

#[derive(Default)]
struct State {
    entries: Vec<ModelEntry>,
    connections: HashMap<ModelId, ModelConnection>,
    /// Raised whenever connections are dropped, so that a connection made from old data is not kept.
    generation: u64,
    /// Headers given for this run only, each with the host they were given for. Never stored.
    headers: HashMap<ModelId, (String, Headers)>,
    language: Language,
    proxy: ProxyChoice,
    /// Certificates trusted in addition to the system's, as PEM.
    certificates: Option<Box<TrustedCertificates>>,
    /// Cancels running or waiting timings of models.
    stop_timing: CancellationToken,
}

/// A model that can be called.
#[derive(Clone)]
pub(crate) struct ModelConnection {
    pub provider: Arc<dyn Provider>,
    pub model: String,
    /// Its data sheet: window, limits, cache, prices.
    pub card: Arc<ModelCard>,
}

impl Models {
    pub fn new(keys: KeyRing, presets: Presets, entries: Vec<ModelEntry>, settings: &Settings) -> Self {
        let state = Mutex::new(State::default());
        let models = Self { keys, presets, state, timing_lock: tokio::sync::Mutex::default() };
        models.apply_settings(settings);
        let entries = models.adapt_to_run(entries);
        models.with(|state| state.entries = entries);
        models
    }

    pub fn keys(&self) -> &KeyRing {
        &self.keys
    }

    /// Returns all entries, in the order they were added.
    pub fn entries(&self) -> Vec<ModelEntry> {
        self.with(|state| state.entries.clone())
    }

    /// Returns the available provider presets.
    pub fn presets(&self) -> PresetList {
        self.presets.list()
    }

    /// Returns the data sheet of a model at an address.
    fn card(&self, protocol: Protocol, base_url: &str, model: &str) -> ModelCard {
        self.presets.card(protocol, base_url, model)
    }

    /// Adapts stored entries to this run: a key kept only for an earlier run is lost, and the data sheets are
    /// those of this version of Octo.
    pub fn adapt_to_run(&self, mut entries: Vec<ModelEntry>) -> Vec<ModelEntry> {
        for entry in &mut entries {
            let (id, host) = (entry.id, host_of(&entry.base_url).ok());
            let has_secret =
                |secret_kind| host.as_ref().is_some_and(|host| self.keys.holds(id, host, secret_kind));
            if matches!(entry.key, KeyState::ThisRun { .. }) && !has_secret(SecretKind::Key) {
                entry.key = KeyState::Missing;
            }
            for SavedHeader { name, value } in &mut entry.headers {
                if matches!(value, KeyState::ThisRun { .. }) && !has_secret(SecretKind::Header(name)) {
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

    /// Returns the vendor's name of an entry's model, or `None` without such an entry.
    pub fn vendor_name(&self, id: ModelId) -> Option<String> {
        self.with(|state| state.entries.iter().find(|entry| entry.id == id).map(|entry| entry.model.clone()))
    }

    /// Returns the size of a model's window in tokens, or `None` without such an entry.
    pub fn window(&self, id: ModelId) -> Option<u64> {
        self.with(|state| state.entries.iter().find(|entry| entry.id == id).map(|entry| entry.context_window))
    }

    /// Returns the model that takes over while a model's service fails, or `None` if there is none or it was
    /// removed.
    pub fn fallback_of(&self, id: ModelId) -> Option<ModelId> {
        self.with(|state| {
            let fallback = state.entries.iter().find(|entry| entry.id == id)?.fallback?;
            (fallback != id && state.entries.iter().any(|entry| entry.id == fallback)).then_some(fallback)
        })
    }

    /// Returns the data sheet of an entry's model, or `None` without such an entry.
    pub fn card_of(&self, id: ModelId) -> Option<ModelCard> {
        let entry = self.with(|state| state.entries.iter().find(|entry| entry.id == id).cloned())?;
        Some(self.card(entry.protocol, &entry.base_url, &entry.model))
    }

    /// Returns the vendor's names of all models.
    pub fn names(&self) -> Vec<String> {
        self.with(|state| state.entries.iter().map(|entry| entry.model.clone()).collect())
    }

    /// Returns the entry whose model has this name, ignoring case.
    pub fn find(&self, name: &str) -> Option<ModelId> {
        self.with(|state| {
            state.entries.iter().find(|entry| entry.model.eq_ignore_ascii_case(name)).map(|entry| entry.id)
        })
    }

    /// Applies the settings: the demo's language and the network configuration.
    pub fn apply_settings(&self, settings: &Settings) {
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

    /// Returns a connection to the demo, in place of a model.
    pub fn demo(&self) -> ModelConnection {
        let language = words::resolve_language(self.with(|state| state.language));
        let provider = Arc::new(DemoProvider::new(language, READING_PACE));
        let card = Arc::new(ModelCard { vision: false, ..ModelCard::unknown(Protocol::OpenaiChat) });
        ModelConnection { provider, model: "demo".to_owned(), card }
    }

    /// Converts a draft into an entry and saves its key. Stores nothing else yet.
    pub async fn accept(&self, draft: ModelDraft) -> Result<ModelEntry, ApiError> {
        let base_url = draft.base_url.trim().trim_end_matches('/').to_owned();
        let model = draft.model.trim().to_owned();
        if model.is_empty() {
            return Err(ApiError::new("model.name_missing"));
        }
        let host =
            host_of(&base_url).map_err(|error| ApiError::new("model.address_wrong").detail(error.message))?;
        let previous = draft.id.and_then(|id| self.entries().into_iter().find(|entry| entry.id == id));
        let id = previous.as_ref().map_or_else(ModelId::new, |entry| entry.id);
        let host_change =
            previous.as_ref().is_some_and(|entry| host_of(&entry.base_url).is_ok_and(|old| old != host));
        let header_drafts = headers::read(draft.headers)?;
        let header_save = HeaderSave {
            id,
            host: &host,
            before: previous.as_ref(),
            moved: if host_change { HostChange::Yes } else { HostChange::No },
        };
        let headers = self.keep_headers(header_save, header_drafts).await?;
        let key = match draft.key.filter(|key| !key.expose().trim().is_empty()) {
            Some(key) => {
                let key = octo_protocol::Secret::new(key.expose().trim());
                let key_state = self.keys.save(id, &host, SecretKind::Key, key).await?;
                // A key that is only passed through says nothing about the one the window has saved.
                match &previous {
                    Some(previous) if self.keys.is_pass_through() && !host_change => previous.key.clone(),
                    Some(_) | None => key_state,
                }
            }
            // A key is bound to the host it was saved for: another host has none.
            None if host_change => KeyState::Missing,
            None => previous.as_ref().map_or(KeyState::Missing, |entry| entry.key.clone()),
        };
        if let (true, Some(previous)) = (host_change, &previous)
            && let Ok(old) = host_of(&previous.base_url)
        {
            self.forget_secrets(previous, &old).await?;
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
            fallback: previous.and_then(|entry| entry.fallback),
        })
    }

    /// Puts a stored entry into use.
    pub fn put(&self, entry: ModelEntry) {
        self.with(|state| {
            state.connections.remove(&entry.id);
            state.generation += 1;
            match state.entries.iter_mut().find(|existing| existing.id == entry.id) {
                Some(existing) => *existing = entry,
                None => state.entries.push(entry),
            }
        });
    }

    /// Sets the model that takes over from another.
    pub fn set_fallback(&self, model: ModelId, fallback: Option<ModelId>) {
        self.with(|state| {
            for entry in state.entries.iter_mut().filter(|entry| entry.id == model) {
                entry.fallback = fallback;
            }
        });
    }

    /// Forgets an entry, its key, and its role as a fallback. The entry is removed even if the keychain
    /// refuses.
    pub async fn remove(&self, id: ModelId) -> Result<(), ApiError> {
        let removed = self.with(|state| {
            state.connections.remove(&id);
            state.generation += 1;
            state.headers.remove(&id);
            for entry in state.entries.iter_mut().filter(|entry| entry.fallback == Some(id)) {
                entry.fallback = None;
            }
            let index = state.entries.iter().position(|entry| entry.id == id)?;
            Some(state.entries.remove(index))
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

    /// Requests the models of the drafted provider.
    pub async fn remote_models(&self, draft: ModelDraft) -> Result<RemoteModels, ApiError> {
        let endpoint = self.draft_endpoint(draft).await?;
        let models = list_models(endpoint).await.map_err(|error| error.to_api())?;
        Ok(RemoteModels { models })
    }

    /// Returns the endpoint a draft describes, with its own key or the one saved for its host.
    async fn draft_endpoint(&self, draft: ModelDraft) -> Result<Endpoint, ApiError> {
        let base_url = draft.base_url.trim().trim_end_matches('/').to_owned();
        let host =
            host_of(&base_url).map_err(|error| ApiError::new("model.address_wrong").detail(error.message))?;
        let key = match (draft.key.filter(|key| !key.expose().trim().is_empty()), draft.id) {
            (Some(key), _) => Some(SecretString::from(key.expose().trim().to_owned())),
            (None, Some(id)) => self.keys.load(id, &host, SecretKind::Key).await?,
            (None, None) => None,
        };
        let entry = draft.id.and_then(|id| self.entries().into_iter().find(|entry| entry.id == id));
        let is_lost =
            |entry: &ModelEntry| self.is_secret_unavailable(entry, &host, &entry.key, SecretKind::Key);
        if key.is_none() && entry.as_ref().is_some_and(is_lost) {
            return Err(ApiError::new("key.no_keychain").code(ErrorCode::KeyNeeded));
        }
        let headers = self.headers_of_draft(draft.headers, entry.as_ref(), &host).await?;
        let card = self.card(draft.protocol, &base_url, draft.model.trim());
        Ok(endpoint(draft.protocol, base_url, key, self.network(headers), &card))
    }

    /// Returns the network configuration apart from any model.
    pub fn network_config(&self) -> Network {
        self.network(Headers::new())
    }

    /// Returns the network configuration for a server according to the settings, with these headers.
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
    ) -> Result<ModelConnection, ProviderError> {
        let card = Arc::new(self.card(entry.protocol, &entry.base_url, &entry.model));
        let network = self.network(headers);
        let provider = connect(endpoint(entry.protocol, entry.base_url.clone(), key, network, &card))?;
        Ok(ModelConnection { provider, model: entry.model.clone(), card })
    }

    fn with<T>(&self, update: impl FnOnce(&mut State) -> T) -> T {
        update(&mut self.state.lock())
    }
}

/// Creates an endpoint in the wire format that fits the model.
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

/// Checks that a proxy can be stored in the settings: it is an address and contains no secret.
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
            // The error must not repeat a password.
            Ok(_) | Err(_) => Err(ApiError::new("settings.proxy_wrong")),
        },
    }
}
