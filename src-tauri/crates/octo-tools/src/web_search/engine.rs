//! Search providers, and their pauses after a refusal.

use crate::http::Site;
use futures::future::BoxFuture;
use octo_protocol::SearchProviderKind;
use parking_lot::Mutex;
use secrecy::SecretString;
use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};
use url::Url;

/// Time for which a provider that refused is not asked again.
const REST_TIME: Duration = Duration::from_secs(10 * 60);

/// A search provider.
#[derive(Clone, Debug)]
pub struct SearchEngine {
    /// Kind of the provider.
    pub kind: SearchProviderKind,
    /// Its address.
    pub address: Url,
    /// Its key, if it needs one.
    pub key: Option<SecretString>,
}

/// Source of the providers to query: the person's settings, with keys from the keychain.
pub trait SearchEngines: Send + Sync {
    /// Returns the providers in the order of queries.
    fn engines(&self) -> BoxFuture<'_, Vec<SearchEngine>>;
}

/// The capability to search the web. Clones share their state: a provider that refused one session rests for
/// all.
#[derive(Clone)]
pub struct WebSearch {
    engines: Arc<dyn SearchEngines>,
    resting: Arc<Mutex<HashMap<SearchProviderKind, Instant>>>,
}

impl SearchEngine {
    /// Returns the fixed address of a provider; `None` if the person chooses it.
    pub fn address_of(kind: SearchProviderKind) -> Option<Url> {
        let address = match kind {
            SearchProviderKind::DuckDuckGo => "https://html.duckduckgo.com/html/",
            SearchProviderKind::Bing => "https://www.bing.com/search",
            SearchProviderKind::Brave => "https://api.search.brave.com/res/v1/web/search",
            SearchProviderKind::Tavily => "https://api.tavily.com/search",
            SearchProviderKind::Searxng => return None,
        };
        Url::parse(address).ok()
    }

    /// Returns its name, for the model.
    pub(super) fn name(&self) -> &'static str {
        match self.kind {
            SearchProviderKind::DuckDuckGo => "DuckDuckGo",
            SearchProviderKind::Bing => "Bing",
            SearchProviderKind::Brave => "Brave",
            SearchProviderKind::Tavily => "Tavily",
            SearchProviderKind::Searxng => "SearXNG",
        }
    }

    /// Returns its site if the person chose the address: that site is allowed regardless of its network
    /// distance.
    pub(super) fn chosen_site(&self) -> Option<Site> {
        match self.kind {
            SearchProviderKind::Searxng => Site::from_url(&self.address),
            SearchProviderKind::DuckDuckGo
            | SearchProviderKind::Bing
            | SearchProviderKind::Brave
            | SearchProviderKind::Tavily => None,
        }
    }
}

impl WebSearch {
    /// Creates a search with these providers.
    pub fn new(engines: Arc<dyn SearchEngines>) -> Self {
        Self { engines, resting: Arc::default() }
    }

    pub(super) async fn engines(&self) -> Vec<SearchEngine> {
        self.engines.engines().await
    }

    /// Returns how long a provider still rests.
    pub(super) fn remaining_pause(&self, kind: SearchProviderKind, now: Instant) -> Option<Duration> {
        let deadline = *self.resting.lock().get(&kind)?;
        deadline.checked_duration_since(now).filter(|remaining| !remaining.is_zero())
    }

    /// Excludes a provider for [`REST_TIME`].
    pub(super) fn pause(&self, kind: SearchProviderKind, now: Instant) {
        self.resting.lock().insert(kind, now + REST_TIME);
    }

    /// Ends all pauses, so the next search asks every provider: the settings have changed.
    pub fn end_pauses(&self) {
        self.resting.lock().clear();
    }
}

impl std::fmt::Debug for WebSearch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Search").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NoEngines;

    impl SearchEngines for NoEngines {
        fn engines(&self) -> BoxFuture<'_, Vec<SearchEngine>> {
            Box::pin(async { Vec::new() })
        }
    }

    #[test]
    fn an_engine_that_refused_pauses_for_ten_minutes() {
        let search = WebSearch::new(Arc::new(NoEngines));
        let (bing, start) = (SearchProviderKind::Bing, Instant::now());
        assert_eq!(search.remaining_pause(bing, start), None);
        search.clone().pause(bing, start);
        assert_eq!(
            search.remaining_pause(bing, start + Duration::from_secs(60)),
            Some(Duration::from_secs(540))
        );
        assert_eq!(search.remaining_pause(SearchProviderKind::DuckDuckGo, start), None);
        assert_eq!(search.remaining_pause(bing, start + REST_TIME), None);
        search.pause(bing, start);
        search.end_pauses();
        assert_eq!(search.remaining_pause(bing, start), None);
    }
}
