//! Tests of prices.

use super::*;
use proptest::prelude::*;

fn price(dollars: f64) -> Option<Price> {
    Price::per_million(dollars)
}

/// Sonnet 4.5 as Bedrock lists it: two tiers, both lifetimes.
fn two_tiers() -> Prices {
    let rates = |input: f64, output: f64| Rates {
        input: price(input),
        output: price(output),
        read: price(input / 10.0),
        write: price(input * 1.25),
        write_hour: price(input * 2.0),
    };
    Prices {
        rates: rates(3.0, 15.0),
        long: vec![LongRates { above: 200_000, rates: rates(6.0, 22.5) }],
        date: "2026-11-22".to_owned(),
        source: "a table".to_owned(),
    }
}

fn usage(input: u64, cache_read: u64, cache_write: u64, output: u64) -> Usage {
    Usage { input, cache_read, cache_write, output }
}

#[test]
fn each_class_has_its_price() {
    let prices = two_tiers();
    for (used, nano) in [
        (usage(0, 0, 0, 0), 0),
        (usage(1, 0, 0, 0), 3_000),
        (usage(0, 1, 0, 0), 300),
        (usage(0, 0, 1, 0), 3_750),
        (usage(0, 0, 0, 1), 15_000),
        (usage(100, 190_000, 5_000, 700), 300_000 + 57_000_000 + 18_750_000 + 10_500_000),
    ] {
        assert_eq!(prices.cost(used), Some(Cost::from_nano_dollars(nano)), "{used:?}");
    }
    let hour = BilledUsage { usage: usage(0, 0, 3, 0), written_for_an_hour: 2 };
    assert_eq!(prices.cost(hour), Some(Cost::from_nano_dollars(3_750 + 2 * 6_000)));
    // A server's nonsense: more kept for an hour than was written at all.
    let nonsense = BilledUsage { usage: usage(0, 0, 3, 0), written_for_an_hour: 9 };
    assert_eq!(prices.cost(nonsense), Some(Cost::from_nano_dollars(3 * 6_000)));
}

#[test]
fn a_miss_costs_the_price_above_reading() {
    let prices = two_tiers();
    let hour = |usage, written_for_an_hour| BilledUsage { usage, written_for_an_hour };
    for (billed, cached, nano) in [
        (hour(usage(10, 0, 100, 7), 0), 0, 0),
        (hour(usage(10, 0, 100, 7), 0), 40, 40 * 3_450),
        // Writes are moved first, then input at full price, and never more than there were.
        (hour(usage(10, 0, 100, 7), 0), 105, 100 * 3_450 + 5 * 2_700),
        (hour(usage(10, 0, 100, 7), 0), 9_000, 100 * 3_450 + 10 * 2_700),
        // Writes with the shortest lifetime are moved first.
        (hour(usage(0, 0, 100, 0), 60), 50, 40 * 3_450 + 10 * 5_700),
    ] {
        assert_eq!(
            prices.cost_above_cached(billed, cached),
            Some(Cost::from_nano_dollars(nano)),
            "{billed:?} {cached}"
        );
    }
    let hole = Prices { rates: Rates { read: None, ..prices.rates }, ..two_tiers() };
    assert_eq!(hole.cost_above_cached(usage(1, 0, 0, 0), 1), None);
    assert_eq!(hole.cost_above_cached(usage(1, 0, 0, 0), 0), Some(Cost::ZERO));
}

#[test]
fn a_long_request_costs_more_as_a_whole() {
    let prices = two_tiers();
    assert_eq!(prices.cost(usage(100_000, 100_000, 0, 0)), Some(Cost::from_nano_dollars(330_000_000)));
    assert_eq!(prices.cost(usage(100_001, 100_000, 0, 0)), Some(Cost::from_nano_dollars(660_006_000)));
}

#[test]
fn prices_below_a_nano_dollar_are_not_lost() {
    let rates = Rates { read: price(0.0028), ..Rates::default() };
    let prices = Prices { rates, long: Vec::new(), ..two_tiers() };
    assert_eq!(prices.cost(usage(0, 1_000_000, 0, 0)), Some(Cost::from_nano_dollars(2_800_000)));
    assert_eq!(prices.facts().cache_read, Some(Cost::from_nano_dollars(2_800_000)));
}

#[test]
fn invalid_prices_are_refused() {
    for text in ["-1", "1e9", "\"3\"", "null"] {
        assert!(serde_json::from_str::<Price>(text).is_err(), "{text}");
    }
    for nonsense in [f64::NAN, f64::INFINITY, -0.1] {
        assert_eq!(Price::per_million(nonsense), None);
    }
    assert_eq!(serde_json::from_str::<Price>("0.0028").unwrap(), Price(2_800));
}

#[test]
fn cheaper_tiers_for_long_requests_are_invalid() {
    let sane = two_tiers();
    assert!(sane.is_monotonic());
    let mut cheaper = sane.clone();
    cheaper.long[0].rates.output = price(1.0);
    assert!(!cheaper.is_monotonic());
    let mut unordered = sane.clone();
    unordered.long.push(LongRates { above: 100, rates: sane.long[0].rates });
    assert!(!unordered.is_monotonic());
}

prop_compose! {
    fn any_rates()(prices in prop::array::uniform5(prop::option::of(0u64..10_000_000_000))) -> Rates {
        let [input, output, read, write, write_hour] = prices.map(|price| price.map(Price));
        Rates { input, output, read, write, write_hour }
    }
}

fn any_usage() -> impl Strategy<Value = Usage> {
    let tokens = || prop_oneof![Just(0), 0u64..2_000_000, (u64::MAX - 9)..=u64::MAX];
    (tokens(), tokens(), tokens(), tokens())
        .prop_map(|(input, read, write, output)| usage(input, read, write, output))
}

/// Generates prices and, above a size, prices at least as high.
fn any_prices() -> impl Strategy<Value = Prices> {
    (any_rates(), 1u64..3_000_000, 1u64..5).prop_map(|(rates, threshold, times)| {
        let dearer = |price: Option<Price>| price.map(|price| Price(price.0 * times));
        let long_rates = Rates {
            input: dearer(rates.input),
            output: dearer(rates.output),
            read: dearer(rates.read),
            write: dearer(rates.write),
            write_hour: dearer(rates.write_hour),
        };
        Prices { rates, long: vec![LongRates { above: threshold, rates: long_rates }], ..two_tiers() }
    })
}

proptest! {
    /// No usage overflows, and one more token never costs less.
    #[test]
    fn cost_is_monotone(prices in any_prices(), used in any_usage(), class in 0..4usize, more in 1u64..1_000) {
        prop_assert!(prices.is_monotonic());
        let mut fuller = used;
        let [input, read, write, output] =
            [&mut fuller.input, &mut fuller.cache_read, &mut fuller.cache_write, &mut fuller.output];
        let increased = [input, read, write, output].into_iter().nth(class).unwrap();
        *increased = increased.saturating_add(more);
        if let (Some(before), Some(after)) = (prices.cost(used), prices.cost(fuller)) {
            prop_assert!(after >= before, "{before} then {after}");
        }
    }

    /// Tokens moved to cache reads never exceed the total, and none are lost.
    #[test]
    fn the_total_is_preserved_when_tokens_become_reads(used in any_usage(), hour in 0u64..10, again in any::<u64>()) {
        let billed = BilledUsage { usage: used, written_for_an_hour: hour }.capped();
        let recomputed = billed.with_cache_read(again);
        prop_assert_eq!(recomputed.usage.total_input(), used.total_input());
        prop_assert!(recomputed.written_for_an_hour <= recomputed.usage.cache_write);
        prop_assert!(recomputed.usage.cache_read - used.cache_read <= again);
    }

    /// A cost is known exactly when the price of every used kind of token is.
    #[test]
    fn missing_rates_give_no_price(prices in any_prices(), used in any_usage(), hour in 0u64..10) {
        let total = used.input.saturating_add(used.cache_read).saturating_add(used.cache_write);
        let rates = prices.rates_for(total);
        let billed = BilledUsage { usage: used, written_for_an_hour: hour };
        let hour = hour.min(used.cache_write);
        let priced = [
            (used.input, rates.input),
            (used.output, rates.output),
            (used.cache_read, rates.read),
            (used.cache_write - hour, rates.write),
            (hour, rates.write_hour),
        ];
        let priced = priced.iter().all(|(tokens, price)| *tokens == 0 || price.is_some());
        prop_assert_eq!(prices.cost(billed).is_some(), priced);
    }

    /// A split into two calls costs the same, up to the rounding of each.
    #[test]
    fn cost_is_additive(
        left in prop::array::uniform4(0u64..40_000),
        right in prop::array::uniform4(0u64..20_000),
    ) {
        let prices = two_tiers();
        let usage_of = |tokens: [u64; 4]| usage(tokens[0], tokens[1], tokens[2], tokens[3]);
        let both = std::array::from_fn(|index| left[index] + right[index]);
        let separate = prices.cost(usage_of(left)).unwrap().saturating_add(prices.cost(usage_of(right)).unwrap());
        prop_assert_eq!(prices.cost(usage_of(both)).unwrap(), separate);
    }
}
