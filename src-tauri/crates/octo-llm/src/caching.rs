//! Behaviour of a provider's prompt cache, and a request's use of it.
//!
//! [`Caching`] is data about a model (see the presets); [`CachePlan`] is what one request asks of the cache,
//! made by the planner from the conversation and applied by the codecs. A plan never changes content: the same
//! request without the plan says the same to the model.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Behaviour of a provider's cache for a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Caching {
    /// How prefixes enter the cache and are found there.
    pub kind: CacheKind,
    /// Length of the shortest prefix that is cached, in tokens.
    pub minimum: u64,
}

impl Caching {
    /// No known caching.
    pub const NONE: Self = Self { kind: CacheKind::None, minimum: 0 };

    /// Returns Anthropic's rules for its current models (autumn 2026): the default for a server that speaks
    /// this protocol and is otherwise unknown. A server that does not understand markers ignores them.
    pub fn anthropic() -> Self {
        let lifetimes = vec![CacheLifetime::FiveMinutes, CacheLifetime::Hour];
        Self { kind: CacheKind::Markers { limit: 4, lookback: 20, lifetimes }, minimum: 1024 }
    }

    /// Returns the minimum lifetime of an entry after its last use, if known. For markers, the shortest
    /// lifetime.
    pub fn min_lifetime(&self) -> Option<Duration> {
        let seconds = match &self.kind {
            CacheKind::None => return None,
            CacheKind::Markers { lifetimes, .. } => lifetimes.iter().min()?.seconds(),
            CacheKind::Breakpoints { life_seconds, .. }
            | CacheKind::Prefix { life_seconds, .. }
            | CacheKind::Units { life_seconds }
            | CacheKind::Probabilistic { life_seconds, .. } => *life_seconds,
        };
        Some(Duration::from_secs(seconds))
    }
}

/// How prefixes enter a cache and are found there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CacheKind {
    /// No known caching.
    None,
    /// Entries are written at markers in the request, and found by walking back from a marker (Anthropic,
    /// Bedrock, and routers that pass markers through).
    Markers {
        /// Maximum markers in a request.
        limit: usize,
        /// Positions searched back from a marker, including its own. Consecutive calls are one position, and so
        /// are consecutive results.
        lookback: usize,
        /// Lifetimes that a marker may request.
        #[serde(rename = "lives")]
        lifetimes: Vec<CacheLifetime>,
    },
    /// Entries are written at breakpoints and match exactly there (OpenAI from GPT-5.6 on).
    Breakpoints {
        /// Maximum explicit breakpoints in a request.
        limit: usize,
        /// Number of the latest breakpoints that are searched.
        lookback: usize,
        /// Minimum lifetime of an entry, in seconds from its last use.
        life_seconds: u64,
    },
    /// The server automatically reads the longest common prefix with an earlier request, in steps (OpenAI
    /// before GPT-5.6, and similar servers).
    Prefix {
        /// Step size, in tokens.
        step: u64,
        /// Lifetime of an idle entry, in seconds.
        life_seconds: u64,
        /// Whether a key in the request routes it to the machine that caches its prefix.
        keyed: bool,
    },
    /// A request writes two units, up to the end of its input and up to the end of its output; a later request
    /// reads a unit if it begins with the whole unit (DeepSeek).
    Units {
        /// Lifetime of a unit, in seconds.
        life_seconds: u64,
    },
    /// Like [`CacheKind::Prefix`], but without a guarantee (Gemini's implicit cache).
    #[serde(rename = "chance")]
    Probabilistic {
        /// Probability that a readable prefix is read, from 0 to 1. An assumption, for estimates only.
        probability: f64,
        /// Lifetime of an entry, in seconds. An assumption, for estimates only.
        life_seconds: u64,
    },
}

/// Lifetime of an entry, from the start of the request that wrote or last read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheLifetime {
    /// Five minutes.
    FiveMinutes,
    /// An hour.
    Hour,
}

impl CacheLifetime {
    /// Returns the lifetime in seconds.
    pub fn seconds(self) -> u64 {
        match self {
            Self::FiveMinutes => 300,
            Self::Hour => 3600,
        }
    }
}

/// A request's instructions to the cache. Made by [`plan`](crate::plan).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CachePlan {
    /// Marker (or breakpoint) after tools and system prompt; `None` for no marker.
    pub fixed: Option<CacheLifetime>,
    /// Messages (by index, ascending) that a marker (or breakpoint) follows. No lifetime is longer than an
    /// earlier one, including that of `fixed`.
    pub messages: Vec<(usize, CacheLifetime)>,
    /// Key of the conversation, for providers that route requests by a key; at most 64 plain characters. A
    /// codec writes it only under a field that its dialect names.
    pub key: Option<String>,
}
