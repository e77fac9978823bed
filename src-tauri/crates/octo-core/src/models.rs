//! The models the person connected: entries in the store, keys in the keychain, connections made on need.

use crate::{
    demo::{DemoProvider, READING_PACE},
    keys::KeyRing,
};
use futures::StreamExt;
use octo_llm::{
    CachePlan, Endpoint, ErrorClass, ModelEvent, ModelRequest, Provider, ProviderError, connect, host_of,
    limits,
};
use octo_protocol::{
    ApiError, Block, ErrorCode, KeyState, Language, Message, MessageId, Meta, ModelCheck, ModelDraft,
    ModelEntry, ModelId, Origin, Role, TurnId, words,
};
use secrecy::SecretString;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

/// How long a test of a model may take. A cold local server may load its weights first.
const TEST_PATIENCE: Duration = Duration::from_secs(60);

/// The connected models. The store holds the entries; this is what is used while Octo runs.
pub(crate) struct Models {
    keys: KeyRing,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    entries: Vec<ModelEntry>,
    connections: HashMap<ModelId, Connection>,
    language: Language,
}

/// A model that can be called.
#[derive(Clone)]
pub(crate) struct Connection {
    pub provider: Arc<dyn Provider>,
    pub model: String,
    pub vision: bool,
    pub max_output: u64,
}

impl Models {
    pub fn new(keys: KeyRing, entries: Vec<ModelEntry>, language: Language) -> Self {
        let state = State { entries, connections: HashMap::new(), language };
        Self { keys, state: Mutex::new(state) }
    }

    pub fn keys(&self) -> &KeyRing {
        &self.keys
    }

    /// All entries, in the order they were added.
    pub fn entries(&self) -> Vec<ModelEntry> {
        self.with(|state| state.entries.clone())
    }

    /// Stored entries as they are true for this run: a key that was kept for an earlier run only is gone.
    pub fn as_of_now(&self, mut entries: Vec<ModelEntry>) -> Vec<ModelEntry> {
        for entry in &mut entries {
            let held = host_of(&entry.base_url).is_ok_and(|host| self.keys.holds(entry.id, &host));
            if matches!(entry.key, KeyState::ThisRun { .. }) && !held {
                entry.key = KeyState::Missing;
            }
        }
        entries
    }

    /// The vendor's name of an entry's model; none when there is no such entry.
    pub fn vendor_name(&self, id: ModelId) -> Option<String> {
        self.with(|state| state.entries.iter().find(|entry| entry.id == id).map(|entry| entry.model.clone()))
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

    /// Sets the language the demo speaks.
    pub fn speak(&self, language: Language) {
        self.with(|state| state.language = language);
    }

    /// The demo, in a model's place.
    pub fn demo(&self) -> Connection {
        let language = words::resolve(self.with(|state| state.language));
        let provider = Arc::new(DemoProvider::new(language, READING_PACE));
        Connection { provider, model: "demo".to_owned(), vision: false, max_output: 4_096 }
    }

    /// The connection of a model, made on the first call.
    pub async fn connect(&self, id: Option<ModelId>) -> Result<Connection, ProviderError> {
        let missing =
            || ProviderError::new(ErrorClass::NotFound, "the session's model is no longer in the list");
        let id = id.ok_or_else(missing)?;
        if let Some(connection) = self.with(|state| state.connections.get(&id).cloned()) {
            return Ok(connection);
        }
        let entry = self
            .with(|state| state.entries.iter().find(|entry| entry.id == id).cloned())
            .ok_or_else(missing)?;
        let host = host_of(&entry.base_url)?;
        let key = self
            .keys
            .load(id, &host)
            .await
            .map_err(|error| ProviderError::new(ErrorClass::Auth, error.detail.unwrap_or(error.key)))?;
        let connection = connection(&entry, key)?;
        self.with(|state| state.connections.insert(id, connection.clone()));
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
        let known = limits(&model);
        Ok(ModelEntry {
            id,
            protocol: draft.protocol,
            base_url,
            model,
            context_window: known.context_window,
            max_output: known.max_output,
            vision: known.vision,
            key,
        })
    }

    /// Takes a stored entry into use.
    pub fn put(&self, entry: ModelEntry) {
        self.with(|state| {
            state.connections.remove(&entry.id);
            match state.entries.iter_mut().find(|known| known.id == entry.id) {
                Some(known) => *known = entry,
                None => state.entries.push(entry),
            }
        });
    }

    /// Forgets an entry and its key. The entry is gone even where the keychain refuses.
    pub async fn remove(&self, id: ModelId) -> Result<(), ApiError> {
        let removed = self.with(|state| {
            state.connections.remove(&id);
            let at = state.entries.iter().position(|entry| entry.id == id)?;
            Some(state.entries.remove(at))
        });
        let Some(entry) = removed else { return Ok(()) };
        match host_of(&entry.base_url) {
            Ok(host) => self.keys.forget(id, &host).await,
            Err(_) => Ok(()),
        }
    }

    /// Asks the drafted model for one word. Nothing is saved.
    pub async fn test(&self, draft: ModelDraft) -> ModelCheck {
        match tokio::time::timeout(TEST_PATIENCE, self.first_byte(draft)).await {
            Ok(Ok(first_byte_ms)) => ModelCheck::Works { first_byte_ms },
            Ok(Err(error)) => ModelCheck::Fails { error },
            Err(_) => ModelCheck::Fails { error: ApiError::new("model.test_too_slow").retryable() },
        }
    }

    async fn first_byte(&self, draft: ModelDraft) -> Result<u64, ApiError> {
        let base_url = draft.base_url.trim().trim_end_matches('/').to_owned();
        let host =
            host_of(&base_url).map_err(|error| ApiError::new("model.address_wrong").detail(error.message))?;
        let key = match (draft.key.filter(|key| !key.expose().trim().is_empty()), draft.id) {
            (Some(key), _) => Some(SecretString::from(key.expose().trim().to_owned())),
            (None, Some(id)) => self.keys.load(id, &host).await?,
            (None, None) => None,
        };
        let model = draft.model.trim().to_owned();
        let endpoint = Endpoint::new(draft.protocol, base_url, key);
        let provider = connect(endpoint).map_err(|error| error.to_api())?;
        let began = Instant::now();
        let mut events = provider.stream(one_word(model), CancellationToken::new());
        let mut first = None;
        while let Some(event) = events.next().await {
            let event = event.map_err(|error| error.to_api())?;
            first.get_or_insert_with(|| u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX));
            if let ModelEvent::Finished(_) = event {
                break;
            }
        }
        first.ok_or_else(|| ApiError::new("model.test_silent").code(ErrorCode::ModelNeeded))
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn connection(entry: &ModelEntry, key: Option<SecretString>) -> Result<Connection, ProviderError> {
    let provider = connect(Endpoint::new(entry.protocol, entry.base_url.clone(), key))?;
    Ok(Connection {
        provider,
        model: entry.model.clone(),
        vision: entry.vision,
        max_output: entry.max_output,
    })
}

/// The smallest request that proves a model works. Sixteen tokens are enough to say one word and to see
/// the stream end.
fn one_word(model: String) -> ModelRequest {
    let blocks = vec![Block::Text { text: "Say OK.".to_owned() }];
    let meta = Meta { origin: Origin::Octo, at: 0, model: None, usage: None, end: None };
    let message = Message { id: MessageId::new(), turn: TurnId::new(), role: Role::User, blocks, meta };
    ModelRequest {
        model,
        system: "Answer with one word.".into(),
        tools: Arc::from([]),
        messages: vec![message],
        images: Arc::default(),
        vision: false,
        max_output: 16,
        cache: CachePlan::default(),
    }
}
