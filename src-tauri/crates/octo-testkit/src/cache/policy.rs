//! What the providers' caches do, as data.

use octo_protocol::{Protocol, Usage};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

/// What a provider's prompt cache does. The constructors are the providers' published rules of autumn 2026;
/// where sources disagree, the stricter reading.
#[derive(Clone, Debug, PartialEq)]
pub struct CachePolicy {
    /// How prefixes get in and are found.
    pub writing: Writing,
    /// Whether an effort has entries of its own.
    pub effort: EffortKey,
    /// The shortest prefix that is kept, in tokens.
    pub minimum: u64,
    /// How long entries live.
    pub lives: Lives,
    /// From when on an entry can be read.
    pub visible: Visibility,
    /// Whether what could be read is read.
    pub certainty: Certainty,
    /// Which requests meet on one machine.
    pub routing: Routing,
    /// What tokens cost.
    pub prices: CachePrices,
}

/// How prefixes get into a cache and are found there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// They do not.
    Never,
    /// Behind every segment, for ever: no provider does, it is what the others are measured by.
    Everywhere,
    /// One entry per marker; found by walking back from each marker.
    Markers {
        /// Markers a request may have. One more is refused.
        limit: usize,
        /// How far back is looked from a marker.
        lookback: Lookback,
    },
    /// One entry per breakpoint, of which the newest eligible message has one by itself unless the request says
    /// otherwise; found exactly there.
    Breakpoints {
        /// Breakpoints a request may have, its own included. One more is refused.
        limit: usize,
        /// How many of the conversation's latest breakpoints are looked at.
        lookback: usize,
    },
    /// Every multiple of the step; the longest common beginning is found.
    Steps {
        /// In tokens.
        step: u64,
    },
    /// The end of the input and the end of the output, and what is seen to begin two requests; found as a whole.
    Units {
        /// In which steps common beginnings are noticed, in tokens.
        step: u64,
    },
}

/// How far back is looked from a marker, its own place included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookback {
    /// So many positions: calls in a row are one, and so are results in a row.
    Positions(usize),
    /// So many blocks.
    Blocks(usize),
}

/// Whether an effort has entries of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffortKey {
    /// Another effort finds nothing.
    Counts,
    /// It makes no difference.
    Ignored,
}

/// How long entries live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lives {
    /// Unless more is asked for.
    pub short: Duration,
    /// What may be asked for instead.
    pub long: Option<Duration>,
    /// At most, however often it is read.
    pub most: Option<Duration>,
    /// From when it counts.
    pub origin: Origin,
}

/// From when a life counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The start of the request that wrote or read the entry.
    RequestStart,
    /// The first token of its answer.
    FirstToken,
}

/// From when on an entry can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// The first token of the answer to the request that wrote it.
    FirstToken,
    /// So long after that.
    Later(Duration),
}

/// Whether what could be read is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Certainty {
    /// Always.
    Sure,
    /// With a probability, and the seed of the dice.
    Chance {
        /// From 0 to 1.
        probability: f64,
        /// The same seed gives the same dice.
        seed: u64,
    },
}

/// Which requests meet on one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routing {
    /// All.
    One,
    /// Those with the same first 256 tokens and the same key.
    ByKey {
        /// How many a minute one machine takes; what is more goes to the next, which knows nothing.
        per_minute: Option<u32>,
    },
}

/// What a million tokens cost, in dollars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CachePrices {
    /// Input paid in full.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Input written to the cache.
    pub write: f64,
    /// Input written to the cache for the long life.
    pub write_long: f64,
    /// Input read from the cache.
    pub read: f64,
}

impl CachePrices {
    /// Claude Sonnet's: the usual multiples of 1.25, 2 and 0.1 (2026).
    pub const SONNET: Self = Self { input: 3.0, output: 15.0, write: 3.75, write_long: 6.0, read: 0.3 };
    /// The same without a fee for writing.
    pub const FREE_WRITES: Self = Self { write: 3.0, write_long: 3.0, ..Self::SONNET };

    /// What a call cost in dollars, of whose writes `long` tokens were for the long life.
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    pub fn cost(&self, usage: &Usage, long: u64) -> f64 {
        let Usage { input, cache_read, cache_write, output } = *usage;
        let dollars = input as f64 * self.input
            + output as f64 * self.output
            + (cache_write - long) as f64 * self.write
            + long as f64 * self.write_long
            + cache_read as f64 * self.read;
        dollars / 1e6
    }
}

impl CachePolicy {
    /// Anthropic's Messages: four markers, twenty positions, five minutes or an hour from the request's start.
    pub fn anthropic() -> Self {
        Self {
            writing: Writing::Markers { limit: 4, lookback: Lookback::Positions(20) },
            effort: EffortKey::Counts,
            minimum: 1024,
            lives: Lives { short: 5 * MINUTE, long: Some(HOUR), most: None, origin: Origin::RequestStart },
            visible: Visibility::FirstToken,
            certainty: Certainty::Sure,
            routing: Routing::One,
            prices: CachePrices::SONNET,
        }
    }

    /// Bedrock's Converse: as Anthropic's, but a marker looks at twenty blocks, however they are grouped.
    pub fn bedrock() -> Self {
        let writing = Writing::Markers { limit: 4, lookback: Lookback::Blocks(20) };
        Self { writing, ..Self::anthropic() }
    }

    /// OpenAI's models before GPT-5.6: by itself from 1,024 tokens on, in steps of 128, for five idle minutes
    /// and an hour at most.
    pub fn openai_automatic() -> Self {
        Self {
            writing: Writing::Steps { step: 128 },
            effort: EffortKey::Ignored,
            lives: Lives { short: 5 * MINUTE, long: None, most: Some(HOUR), origin: Origin::FirstToken },
            routing: Routing::ByKey { per_minute: Some(15) },
            prices: CachePrices::FREE_WRITES,
            ..Self::anthropic()
        }
    }

    /// OpenAI's models from GPT-5.6 on: breakpoints, for half an hour from their last use.
    pub fn openai_breakpoints() -> Self {
        Self {
            writing: Writing::Breakpoints { limit: 4, lookback: 80 },
            effort: EffortKey::Ignored,
            lives: Lives { short: 30 * MINUTE, long: None, most: None, origin: Origin::FirstToken },
            ..Self::anthropic()
        }
    }

    /// DeepSeek: units on disk, which are read as a whole, for hours at least.
    pub fn deepseek() -> Self {
        Self {
            writing: Writing::Units { step: 64 },
            effort: EffortKey::Ignored,
            minimum: 64,
            lives: Lives { short: 2 * HOUR, long: None, most: None, origin: Origin::FirstToken },
            prices: CachePrices { input: 0.139, output: 0.28, write: 0.139, write_long: 0.139, read: 0.028 },
            ..Self::anthropic()
        }
    }

    /// Gemini's implicit cache: the longest common beginning, without a promise. The probability and the step
    /// are assumptions.
    pub fn gemini(seed: u64) -> Self {
        Self {
            writing: Writing::Steps { step: 16 },
            effort: EffortKey::Ignored,
            minimum: 4096,
            lives: Lives { short: 5 * MINUTE, long: None, most: None, origin: Origin::FirstToken },
            certainty: Certainty::Chance { probability: 0.8, seed },
            prices: CachePrices::FREE_WRITES,
            ..Self::anthropic()
        }
    }

    /// The best there could be at these prices: each token is written once and read ever after.
    pub fn ideal(prices: CachePrices) -> Self {
        let years = 10_000 * HOUR;
        Self {
            writing: Writing::Everywhere,
            minimum: 0,
            lives: Lives { short: years, long: None, most: None, origin: Origin::RequestStart },
            prices,
            ..Self::anthropic()
        }
    }

    /// A server without a cache.
    pub fn none() -> Self {
        Self { writing: Writing::Never, prices: CachePrices::FREE_WRITES, ..Self::anthropic() }
    }

    /// What the vendor of a protocol does. A server's clock stands still unless it is moved, so that requests
    /// are not counted by the minute.
    pub fn of(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Anthropic => Self::anthropic(),
            Protocol::OpenaiChat | Protocol::OpenaiResponses => {
                Self { routing: Routing::ByKey { per_minute: None }, ..Self::openai_automatic() }
            }
            Protocol::Bedrock => Self::bedrock(),
        }
    }
}
