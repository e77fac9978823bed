//! Who is asked when the web is searched.

use crate::{KeyState, Secret};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A provider of searches Octo can speak to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum SearchProviderKind {
    /// DuckDuckGo's page for browsers without scripts.
    DuckDuckGo,
    /// Bing's page.
    Bing,
    /// Brave's programming interface; needs a key.
    Brave,
    /// Tavily's programming interface; needs a key.
    Tavily,
    /// A SearXNG server of the person's choice; needs its address.
    Searxng,
}

/// A provider in use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SearchProvider {
    /// Which.
    pub kind: SearchProviderKind,
    /// Whether there is a key for it; [`KeyState::Missing`] where it needs none.
    pub key: KeyState,
    /// Its address, where the person chooses it.
    pub address: Option<String>,
}

/// The providers in use, in the order they are asked; each kind at most once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(transparent)]
#[ts(export)]
pub struct SearchProviders(pub Vec<SearchProvider>);

impl Default for SearchProviders {
    /// Those that need neither a key nor an address.
    fn default() -> Self {
        let plain = |kind| SearchProvider { kind, key: KeyState::Missing, address: None };
        Self(vec![plain(SearchProviderKind::DuckDuckGo), plain(SearchProviderKind::Bing)])
    }
}

/// A provider as the person enters it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SearchProviderDraft {
    /// Which.
    pub kind: SearchProviderKind,
    /// Its key; none to keep the one that is saved.
    pub key: Option<Secret>,
    /// Its address; only for a provider whose address the person chooses.
    pub address: Option<String>,
}
