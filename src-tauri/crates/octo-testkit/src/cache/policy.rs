//! The rules of providers' caches, as data.

use crate::server_format::server_format;
use octo_protocol::{Protocol, Usage};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

/// The rules of a provider's prompt cache. The constructors follow the providers' published rules of autumn
/// 2026; where sources disagree, they take the stricter reading.
#[derive(Clone, Debug, PartialEq)]
pub struct CachePolicy {
    /// How prefixes are written and found.
    pub write_mode: CacheWriteMode,
    /// Whether each effort has its own entries.
    pub effort: EffortKey,
    /// The shortest prefix that is cached, in tokens.
    pub minimum: u64,
    /// How long entries live.
    pub lifetimes: EntryLifetimes,
    /// When an entry becomes readable.
    pub visibility: Visibility,
    /// Whether a readable entry is always read.
    pub hit_certainty: HitCertainty,
    /// Which requests reach the same machine.
    pub routing: Routing,
    /// Prices of tokens.
    pub prices: CachePrices,
}

/// How prefixes are written to a cache and found there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheWriteMode {
    /// Nothing is cached.
    Never,
    /// After every segment, without expiry. No provider does this; it is the yardstick for the others.
    Everywhere,
    /// One entry per marker; lookups walk back from each marker.
    Markers {
        /// Maximum number of markers in a request; one more is refused.
        limit: usize,
        /// How far a lookup walks back from a marker.
        lookback: Lookback,
    },
    /// One entry per breakpoint, found only exactly there. The newest eligible message gets a breakpoint
    /// automatically unless the request says otherwise.
    Breakpoints {
        /// Maximum number of breakpoints in a request, the automatic one included; one more is refused.
        limit: usize,
        /// Number of the conversation's latest breakpoints that are looked up.
        lookback: usize,
    },
    /// An entry at every multiple of the step; a lookup finds the longest common prefix.
    Steps {
        /// Step size in tokens.
        step: u64,
    },
    /// One entry at the end of the input, one at the end of the output, and one for each prefix seen in two
    /// requests; found only as a whole.
    Units {
        /// Granularity at which common prefixes are noticed, in tokens.
        step: u64,
    },
}

/// How far a lookup walks back from a marker, the marker's own position included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookback {
    /// This many positions: consecutive calls count as one, and so do consecutive results.
    Positions(usize),
    /// This many blocks.
    Blocks(usize),
}

/// Whether each effort has its own entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffortKey {
    /// A request with another effort finds nothing.
    Counts,
    /// The effort makes no difference.
    Ignored,
}

/// How long entries live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryLifetimes {
    /// Default lifetime.
    pub short: Duration,
    /// Longer lifetime a request may ask for.
    pub long: Option<Duration>,
    /// Maximum lifetime, however often the entry is read.
    pub max_total: Option<Duration>,
    /// The moment from which the lifetime counts.
    pub origin: LifetimeOrigin,
}

/// The moment from which a lifetime counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifetimeOrigin {
    /// The start of the request that wrote or read the entry.
    RequestStart,
    /// The first token of its answer.
    FirstToken,
}

/// When an entry becomes readable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// At the first token of the answer to the request that wrote it.
    FirstToken,
    /// This long after that token.
    Later(Duration),
}

/// Whether a readable entry is always read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HitCertainty {
    /// Always.
    Always,
    /// With a probability; `seed` starts the random sequence.
    Chance {
        /// From 0 to 1.
        probability: f64,
        /// The same seed gives the same sequence.
        seed: u64,
    },
}

/// Which requests reach the same machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routing {
    /// All of them.
    One,
    /// Those with the same first 256 tokens and the same key.
    ByKey {
        /// Requests per minute one machine accepts; the surplus is sent to the next machine, whose cache is
        /// empty.
        per_minute: Option<u32>,
    },
}

/// Prices of a million tokens, in dollars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CachePrices {
    /// Input at the full price.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Input written to the cache.
    pub write: f64,
    /// Tokens written with the long lifetime.
    pub write_long: f64,
    /// Input read from the cache.
    pub read: f64,
}

impl CachePrices {
    /// Prices of Claude Sonnet, with the usual multiples of 1.25, 2 and 0.1 (2026).
    pub const SONNET: Self = Self { input: 3.0, output: 15.0, write: 3.75, write_long: 6.0, read: 0.3 };
    /// The same prices without a fee for cache writes.
    pub const FREE_WRITES: Self = Self { write: 3.0, write_long: 3.0, ..Self::SONNET };

    /// Returns the cost of a call in dollars. `long` of its written tokens have the long lifetime.
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    pub fn cost(&self, usage: &Usage, long_context: u64) -> f64 {
        let Usage { input, cache_read, cache_write, output } = *usage;
        let dollars = input as f64 * self.input
            + output as f64 * self.output
            + (cache_write - long_context) as f64 * self.write
            + long_context as f64 * self.write_long
            + cache_read as f64 * self.read;
        dollars / 1e6
    }
}

impl CachePolicy {
    /// Anthropic's Messages: four markers, twenty positions, five minutes or an hour from the request's start.
    pub fn anthropic() -> Self {
        Self {
            write_mode: CacheWriteMode::Markers { limit: 4, lookback: Lookback::Positions(20) },
            effort: EffortKey::Counts,
            minimum: 1024,
            lifetimes: EntryLifetimes {
                short: 5 * MINUTE,
                long: Some(HOUR),
                max_total: None,
                origin: LifetimeOrigin::RequestStart,
            },
            visibility: Visibility::FirstToken,
            hit_certainty: HitCertainty::Always,
            routing: Routing::One,
            prices: CachePrices::SONNET,
        }
    }

    /// Bedrock's Converse: like Anthropic's, but a marker looks back twenty blocks, however they are grouped.
    pub fn bedrock() -> Self {
        let writing = CacheWriteMode::Markers { limit: 4, lookback: Lookback::Blocks(20) };
        Self { write_mode: writing, ..Self::anthropic() }
    }

    /// OpenAI's models before GPT-5.6: automatic from 1,024 tokens, in steps of 128, for five idle minutes and
    /// an hour at most.
    pub fn openai_automatic() -> Self {
        Self {
            write_mode: CacheWriteMode::Steps { step: 128 },
            effort: EffortKey::Ignored,
            lifetimes: EntryLifetimes {
                short: 5 * MINUTE,
                long: None,
                max_total: Some(HOUR),
                origin: LifetimeOrigin::FirstToken,
            },
            routing: Routing::ByKey { per_minute: Some(15) },
            prices: CachePrices::FREE_WRITES,
            ..Self::anthropic()
        }
    }

    /// OpenAI's models from GPT-5.6 on: breakpoints that live for half an hour after their last use.
    pub fn openai_breakpoints() -> Self {
        Self {
            write_mode: CacheWriteMode::Breakpoints { limit: 4, lookback: 80 },
            effort: EffortKey::Ignored,
            lifetimes: EntryLifetimes {
                short: 30 * MINUTE,
                long: None,
                max_total: None,
                origin: LifetimeOrigin::FirstToken,
            },
            ..Self::anthropic()
        }
    }

    /// DeepSeek: units on disk that are read only as a whole and live for hours at least.
    pub fn deepseek() -> Self {
        Self {
            write_mode: CacheWriteMode::Units { step: 64 },
            effort: EffortKey::Ignored,
            minimum: 64,
            lifetimes: EntryLifetimes {
                short: 2 * HOUR,
                long: None,
                max_total: None,
                origin: LifetimeOrigin::FirstToken,
            },
            prices: CachePrices { input: 0.139, output: 0.28, write: 0.139, write_long: 0.139, read: 0.028 },
            ..Self::anthropic()
        }
    }

    /// Gemini's implicit cache: the longest common prefix, without a guarantee. The probability and the step
    /// are assumptions.
    pub fn gemini(seed: u64) -> Self {
        Self {
            write_mode: CacheWriteMode::Steps { step: 16 },
            effort: EffortKey::Ignored,
            minimum: 4096,
            lifetimes: EntryLifetimes {
                short: 5 * MINUTE,
                long: None,
                max_total: None,
                origin: LifetimeOrigin::FirstToken,
            },
            hit_certainty: HitCertainty::Chance { probability: 0.8, seed },
            prices: CachePrices::FREE_WRITES,
            ..Self::anthropic()
        }
    }

    /// The best possible cache at these prices: each token is written once and read from then on.
    pub fn ideal(prices: CachePrices) -> Self {
        let years = 10_000 * HOUR;
        Self {
            write_mode: CacheWriteMode::Everywhere,
            minimum: 0,
            lifetimes: EntryLifetimes {
                short: years,
                long: None,
                max_total: None,
                origin: LifetimeOrigin::RequestStart,
            },
            prices,
            ..Self::anthropic()
        }
    }

    /// A server without a cache.
    pub fn none() -> Self {
        Self { write_mode: CacheWriteMode::Never, prices: CachePrices::FREE_WRITES, ..Self::anthropic() }
    }

    /// OpenAI's own servers. A server's clock does not run on its own, so requests are not counted per minute.
    pub(crate) fn openai() -> Self {
        Self { routing: Routing::ByKey { per_minute: None }, ..Self::openai_automatic() }
    }

    /// Returns the policy of the protocol's vendor.
    pub fn for_protocol(protocol: Protocol) -> Self {
        (server_format(protocol).policy)()
    }
}
