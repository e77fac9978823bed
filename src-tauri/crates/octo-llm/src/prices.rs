//! What tokens cost, and what a call cost.

use octo_protocol::{Cost, PriceFacts, Usage};
use serde::{Deserialize, Deserializer, de};

/// Pico-dollars in a nano-dollar.
const PICO_PER_NANO: u128 = 1_000;
/// The dearest price that is believed, in dollars per million tokens. The dearest model ever listed took 600
/// (o1-pro, 2025): a larger figure is a price per token in the wrong column.
const DEAREST: f64 = 10_000.0;

/// The price of a token in pico-dollars, which is the price of a million tokens in micro-dollars: the unit in
/// which all published prices are whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Price(u64);

impl Price {
    /// A price in dollars per million tokens, as vendors publish it; none for what is no price.
    pub fn per_million(dollars: f64) -> Option<Self> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range is checked; rounding takes the last binary digit off a decimal figure"
        )]
        (0.0..=DEAREST).contains(&dollars).then(|| Self((dollars * 1e6).round() as u64))
    }

    /// What a million tokens cost.
    pub fn of_a_million(self) -> Cost {
        Cost::nano_dollars(self.0.saturating_mul(1_000))
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

/// The prices of one tier, each for a token. One that is missing is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rates {
    /// Input paid in full.
    pub input: Option<Price>,
    /// Output, reasoning included.
    pub output: Option<Price>,
    /// Input read from the cache.
    pub read: Option<Price>,
    /// Input written to the cache for the shortest life.
    pub write: Option<Price>,
    /// Input written to the cache for an hour.
    pub write_hour: Option<Price>,
}

impl Rates {
    /// What the call cost; none where a price of something that was used is missing.
    fn cost(&self, billed: &Billed) -> Option<Cost> {
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
        Some(Cost::nano_dollars(u64::try_from(nano).unwrap_or(u64::MAX)))
    }

    /// Whether nothing is cheaper here than there: a longer request never costs less.
    fn is_at_least(&self, other: &Self) -> bool {
        let pairs = [
            (self.input, other.input),
            (self.output, other.output),
            (self.read, other.read),
            (self.write, other.write),
            (self.write_hour, other.write_hour),
        ];
        pairs.iter().all(|pair| match pair {
            (Some(here), Some(there)) => here >= there,
            (None, _) | (_, None) => true,
        })
    }
}

/// What a model's tokens cost at a provider.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// The prices.
    pub rates: Rates,
    /// The prices of long requests, where they differ; rising by size.
    #[serde(default)]
    pub long: Vec<LongRates>,
    /// The day they were looked up, as in `2026-11-21`.
    pub date: String,
    /// Where they were found.
    pub source: String,
}

/// The prices of requests above a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongRates {
    /// The most input tokens, cache reads and writes included, that still cost the usual price.
    pub above: u64,
    /// The prices of the whole request beyond that. They are not below those of shorter ones: a file that says
    /// so is refused.
    pub rates: Rates,
}

/// The tokens of one call as they are billed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Billed {
    /// The tokens.
    pub usage: Usage,
    /// Those of `usage.cache_write` that are kept for an hour; the others have the shortest life.
    pub written_for_an_hour: u64,
}

impl Billed {
    /// With no more kept for an hour than was written: a server's nonsense must not reach a sum.
    #[must_use]
    pub fn sound(self) -> Self {
        Self { written_for_an_hour: self.written_for_an_hour.min(self.usage.cache_write), ..self }
    }

    /// As if so many tokens more had been read from the cache: of what was written for the shortest life first, then
    /// of what was written for an hour, then of what was paid in full. No more than there was.
    #[must_use]
    pub fn had_it_read(self, tokens: u64) -> Self {
        let Usage { input, cache_read, cache_write, output } = self.usage;
        let not_written = tokens.min(cache_write);
        let not_paid = (tokens - not_written).min(input);
        let usage = Usage {
            input: input - not_paid,
            cache_read: cache_read.saturating_add(not_written).saturating_add(not_paid),
            cache_write: cache_write - not_written,
            output,
        };
        Self { usage, ..self }.sound()
    }
}

impl From<Usage> for Billed {
    /// Everything written has the shortest life.
    fn from(usage: Usage) -> Self {
        Self { usage, written_for_an_hour: 0 }
    }
}

impl Prices {
    /// What a call cost, to the nearest nano-dollar; none where a price of something that was used is missing:
    /// an unknown price is never guessed. More than fits is the largest amount.
    pub fn cost(&self, billed: impl Into<Billed>) -> Option<Cost> {
        let billed = billed.into();
        let Usage { input, cache_read, cache_write, .. } = billed.usage;
        // Not the sum of the usage itself: a server's nonsense may overflow it.
        let total = input.saturating_add(cache_read).saturating_add(cache_write);
        self.rates_for(total).cost(&billed)
    }

    /// What a call cost beyond what it would have, had so many of its tokens been read from the cache; none where a
    /// price is missing. Nothing where reading is no cheaper.
    pub fn cost_above_reading(&self, billed: impl Into<Billed>, tokens: u64) -> Option<Cost> {
        let billed = billed.into();
        Some(self.cost(billed)?.saturating_sub(self.cost(billed.had_it_read(tokens))?))
    }

    /// The prices of a request with so many input tokens in all.
    pub fn rates_for(&self, total_input: u64) -> &Rates {
        let long = self.long.iter().rev().find(|long| total_input > long.above);
        long.map_or(&self.rates, |long| &long.rates)
    }

    /// As a page shows them.
    pub fn facts(&self) -> PriceFacts {
        let of_a_million = |price: Option<Price>| price.map(Price::of_a_million);
        PriceFacts {
            input: of_a_million(self.rates.input),
            output: of_a_million(self.rates.output),
            cache_read: of_a_million(self.rates.read),
            cache_write: of_a_million(self.rates.write),
            more_above: self.long.first().map(|long| long.above),
            date: self.date.clone(),
        }
    }

    /// Whether longer requests never cost less.
    pub(crate) fn is_sane(&self) -> bool {
        let steps =
            std::iter::once((0, &self.rates)).chain(self.long.iter().map(|long| (long.above, &long.rates)));
        steps
            .clone()
            .zip(steps.skip(1))
            .all(|((short, cheap), (long, dear))| short < long && dear.is_at_least(cheap))
    }
}

#[cfg(test)]
mod tests;
