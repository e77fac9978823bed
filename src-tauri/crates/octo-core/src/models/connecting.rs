//! Connections to models, made on demand: the key is looked up, and faults of it are reported before anything
//! is sent.

use super::{ModelConnection, Models};
use octo_keys::SecretKind;
use octo_llm::{ErrorClass, ProviderError, host_of};
use octo_protocol::{ApiError, KeyState, KeychainState, ModelEntry, ModelId};

impl Models {
    /// Returns the connection of a model, made on the first call.
    pub async fn connect(&self, id: Option<ModelId>) -> Result<ModelConnection, ProviderError> {
        let removed =
            || ProviderError::new(ErrorClass::Removed, "the session's model is no longer in the list");
        let id = id.ok_or_else(removed)?;
        if let Some(connection) = self.with(|state| state.connections.get(&id).cloned()) {
            return Ok(connection);
        }
        let (generation, entry) =
            self.with(|state| (state.generation, state.entries.iter().find(|entry| entry.id == id).cloned()));
        let entry = entry.ok_or_else(removed)?;
        let host = host_of(&entry.base_url)?;
        if self.lacks_keychain(&entry, &host) {
            let detail = "there is no keychain in this run, and the model's key or a header is in it";
            return Err(ProviderError::new(ErrorClass::NoKeychain, detail));
        }
        let unread =
            |error: ApiError| ProviderError::new(ErrorClass::KeyUnread, error.detail.unwrap_or(error.key));
        let key = self.keys.load(id, &host, SecretKind::Key).await.map_err(unread)?;
        let headers = self.headers(&entry, &host).await.map_err(unread)?;
        let connection = self.connection(&entry, key, headers)?;
        self.with(|state| {
            // Reading the key may have taken a while; data changed meanwhile is read again at the next call.
            if state.generation == generation {
                state.connections.insert(id, connection.clone());
            }
        });
        Ok(connection)
    }

    /// Whether a secret of an entry is in a keychain that is unavailable in this run. A request without it
    /// would only be refused.
    pub(super) fn is_secret_unavailable(
        &self,
        entry: &ModelEntry,
        host: &str,
        key_state: &KeyState,
        secret_kind: SecretKind<'_>,
    ) -> bool {
        // A process that only passes keys through knows the keys it was given and requests no others.
        self.keys.state() == KeychainState::Unavailable
            && !self.keys.is_pass_through()
            && matches!(key_state, KeyState::Stored { .. })
            && host_of(&entry.base_url).is_ok_and(|entry_host| entry_host == host)
            && !self.keys.holds(entry.id, host, secret_kind)
    }

    fn lacks_keychain(&self, entry: &ModelEntry, host: &str) -> bool {
        self.is_secret_unavailable(entry, host, &entry.key, SecretKind::Key)
            || entry.headers.iter().any(|header| {
                self.is_secret_unavailable(entry, host, &header.value, SecretKind::Header(&header.name))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyring::credential::{Credential, CredentialBuilderApi};
    use octo_keys::KeyRing;
    use octo_llm::Presets;
    use octo_protocol::KeychainState;
    use octo_protocol::{ErrorCode, ModelDraft, Protocol, SavedHeader, Secret, Settings};

    const HERE: &str = "https://here.example";

    /// Returns an entry whose key and header are stored in these places.
    async fn entry(key: KeyState, header: Option<KeyState>) -> ModelEntry {
        let models = models(KeyRing::of_system(KeychainState::Unavailable), Vec::new());
        let (base_url, model) = (HERE.to_owned(), "m".to_owned());
        let draft =
            ModelDraft { id: None, protocol: Protocol::Anthropic, base_url, model, key: None, headers: None };
        let headers = header.map(|value| SavedHeader { name: "x-a".to_owned(), value });
        ModelEntry { key, headers: headers.into_iter().collect(), ..models.accept(draft).await.unwrap() }
    }

    fn models(keys: KeyRing, entries: Vec<ModelEntry>) -> Models {
        Models::new(keys, Presets::built_in(), entries, &Settings::default())
    }

    fn stored() -> KeyState {
        KeyState::Stored { last4: "cdef".to_owned() }
    }

    async fn words(models: &Models, id: ModelId) -> Option<String> {
        let error = models.connect(Some(id)).await.err()?;
        assert!(!error.class.is_retryable(), "{error}");
        Some(error.to_api().key)
    }

    #[tokio::test]
    async fn a_key_in_a_keychain_that_is_not_there_is_missed_before_anything_is_sent() {
        for (key, header, lacks) in [
            (stored(), None, true),
            (KeyState::Missing, Some(stored()), true),
            (KeyState::Missing, None, false),
            (KeyState::Missing, Some(KeyState::Missing), false),
        ] {
            let entry = entry(key, header).await;
            let models = models(KeyRing::of_system(KeychainState::Unavailable), vec![entry.clone()]);
            let expected = lacks.then(|| "key.no_keychain".to_owned());
            assert_eq!(words(&models, entry.id).await, expected, "{entry:?}");
        }
        let entry = entry(stored(), None).await;
        let models = models(KeyRing::of_system(KeychainState::Unavailable), vec![entry.clone()]);
        let draft = ModelDraft {
            id: Some(entry.id),
            protocol: entry.protocol,
            base_url: entry.base_url.clone(),
            model: entry.model.clone(),
            key: None,
            headers: None,
        };
        let error = models.remote_models(draft.clone()).await.unwrap_err();
        assert_eq!((error.key.as_str(), error.code), ("key.no_keychain", Some(ErrorCode::KeyNeeded)));
        // Given again, it is kept for this run, and the model works.
        let draft = ModelDraft { key: Some(Secret::new("sk-1234567890abcdef")), ..draft };
        models.put(models.accept(draft).await.unwrap());
        assert_eq!(words(&models, entry.id).await, None);
    }

    #[tokio::test]
    async fn who_only_passes_keys_through_misses_none_that_is_in_a_keychain() {
        let entry = entry(stored(), Some(stored())).await;
        let models = models(KeyRing::open(octo_keys::KeyStorage::Memory).await, vec![entry.clone()]);
        assert_eq!(words(&models, entry.id).await, None);
    }

    #[tokio::test]
    async fn a_model_that_was_removed_is_no_servers_refusal() {
        let models = models(KeyRing::of_system(KeychainState::Unavailable), Vec::new());
        assert_eq!(words(&models, ModelId::new()).await.as_deref(), Some("model.removed"));
        assert!(models.connect(None).await.is_err_and(|error| error.class == ErrorClass::Removed));
    }

    /// A keychain that is available at first and then locked.
    struct LockedKeychain;

    impl CredentialBuilderApi for LockedKeychain {
        fn build(&self, _: Option<&str>, _: &str, _: &str) -> keyring::Result<Box<Credential>> {
            Err(keyring::Error::NoStorageAccess("locked".into()))
        }

        fn as_any(&self) -> &dyn std::any::Any {
            self
        }
    }

    #[tokio::test]
    async fn a_locked_keychain_is_said_and_is_no_wrong_key() {
        keyring::set_default_credential_builder(Box::new(LockedKeychain));
        let entry = entry(stored(), None).await;
        let models = models(KeyRing::of_system(KeychainState::Available), vec![entry.clone()]);
        assert_eq!(words(&models, entry.id).await.as_deref(), Some("key.not_read"));
    }
}
