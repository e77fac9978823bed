//! Providers of searches, and which of them rest.

use crate::http::Site;
use futures::future::BoxFuture;
use octo_protocol::SearchProviderKind;
use secrecy::SecretString;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use url::Url;

/// How long a provider that refused is left alone; the reference system's time too.
const REST: Duration = Duration::from_secs(10 * 60);

/// A provider that can be asked.
#[derive(Clone, Debug)]
pub struct Engine {
    /// Which.
    pub kind: SearchProviderKind,
    /// Where it is.
    pub address: Url,
    /// Its key, for one that needs a key.
    pub key: Option<SecretString>,
}

/// Says who is asked: the settings of the person, with keys from where keys are kept.
pub trait Engines: Send + Sync {
    /// The providers in the order they are asked.
    fn engines(&self) -> BoxFuture<'_, Vec<Engine>>;
}

/// The capability to search the web. Clones are one: a provider that refused one session rests for all.
#[derive(Clone)]
pub struct Search {
    engines: Arc<dyn Engines>,
    resting: Arc<Mutex<HashMap<SearchProviderKind, Instant>>>,
}

impl Engine {
    /// The address of a provider with one of its own; none for one whose address the person chooses.
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

    /// Its name, for the model.
    pub(super) fn name(&self) -> &'static str {
        match self.kind {
            SearchProviderKind::DuckDuckGo => "DuckDuckGo",
            SearchProviderKind::Bing => "Bing",
            SearchProviderKind::Brave => "Brave",
            SearchProviderKind::Tavily => "Tavily",
            SearchProviderKind::Searxng => "SearXNG",
        }
    }

    /// The place it is at, where it was the person who said so: that is allowed wherever it is.
    pub(super) fn chosen_site(&self) -> Option<Site> {
        match self.kind {
            SearchProviderKind::Searxng => Site::of(&self.address),
            SearchProviderKind::DuckDuckGo
            | SearchProviderKind::Bing
            | SearchProviderKind::Brave
            | SearchProviderKind::Tavily => None,
        }
    }
}

impl Search {
    /// Searches with these providers.
    pub fn new(engines: Arc<dyn Engines>) -> Self {
        Self { engines, resting: Arc::default() }
    }

    pub(super) async fn engines(&self) -> Vec<Engine> {
        self.engines.engines().await
    }

    /// How long a provider still rests.
    pub(super) fn resting(&self, kind: SearchProviderKind, now: Instant) -> Option<Duration> {
        let until = *self.resting.lock().unwrap_or_else(PoisonError::into_inner).get(&kind)?;
        until.checked_duration_since(now).filter(|left| !left.is_zero())
    }

    /// Leaves a provider alone for a while.
    pub(super) fn rest(&self, kind: SearchProviderKind, now: Instant) {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner).insert(kind, now + REST);
    }

    /// Asks every provider again at the next search: its settings have changed.
    pub fn wake(&self) {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl std::fmt::Debug for Search {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Search").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nobody;

    impl Engines for Nobody {
        fn engines(&self) -> BoxFuture<'_, Vec<Engine>> {
            Box::pin(async { Vec::new() })
        }
    }

    #[test]
    fn one_that_refused_rests_for_ten_minutes() {
        let search = Search::new(Arc::new(Nobody));
        let (bing, began) = (SearchProviderKind::Bing, Instant::now());
        assert_eq!(search.resting(bing, began), None);
        search.clone().rest(bing, began);
        assert_eq!(search.resting(bing, began + Duration::from_secs(60)), Some(Duration::from_secs(540)));
        assert_eq!(search.resting(SearchProviderKind::DuckDuckGo, began), None);
        assert_eq!(search.resting(bing, began + REST), None);
        search.rest(bing, began);
        search.wake();
        assert_eq!(search.resting(bing, began), None);
    }
}
