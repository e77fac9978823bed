//! Providers of web searches.

use crate::{KeyState, Secret};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A search provider that Octo supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum SearchProviderKind {
    /// DuckDuckGo's page for browsers without scripts.
    DuckDuckGo,
    /// Bing's results page.
    Bing,
    /// Brave's API; needs a key.
    Brave,
    /// Tavily's API; needs a key.
    Tavily,
    /// A SearXNG server of the person's choice; needs its address.
    Searxng,
}

/// A provider in use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SearchProvider {
    /// The provider.
    pub kind: SearchProviderKind,
    /// Whether there is a key for it; [`KeyState::Missing`] where it needs none.
    pub key: KeyState,
    /// Its address, where the person chooses it.
    pub address: Option<String>,
}

/// The providers in use, in the order in which they are tried; each kind at most once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(transparent)]
#[ts(export, export_to = "protocol.ts")]
pub struct SearchProviders(pub Vec<SearchProvider>);

impl Default for SearchProviders {
    /// The providers that need neither a key nor an address.
    fn default() -> Self {
        let unset = |kind| SearchProvider { kind, key: KeyState::Missing, address: None };
        Self(vec![unset(SearchProviderKind::DuckDuckGo), unset(SearchProviderKind::Bing)])
    }
}

/// A provider as the person enters it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SearchProviderDraft {
    /// The provider.
    pub kind: SearchProviderKind,
    /// Its key; `None` to keep the saved one.
    pub key: Option<Secret>,
    /// Its address; only for a provider whose address the person chooses.
    pub address: Option<String>,
}
