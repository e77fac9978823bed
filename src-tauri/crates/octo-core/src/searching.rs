//! The web search providers the person configured: settings in the store, keys in the keychain, each bound to
//! the host of its provider.

use futures::future::BoxFuture;
use octo_keys::{KeyRing, SecretKind};
use octo_llm::host_of;
use octo_protocol::{
    ApiError, KeyState, SearchProvider, SearchProviderDraft, SearchProviderKind, SearchProviders, Secret,
};
use octo_tools::{SearchEngine, SearchEngines};
use parking_lot::Mutex;
use secrecy::SecretString;

/// The keychain owner of the keys, next to models.
const OWNER: &str = "search";

/// The providers in use.
pub(crate) struct SearchConfig {
    keys: KeyRing,
    providers: Mutex<SearchProviders>,
}

impl SearchConfig {
    pub fn new(keys: KeyRing, providers: &SearchProviders) -> Self {
        Self { keys, providers: Mutex::new(providers.clone()) }
    }

    /// Puts stored settings into effect.
    pub fn apply_settings(&self, providers: &SearchProviders) {
        *self.providers.lock() = providers.clone();
    }

    /// Adapts stored providers to this run: a key kept only for an earlier run is lost.
    pub fn adapt_to_run(&self, mut providers: SearchProviders) -> SearchProviders {
        for provider in &mut providers.0 {
            let has_key =
                host(provider.kind).is_some_and(|host| self.keys.holds(OWNER, &host, SecretKind::Key));
            if matches!(provider.key, KeyState::ThisRun { .. }) && !has_key {
                provider.key = KeyState::Missing;
            }
        }
        providers
    }

    /// Converts a draft into a provider and saves its key. Stores nothing else yet.
    pub async fn accept(&self, draft: SearchProviderDraft) -> Result<SearchProvider, ApiError> {
        let unset = SearchProvider { kind: draft.kind, key: KeyState::Missing, address: None };
        match draft.kind {
            SearchProviderKind::DuckDuckGo | SearchProviderKind::Bing => Ok(unset),
            SearchProviderKind::Brave | SearchProviderKind::Tavily => {
                let host = host(draft.kind).ok_or_else(|| ApiError::new("internal"))?;
                let new_key = draft.key.filter(|key| !key.expose().trim().is_empty());
                let key = match new_key {
                    Some(key) => {
                        self.keys
                            .save(OWNER, &host, SecretKind::Key, Secret::new(key.expose().trim()))
                            .await?
                    }
                    None => self.state(draft.kind).ok_or_else(|| ApiError::new("search.key_missing"))?,
                };
                Ok(SearchProvider { key, ..unset })
            }
            SearchProviderKind::Searxng => {
                let address = draft.address.unwrap_or_default().trim().trim_end_matches('/').to_owned();
                // The error must not repeat a password.
                host_of(&address).map_err(|_| ApiError::new("search.address_wrong"))?;
                Ok(SearchProvider { address: Some(address), ..unset })
            }
        }
    }

    /// Forgets a provider's key. A missing key is not an error.
    pub async fn forget(&self, kind: SearchProviderKind) -> Result<(), ApiError> {
        match host(kind) {
            Some(host) => self.keys.forget(OWNER, &host, SecretKind::Key).await,
            None => Ok(()),
        }
    }

    /// Returns the keys of all providers.
    ///
    /// # Errors
    /// `key.not_read`: unreadable keys cannot be removed from an export.
    pub async fn secrets(&self) -> Result<Vec<SecretString>, ApiError> {
        let mut secrets = Vec::new();
        for provider in self.providers().0 {
            if let (true, Some(host)) = (provider.key != KeyState::Missing, host(provider.kind)) {
                secrets.extend(self.keys.load(OWNER, &host, SecretKind::Key).await?);
            }
        }
        Ok(secrets)
    }

    fn providers(&self) -> SearchProviders {
        let providers = self.providers.lock().clone();
        self.adapt_to_run(providers)
    }

    /// Returns where a provider's key is stored, or `None` without a key.
    fn state(&self, kind: SearchProviderKind) -> Option<KeyState> {
        let provider = self.providers().0.into_iter().find(|provider| provider.kind == kind)?;
        (provider.key != KeyState::Missing).then_some(provider.key)
    }

    async fn engine(&self, provider: SearchProvider) -> Option<SearchEngine> {
        let address = match (SearchEngine::address_of(provider.kind), provider.address) {
            (Some(address), _) => address,
            (None, address) => address?.parse().ok()?,
        };
        let key = match (&provider.key, host(provider.kind)) {
            (KeyState::Missing, _) | (_, None) => None,
            (KeyState::Stored { .. } | KeyState::ThisRun { .. }, Some(host)) => {
                self.keys.load(OWNER, &host, SecretKind::Key).await.unwrap_or_else(|error| {
                    tracing::warn!(%error, "a key for searching cannot be read");
                    None
                })
            }
        };
        Some(SearchEngine { kind: provider.kind, address, key })
    }
}

impl SearchEngines for SearchConfig {
    fn engines(&self) -> BoxFuture<'_, Vec<SearchEngine>> {
        Box::pin(async {
            let mut engines = Vec::new();
            for provider in self.providers().0 {
                engines.extend(self.engine(provider).await);
            }
            engines
        })
    }
}

/// Returns the host a provider's key is bound to, or `None` if the provider takes no key.
fn host(kind: SearchProviderKind) -> Option<String> {
    match kind {
        SearchProviderKind::Brave | SearchProviderKind::Tavily => {
            Some(SearchEngine::address_of(kind)?.origin().ascii_serialization())
        }
        SearchProviderKind::DuckDuckGo | SearchProviderKind::Bing | SearchProviderKind::Searxng => None,
    }
}

/// Replaces the provider of the same kind, or appends it.
pub(crate) fn put(providers: &mut SearchProviders, provider: SearchProvider) {
    match providers.0.iter_mut().find(|existing| existing.kind == provider.kind) {
        Some(existing) => *existing = provider,
        None => providers.0.push(provider),
    }
}

/// Moves the named ones to the front, in that order.
pub(crate) fn order(providers: &mut SearchProviders, order: &[SearchProviderKind]) {
    let index = |kind| order.iter().position(|listed_kind| *listed_kind == kind).unwrap_or(order.len());
    providers.0.sort_by_key(|provider| index(provider.kind));
}

#[cfg(test)]
mod tests {
    use super::*;
    use octo_keys::KeyStorage;
    use secrecy::ExposeSecret;

    fn draft(kind: SearchProviderKind, key: Option<&str>, address: Option<&str>) -> SearchProviderDraft {
        SearchProviderDraft { kind, key: key.map(Secret::new), address: address.map(str::to_owned) }
    }

    #[tokio::test]
    async fn a_key_stays_with_its_provider_until_it_is_removed() {
        let searching =
            SearchConfig::new(KeyRing::open(KeyStorage::Memory).await, &SearchProviders::default());
        let (brave, tavily) = (SearchProviderKind::Brave, SearchProviderKind::Tavily);
        let missing = searching.accept(draft(brave, Some("  "), None)).await.unwrap_err();
        assert_eq!(missing.key, "search.key_missing");
        let saved = searching.accept(draft(brave, Some(" BSA-1234567890abcdef "), None)).await.unwrap();
        assert_eq!(saved.key, KeyState::ThisRun { last4: "cdef".into() });
        let mut providers = SearchProviders::default();
        put(&mut providers, saved.clone());
        order(&mut providers, &[brave]);
        searching.apply_settings(&providers);
        assert_eq!(searching.accept(draft(brave, None, None)).await.unwrap(), saved, "the key is kept");
        assert!(searching.accept(draft(tavily, None, None)).await.is_err(), "a key is of one provider");
        let engines = searching.engines().await;
        let keys: Vec<_> = engines
            .iter()
            .map(|engine| engine.key.as_ref().map(|key| key.expose_secret().to_owned()))
            .collect();
        assert_eq!(keys, [Some("BSA-1234567890abcdef".to_owned()), None, None]);
        assert_eq!(engines[0].address.host_str(), Some("api.search.brave.com"));
        searching.forget(brave).await.unwrap();
        assert_eq!(searching.adapt_to_run(providers).0[0].key, KeyState::Missing);
        assert!(searching.engines().await[0].key.is_none());
    }

    /// Under other names the keys that people saved would not be found.
    #[tokio::test]
    async fn the_names_in_the_keychain_stay() {
        let keys = KeyRing::open(KeyStorage::Memory).await;
        let searching = SearchConfig::new(keys.clone(), &SearchProviders::default());
        for (kind, host) in [
            (SearchProviderKind::Brave, "https://api.search.brave.com"),
            (SearchProviderKind::Tavily, "https://api.tavily.com"),
        ] {
            searching.accept(draft(kind, Some("BSA-1234567890abcdef"), None)).await.unwrap();
            assert!(keys.holds("search", host, SecretKind::Key), "{kind:?}");
        }
    }

    #[tokio::test]
    async fn an_address_holds_no_secret_and_names_a_host() {
        let searching =
            SearchConfig::new(KeyRing::open(KeyStorage::Memory).await, &SearchProviders::default());
        let searxng = SearchProviderKind::Searxng;
        for address in ["", "searx", "ftp://searx.example", "https://me:s3cret@searx.example", "https://"] {
            let error = searching.accept(draft(searxng, None, Some(address))).await.unwrap_err();
            assert_eq!(error.key, "search.address_wrong", "{address}");
            assert!(!format!("{error:?}").contains("s3cret"));
        }
        let provider =
            searching.accept(draft(searxng, None, Some(" http://localhost:8888/searx/ "))).await.unwrap();
        assert_eq!(provider.address.as_deref(), Some("http://localhost:8888/searx"));
        searching.apply_settings(&SearchProviders(vec![provider]));
        assert_eq!(searching.engines().await[0].address.as_str(), "http://localhost:8888/searx");
    }

    #[test]
    fn providers_stand_once_and_in_the_persons_order() {
        let mut providers = SearchProviders::default();
        let unset = |kind| SearchProvider { kind, key: KeyState::Missing, address: None };
        put(&mut providers, unset(SearchProviderKind::Brave));
        put(&mut providers, unset(SearchProviderKind::Bing));
        order(&mut providers, &[SearchProviderKind::Brave, SearchProviderKind::Bing]);
        let kinds: Vec<_> = providers.0.iter().map(|provider| provider.kind).collect();
        assert_eq!(
            kinds,
            [SearchProviderKind::Brave, SearchProviderKind::Bing, SearchProviderKind::DuckDuckGo]
        );
    }
}
