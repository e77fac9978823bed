//! Prices of tokens, and costs of calls.

use octo_protocol::{Cost, PriceFacts, Usage};
use serde::{Deserialize, Deserializer, de};

/// Pico-dollars in a nano-dollar.
const PICO_PER_NANO: u128 = 1_000;
/// Highest plausible price, in dollars per million tokens. The most expensive model ever listed cost 600
/// (o1-pro, 2025): a larger figure is a price per token in the wrong column.
const MAX_PRICE: f64 = 10_000.0;

/// Price of a token in pico-dollars, equal to the price of a million tokens in micro-dollars: the unit in which
/// all published prices are whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Price(u64);

impl Price {
    /// Converts dollars per million tokens, as vendors publish prices; `None` if the number is not a valid
    /// price.
    pub fn per_million(dollars: f64) -> Option<Self> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range is checked; rounding takes the last binary digit off a decimal figure"
        )]
        (0.0..=MAX_PRICE).contains(&dollars).then(|| Self((dollars * 1e6).round() as u64))
    }

    /// Returns the price of a million tokens.
    pub fn per_million_cost(self) -> Cost {
        Cost::from_nano_dollars(self.0.saturating_mul(1_000))
    }

    fn pico_dollars(self, tokens: u64) -> u128 {
        u128::from(self.0) * u128::from(tokens)
    }
}

impl<'de> Deserialize<'de> for Price {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let dollars = f64::deserialize(deserializer)?;
        Self::per_million(dollars)
            .ok_or_else(|| de::Error::custom(format!("{dollars} is no price in dollars per million tokens")))
    }
}

/// Prices of one tier, each per token. A missing one is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rates {
    /// Input at full price.
    pub input: Option<Price>,
    /// Output, including reasoning.
    pub output: Option<Price>,
    /// Input read from the cache.
    pub read: Option<Price>,
    /// Input written to the cache for the shortest lifetime.
    pub write: Option<Price>,
    /// Input written to the cache for an hour.
    pub write_hour: Option<Price>,
}

impl Rates {
    /// Returns the cost of a call; `None` if the price of a used kind of token is missing.
    fn cost(&self, billed: &BilledUsage) -> Option<Cost> {
        let Usage { input, cache_read, cache_write, output } = billed.usage;
        let hour = billed.written_for_an_hour.min(cache_write);
        let mut pico: u128 = 0;
        for (tokens, price) in [
            (input, self.input),
            (output, self.output),
            (cache_read, self.read),
            (cache_write - hour, self.write),
            (hour, self.write_hour),
        ] {
            if tokens > 0 {
                pico = pico.saturating_add(price?.pico_dollars(tokens));
            }
        }
        let nano = pico.saturating_add(PICO_PER_NANO / 2) / PICO_PER_NANO;
        Some(Cost::from_nano_dollars(u64::try_from(nano).unwrap_or(u64::MAX)))
    }

    /// Returns whether no price is lower than in `other`: a longer request never costs less.
    fn is_at_least(&self, other: &Self) -> bool {
        let pairs = [
            (self.input, other.input),
            (self.output, other.output),
            (self.read, other.read),
            (self.write, other.write),
            (self.write_hour, other.write_hour),
        ];
        pairs.iter().all(|pair| match pair {
            (Some(a), Some(b)) => a >= b,
            (None, _) | (_, None) => true,
        })
    }
}

/// Prices of a model's tokens at a provider.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Prices of ordinary requests.
    pub rates: Rates,
    /// Prices of long requests, if different; ascending by size.
    #[serde(default)]
    pub long: Vec<LongRates>,
    /// Day of the lookup, as in `2026-11-21`.
    pub date: String,
    /// Where the prices were found.
    pub source: String,
}

/// The prices of requests above a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongRates {
    /// Maximum input tokens, including cache reads and writes, at the lower price.
    pub above: u64,
    /// Prices of the whole request above that size. They may not be lower than those of shorter requests: the
    /// loader rejects such a file.
    pub rates: Rates,
}

/// Billed tokens of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BilledUsage {
    /// Token counts.
    pub usage: Usage,
    /// Part of `usage.cache_write` that is kept for an hour; the rest has the shortest lifetime.
    pub written_for_an_hour: u64,
}

impl BilledUsage {
    /// Caps the hour-long part at the total written: a server's nonsense must not reach a sum.
    #[must_use]
    pub fn capped(self) -> Self {
        Self { written_for_an_hour: self.written_for_an_hour.min(self.usage.cache_write), ..self }
    }

    /// Returns the bill as if `tokens` more had been read from the cache: taken first from the writes with the
    /// shortest lifetime, then from the hour-long writes, then from the input at full price. Never more than
    /// there were.
    #[must_use]
    pub fn with_cache_read(self, tokens: u64) -> Self {
        let Usage { input, cache_read, cache_write, output } = self.usage;
        let not_written = tokens.min(cache_write);
        let not_paid = (tokens - not_written).min(input);
        let usage = Usage {
            input: input - not_paid,
            cache_read: cache_read.saturating_add(not_written).saturating_add(not_paid),
            cache_write: cache_write - not_written,
            output,
        };
        Self { usage, ..self }.capped()
    }
}

impl From<Usage> for BilledUsage {
    /// Assigns all writes the shortest lifetime.
    fn from(usage: Usage) -> Self {
        Self { usage, written_for_an_hour: 0 }
    }
}

impl Prices {
    /// Returns the cost of a call, to the nearest nano-dollar; `None` if the price of a used kind of token is
    /// missing: an unknown price is never guessed. On overflow, returns the largest amount.
    pub fn cost(&self, billed: impl Into<BilledUsage>) -> Option<Cost> {
        let billed = billed.into();
        let Usage { input, cache_read, cache_write, .. } = billed.usage;
        // The usage's own sum is not used: a server's nonsense may overflow it.
        let total = input.saturating_add(cache_read).saturating_add(cache_write);
        self.rates_for(total).cost(&billed)
    }

    /// Returns the extra cost of a call over the same call with `tokens` more read from the cache; `None` if a
    /// price is missing. Zero if cache reads are not cheaper.
    pub fn cost_above_cached(&self, billed: impl Into<BilledUsage>, tokens: u64) -> Option<Cost> {
        let billed = billed.into();
        Some(self.cost(billed)?.saturating_sub(self.cost(billed.with_cache_read(tokens))?))
    }

    /// Returns the prices of a request with this many input tokens in all.
    pub fn rates_for(&self, total_input: u64) -> &Rates {
        let tier = self.long.iter().rev().find(|tier| total_input > tier.above);
        tier.map_or(&self.rates, |tier| &tier.rates)
    }

    /// Converts the prices to the form a page shows.
    pub fn facts(&self) -> PriceFacts {
        let of_a_million = |price: Option<Price>| price.map(Price::per_million_cost);
        PriceFacts {
            input: of_a_million(self.rates.input),
            output: of_a_million(self.rates.output),
            cache_read: of_a_million(self.rates.read),
            cache_write: of_a_million(self.rates.write),
            more_above: self.long.first().map(|tier| tier.above),
            date: self.date.clone(),
        }
    }

    /// Returns whether longer requests never cost less.
    pub(crate) fn is_monotonic(&self) -> bool {
        let steps =
            std::iter::once((0, &self.rates)).chain(self.long.iter().map(|tier| (tier.above, &tier.rates)));
        steps
            .clone()
            .zip(steps.skip(1))
            .all(|((short, cheap), (tier, dear))| short < tier && dear.is_at_least(cheap))
    }
}

#[cfg(test)]
mod tests;
