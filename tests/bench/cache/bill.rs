//! The cost of the recorded requests with a cache.

use super::harness::{BenchCacheKind, TracedRequest, WorkloadTrace};
use anyhow::{Result, anyhow};
use octo_llm::{Price, Rates, WarmKeepingCosts, keep_warm};
use octo_protocol::Usage;
use octo_testkit::{CachePolicy, CacheSimulator};
use std::{collections::BTreeMap, ops::AddAssign, time::Duration};

/// From a request's start to its first token, and from there to the next request's start.
const FIRST_TOKEN: Duration = Duration::from_secs(2);
const REST: Duration = Duration::from_secs(6);
/// The median pause, in seconds, and the spread that puts one in eight above five minutes.
const MEDIAN: f64 = 40.0;
const SPREAD: f64 = 1.752;
/// No pause is longer than this, in seconds: the next day is another session.
const LONGEST: f64 = 12.0 * 3600.0;

/// Whether the cache is kept warm through pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmKeeping {
    /// According to [`keep_warm`].
    Warm,
    /// Not kept warm.
    Left,
}

/// The cost of a trace.
#[derive(Debug, Default)]
pub struct Bill {
    /// Requests of the work itself.
    pub requests: usize,
    /// Requests that kept the cache warm.
    pub refreshes: usize,
    /// Tokens of all requests.
    pub usage: Usage,
    /// Cost in dollars.
    pub cost: f64,
    /// Cost with the ideal cache, in dollars.
    pub ideal: f64,
    /// Number of times less was read than the conversation's last request left, by reason.
    pub misses: BTreeMap<&'static str, usize>,
    /// The compactions.
    pub compactions: Vec<Compaction>,
}

/// A compaction.
#[derive(Debug)]
pub struct Compaction {
    /// The tokens of its request.
    pub input: u64,
    /// Share of them read from the cache.
    pub share_read: f64,
    /// Tokens the request after it did not read.
    pub written_after: u64,
}

impl AddAssign for Bill {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.refreshes += other.refreshes;
        self.usage += other.usage;
        self.cost += other.cost;
        self.ideal += other.ideal;
        for (reason, count) in other.misses {
            *self.misses.entry(reason).or_default() += count;
        }
        self.compactions.extend(other.compactions);
    }
}

/// Sends a trace to a cache of its kind, with the pauses of a seed.
///
/// # Errors
/// When the provider would refuse a request.
pub fn replay(trace: &WorkloadTrace, kind: &BenchCacheKind, seed: u64, keeping: WarmKeeping) -> Result<Bill> {
    let mut replay = Replay {
        cache: CacheSimulator::new(kind.policy.clone()),
        ideal: CacheSimulator::new(CachePolicy::ideal(kind.policy.prices)),
        warmth: match keeping {
            WarmKeeping::Warm => WarmKeepingCosts::for_cache(&kind.caching, &rates(kind)),
            WarmKeeping::Left => None,
        },
        pauses: Vec::new(),
        last: None,
        bill: Bill::default(),
    };
    let mut dice = PauseRandom::new(seed);
    for sent in &trace.requests {
        if sent.pause_before {
            replay.pause(dice.pause())?;
        }
        replay.send(sent)?;
    }
    Ok(replay.bill)
}

fn rates(kind: &BenchCacheKind) -> Rates {
    let prices = kind.policy.prices;
    let price = Price::per_million;
    Rates {
        input: price(prices.input),
        output: price(prices.output),
        read: price(prices.read),
        write: price(prices.write),
        write_hour: price(prices.write_long),
    }
}

struct Replay<'a> {
    cache: CacheSimulator,
    ideal: CacheSimulator,
    warmth: Option<WarmKeepingCosts>,
    pauses: Vec<Duration>,
    last: Option<LastRequest<'a>>,
    bill: Bill,
}

/// The last request of the work.
struct LastRequest<'a> {
    sent: &'a TracedRequest,
    began: Duration,
    /// Number of its tokens in the cache.
    cached: u64,
}

impl<'a> Replay<'a> {
    fn send(&mut self, sent: &'a TracedRequest) -> Result<()> {
        let start = self.cache.now();
        let usage = self.ask(sent, sent.output)?;
        self.cache.advance(REST);
        let mut reply = self.ideal.replay(&sent.request).map_err(|error| anyhow!(error))?;
        reply.usage.output = sent.output;
        self.bill.ideal += self.ideal.policy().prices.cost(&reply.usage, 0);
        self.bill.requests += 1;
        if self.last.as_ref().is_some_and(|previous| previous.sent.compacts)
            && let Some(compaction) = self.bill.compactions.last_mut()
        {
            compaction.written_after = usage.input + usage.cache_write;
        }
        if sent.compacts {
            let input = usage.total_input();
            #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
            let share_read = usage.cache_read as f64 / input as f64;
            self.bill.compactions.push(Compaction { input, share_read, written_after: 0 });
        }
        let cached = match usage.cache_read + usage.cache_write {
            // A cache with free writes reports no writes.
            cached if usage.cache_write == 0 => cached.max(usage.total_input()),
            cached => cached,
        };
        self.last = Some(LastRequest { sent, began: start, cached });
        Ok(())
    }

    fn ask(&mut self, sent: &TracedRequest, output: u64) -> Result<Usage> {
        let request = &sent.request;
        let reply = self.cache.serve(request.protocol, request.model(), &request.body);
        let mut reply = reply.map_err(|error| anyhow!(error))?;
        self.cache.advance(FIRST_TOKEN);
        self.cache.stream(&mut reply);
        let usage = Usage { output, ..reply.usage };
        self.bill.cost += self.cache.policy().prices.cost(&usage, reply.written_long);
        self.bill.usage += usage;
        if let Some(miss) = reply.miss {
            *self.bill.misses.entry(miss.reason.as_str()).or_default() += 1;
        }
        Ok(usage)
    }

    /// Simulates the person's absence; the cache is kept warm meanwhile if that pays off.
    fn pause(&mut self, pause: Duration) -> Result<()> {
        let ends = self.cache.now() + pause;
        let Some(LastRequest { sent, began, cached }) = self.last else { return Ok(()) };
        let mut used = began;
        let mut refreshes = 0;
        while let Some(delay) =
            self.warmth.as_ref().and_then(|warmth| keep_warm(&self.pauses, cached, warmth, refreshes))
        {
            let due = used + delay;
            if due >= ends {
                break;
            }
            self.cache.advance(due.saturating_sub(self.cache.now()));
            // The same request again, for one token.
            self.ask(sent, 1)?;
            used = due;
            refreshes += 1;
            self.bill.refreshes += 1;
        }
        self.cache.advance(ends.saturating_sub(self.cache.now()));
        self.pauses.push(self.cache.now() - began);
        Ok(())
    }
}

/// Numbers that look random and are the same each time (splitmix64).
struct PauseRandom(u64);

impl PauseRandom {
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

    /// Creates a different series for each seed. The seed is mixed, because consecutive seeds would give one
    /// series shifted by one.
    fn new(seed: u64) -> Self {
        Self(Self::mixed(seed))
    }

    fn mixed(state: u64) -> u64 {
        let mut mixed = state.wrapping_add(Self::STEP);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number between 0 and 1, both excluded.
    fn fraction(&mut self) -> f64 {
        let thrown = Self::mixed(self.0);
        self.0 = self.0.wrapping_add(Self::STEP);
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        let share = ((thrown >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        share
    }

    /// Log-normal.
    fn pause(&mut self) -> Duration {
        let normal = (-2.0 * self.fraction().ln()).sqrt() * (std::f64::consts::TAU * self.fraction()).cos();
        Duration::from_secs_f64((MEDIAN * (SPREAD * normal).exp()).min(LONGEST))
    }
}
