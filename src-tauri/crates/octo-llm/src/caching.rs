//! What a provider's prompt cache does, and what a request asks of it.
//!
//! [`Caching`] is data about a model (see the presets); [`CachePlan`] is one request's share of it, made by the
//! planner from the conversation and carried out by the codecs. A plan never changes content: the same request
//! without it says the same to the model.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What a provider's cache does for a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Caching {
    /// How prefixes get into the cache and are found there.
    pub kind: CacheKind,
    /// The shortest prefix that is kept, in tokens.
    pub minimum: u64,
}

impl Caching {
    /// Nothing is known to be cached.
    pub const NONE: Self = Self { kind: CacheKind::None, minimum: 0 };

    /// Anthropic's rules for its current models (autumn 2026): what holds where a server takes that protocol
    /// and nothing else is known of it. Markers do no harm where they are not understood.
    pub fn anthropic() -> Self {
        let lives = vec![Life::FiveMinutes, Life::Hour];
        Self { kind: CacheKind::Markers { limit: 4, lookback: 20, lives }, minimum: 1024 }
    }

    /// How long an entry lives at least after its last use, where it is known. Of markers, the shortest life.
    pub fn life(&self) -> Option<Duration> {
        let seconds = match &self.kind {
            CacheKind::None => return None,
            CacheKind::Markers { lives, .. } => lives.iter().min()?.seconds(),
            CacheKind::Breakpoints { life_seconds, .. }
            | CacheKind::Prefix { life_seconds, .. }
            | CacheKind::Units { life_seconds }
            | CacheKind::Chance { life_seconds, .. } => *life_seconds,
        };
        Some(Duration::from_secs(seconds))
    }
}

/// How prefixes get into a cache and are found there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CacheKind {
    /// Nothing is known to be cached.
    None,
    /// Entries are written at markers in the request, and found by walking back from a marker (Anthropic,
    /// Bedrock, and routers that pass markers through).
    Markers {
        /// Markers a request may have.
        limit: usize,
        /// Positions looked at from a marker, its own included. Calls in a row are one position, and so are
        /// results in a row.
        lookback: usize,
        /// The lives a marker may ask for.
        lives: Vec<Life>,
    },
    /// Entries are written at breakpoints and match exactly there (OpenAI from GPT-5.6 on).
    Breakpoints {
        /// Explicit breakpoints a request may have.
        limit: usize,
        /// How many of the latest breakpoints are looked at.
        lookback: usize,
        /// How long an entry lives at least, in seconds, from its last use.
        life_seconds: u64,
    },
    /// The longest common beginning with an earlier request is read by itself, in steps (OpenAI before
    /// GPT-5.6, and servers like it).
    Prefix {
        /// The step, in tokens.
        step: u64,
        /// How long an entry lives idle, in seconds.
        life_seconds: u64,
        /// Whether a key in the request steers it to the machine that holds its prefix.
        keyed: bool,
    },
    /// A request leaves two units, the end of its input and the end of its output; a later one reads a unit
    /// it begins with as a whole (DeepSeek).
    Units {
        /// How long a unit lives, in seconds.
        life_seconds: u64,
    },
    /// As [`CacheKind::Prefix`], but without a promise (Gemini's implicit cache).
    Chance {
        /// How often a prefix that could be read is read, from 0 to 1. An assumption, for estimates only.
        probability: f64,
        /// How long an entry lives, in seconds. An assumption, for estimates only.
        life_seconds: u64,
    },
}

/// How long an entry lives from the start of the request that wrote or last read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Life {
    /// Five minutes.
    FiveMinutes,
    /// An hour.
    Hour,
}

impl Life {
    /// In seconds.
    pub fn seconds(self) -> u64 {
        match self {
            Self::FiveMinutes => 300,
            Self::Hour => 3600,
        }
    }
}

/// What one request asks of the cache. Made by [`plan`](crate::plan).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CachePlan {
    /// The marker (or breakpoint) behind tools and system prompt; none for no marker.
    pub fixed: Option<Life>,
    /// The messages (by index, rising) behind which a marker (or breakpoint) goes. No life is longer than one
    /// before it, that of `fixed` included.
    pub messages: Vec<(usize, Life)>,
    /// Names the conversation, for providers that steer requests by a key; at most 64 plain characters. A codec
    /// writes it only under a field its dialect names.
    pub key: Option<String>,
}
