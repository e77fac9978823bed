//! Decides whether a cache is worth keeping warm while the person is away. Pure.
//!
//! A request that reads a prefix again extends its lifetime, at the price of a read; letting it expire costs a
//! write when the person returns. So a refresh pays if the person returns within the lifetime it buys with a
//! probability above read / (write - read), which is 9 % at Anthropic's prices. The probability is learned from
//! the person's own pauses; before there are any, from [`prior`].

use crate::{CacheKind, Caching, Price, Rates};
use std::time::Duration;

/// Maximum refreshes in one pause.
pub const MAX_REFRESHES: u32 = 3;
/// Margin before an entry's expiry at which a refresh begins.
const EXPIRY_MARGIN: Duration = Duration::from_secs(20);
/// Weight of the prior, as a number of the person's pauses.
const PRIOR_WEIGHT: f64 = 8.0;
/// Median of the assumed pause, in seconds.
const PRIOR_MEDIAN: f64 = 40.0;
/// Tail exponent of the assumed pauses. With the median above, one pause in eight is over five minutes.
const PRIOR_TAIL: f64 = 0.966;
/// Minimum saving of a refresh, in dollars; below it a refresh is not worth a request.
const MIN_SAVING: f64 = 0.001;

/// Costs and savings of keeping a model's cache warm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmKeepingCosts {
    /// Lifetime of an entry, from the start of the request that wrote or last read it.
    lifetime: Duration,
    /// Cost of reading a million tokens, in dollars.
    read: f64,
    /// Cost of writing a million tokens back, in dollars.
    rewrite: f64,
}

impl WarmKeepingCosts {
    /// Computes the figures of a model. `None` if reading does not keep its entries, or a price is unknown.
    pub fn for_cache(caching: &Caching, rates: &Rates) -> Option<Self> {
        let dollars = |price: Price| price.per_million_cost().as_dollars();
        let write_cost = match caching.kind {
            CacheKind::Markers { .. } | CacheKind::Breakpoints { .. } => rates.write?,
            CacheKind::Prefix { .. } => rates.input?,
            // Units live for hours or days; an uncertain cache cannot be bought.
            CacheKind::None | CacheKind::Units { .. } | CacheKind::Probabilistic { .. } => return None,
        };
        Some(Self {
            lifetime: caching.min_lifetime()?,
            read: dollars(rates.read?),
            rewrite: dollars(write_cost),
        })
    }
}

/// Returns when to send the next refresh, counted from the start of the request that last used the cache (a
/// refresh, or the turn's last call); `None` to let the cache expire.
///
/// `pauses` are the person's own, from the start of a turn's last call to the start of the next turn's first,
/// of any age. `cached` is the number of tokens a refresh reads; `refreshes` is the number already sent in this
/// pause.
pub fn keep_warm(
    pauses: &[Duration],
    cached: u64,
    warmth: &WarmKeepingCosts,
    refreshes: u32,
) -> Option<Duration> {
    let period = warmth.lifetime.checked_sub(EXPIRY_MARGIN)?;
    let remaining = MAX_REFRESHES.checked_sub(refreshes).filter(|remaining| *remaining > 0)?;
    let so_far = period * refreshes;
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    let tokens = cached as f64 / 1e6;
    let (cost, saved) = (tokens * warmth.read, tokens * (warmth.rewrite - warmth.read));
    // Refreshing until the k-th, seen from now: each is paid for if the person is still away, and saves its
    // amount if they return during its lifetime.
    let probability = probability_of_longer_pause(pauses, so_far + period);
    if probability <= 0.0 {
        return None;
    }
    let mut gain = 0.0;
    let mut best = f64::NEG_INFINITY;
    for refresh in 1..=remaining {
        let due = so_far + period * refresh;
        let (still, later) = (
            probability_of_longer_pause(pauses, due),
            probability_of_longer_pause(pauses, due + warmth.lifetime),
        );
        gain += ((still - later) * saved - still * cost) / probability;
        best = best.max(gain);
    }
    (best >= MIN_SAVING).then_some(period)
}

/// Returns the share of longer pauses, estimated from the person's own and the prior.
fn probability_of_longer_pause(pauses: &[Duration], time: Duration) -> f64 {
    let longer = pauses.iter().filter(|pause| **pause > time).count();
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    let (longer, total) = (longer as f64, pauses.len() as f64);
    (longer + PRIOR_WEIGHT * prior(time)) / (total + PRIOR_WEIGHT)
}

/// Returns the assumed share of longer pauses for an unknown person: a log-logistic tail, as heavy as research
/// finds for waiting times between a person's actions.
fn prior(time: Duration) -> f64 {
    1.0 / (1.0 + (time.as_secs_f64() / PRIOR_MEDIAN).powf(PRIOR_TAIL))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CacheLifetime;
    use proptest::prelude::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn rates(input: f64, read: f64, write: Option<f64>) -> Rates {
        let price = |dollars| Price::per_million(dollars);
        Rates { input: price(input), read: price(read), write: write.and_then(price), ..Rates::default() }
    }

    fn sonnet() -> WarmKeepingCosts {
        WarmKeepingCosts::for_cache(&Caching::anthropic(), &rates(3.0, 0.3, Some(3.75))).unwrap()
    }

    /// Returns how often a pause that never ends is refreshed.
    fn refreshes(pauses: &[Duration], cached: u64, warmth: &WarmKeepingCosts) -> u32 {
        (0..).find(|count| keep_warm(pauses, cached, warmth, *count).is_none()).unwrap()
    }

    #[test]
    fn the_refresh_count_depends_on_the_persons_pauses() {
        let pause = |seconds: u64, count: usize| vec![Duration::from_secs(seconds); count];
        for (case, pauses, expected) in [
            ("nothing is known", vec![], 3),
            ("never away for long", pause(30, 50), 3),
            ("away for hours, always", pause(7200, 30), 0),
            ("away for hours, now and then", [pause(30, 40), pause(7200, 2)].concat(), 1),
            ("never back before ten minutes", pause(600, 40), 3),
            ("back after a quarter of an hour or never", [pause(900, 6), pause(9000, 14)].concat(), 3),
        ] {
            assert_eq!(refreshes(&pauses, 20_000, &sonnet()), expected, "{case}");
        }
    }

    #[test]
    fn small_prefixes_are_not_kept_warm() {
        for (cached, expected) in [(0, 0), (300, 0), (5_000, 3), (150_000, 3)] {
            assert_eq!(refreshes(&[], cached, &sonnet()), expected, "{cached} tokens");
        }
    }

    #[test]
    fn a_refresh_comes_before_the_entry_expires() {
        assert_eq!(keep_warm(&[], 20_000, &sonnet(), 0), Some(280 * SECOND));
        let points = CacheKind::Breakpoints { limit: 3, lookback: 80, life_seconds: 1800 };
        let points = Caching { kind: points, minimum: 1024 };
        let warmth = WarmKeepingCosts::for_cache(&points, &rates(3.0, 0.3, Some(3.75))).unwrap();
        assert_eq!(keep_warm(&[], 20_000, &warmth, 0), Some(1780 * SECOND));
    }

    #[test]
    fn only_caches_renewed_by_reading_are_kept_warm() {
        let caching_of = |kind| Caching { kind, minimum: 1024 };
        let prefix = CacheKind::Prefix { step: 128, life_seconds: 300, keyed: true };
        let lifetimes = vec![CacheLifetime::Hour];
        let with_fee = rates(3.0, 0.3, Some(3.75));
        let free = rates(3.0, 0.3, None);
        for (case, caching, rates, expected) in [
            ("markers", Caching::anthropic(), &with_fee, true),
            ("markers at an unknown price", Caching::anthropic(), &free, false),
            (
                "markers for an hour",
                caching_of(CacheKind::Markers { limit: 4, lookback: 20, lifetimes }),
                &with_fee,
                true,
            ),
            ("a prefix", caching_of(prefix), &free, true),
            ("units", caching_of(CacheKind::Units { life_seconds: 7200 }), &free, false),
            (
                "chance",
                caching_of(CacheKind::Probabilistic { probability: 0.9, life_seconds: 300 }),
                &free,
                false,
            ),
            ("nothing", Caching::NONE, &with_fee, false),
        ] {
            assert_eq!(WarmKeepingCosts::for_cache(&caching, rates).is_some(), expected, "{case}");
        }
    }

    proptest! {
        #[test]
        fn warm_keeping_is_bounded_and_always_saves(
            pauses in prop::collection::vec(0..100_000_u64, 0..40),
            cached in 0..2_000_000_u64,
            refreshes in 0..9_u32,
            read in 0.0..10.0_f64,
            write in 0.0..10.0_f64,
        ) {
            let pauses: Vec<Duration> = pauses.into_iter().map(Duration::from_secs).collect();
            let warmth = WarmKeepingCosts::for_cache(&Caching::anthropic(), &rates(3.0, read, Some(write))).unwrap();
            let due = keep_warm(&pauses, cached, &warmth, refreshes);
            if refreshes >= MAX_REFRESHES || read >= write {
                prop_assert_eq!(due, None);
            }
            prop_assert!(due.is_none_or(|due| due < 300 * SECOND));
            // A larger cache is never less worth keeping.
            let more = keep_warm(&pauses, cached * 2, &warmth, refreshes);
            prop_assert!(due.is_none() || more.is_some());
        }
    }
}
