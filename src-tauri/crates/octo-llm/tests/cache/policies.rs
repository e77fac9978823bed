//! Which marker policy is cheapest: the decision behind the planner's default, measured.

use crate::workload::{Bill, Talk, Warm};
use octo_llm::{Caching, Life, MarkerPolicy};
use octo_protocol::Protocol;
use octo_testkit::{CachePolicy, CacheSimulator};
use std::{fmt::Write, time::Duration};

const SEEDS: u64 = 3;
const HOUR: Life = Life::Hour;
const SHORT: Life = Life::FiveMinutes;

const POLICIES: [(&str, MarkerPolicy); 5] = [
    ("two rolling markers", MarkerPolicy { fixed: None, finished: SHORT, current: SHORT }),
    ("and tools and system", MarkerPolicy { fixed: Some(SHORT), finished: SHORT, current: SHORT }),
    ("tools and system for an hour", MarkerPolicy { fixed: Some(HOUR), finished: SHORT, current: SHORT }),
    ("finished turns for an hour", MarkerPolicy { fixed: Some(HOUR), finished: HOUR, current: SHORT }),
    ("everything for an hour", MarkerPolicy { fixed: Some(HOUR), finished: HOUR, current: HOUR }),
];

fn talk(policy: MarkerPolicy) -> Talk {
    let cache = CacheSimulator::new(CachePolicy::anthropic());
    Talk::new(Protocol::Anthropic, Caching::anthropic(), policy, cache)
}

fn coding(policy: MarkerPolicy) -> Bill {
    let mut talk = talk(policy);
    talk.coding(40);
    talk.bill
}

fn chats(policy: MarkerPolicy, warm: Warm) -> Bill {
    let mut all = Bill::default();
    for seed in 1..=SEEDS {
        let mut talk = talk(policy);
        talk.chat(seed, warm);
        all.cost += talk.bill.cost;
        all.ideal += talk.bill.ideal;
        all.refreshes += talk.bill.refreshes;
    }
    all
}

/// Short sessions of one profile, so many minutes apart.
fn sessions(policy: MarkerPolicy, minutes: u64) -> Bill {
    let mut talk = talk(policy);
    for _ in 0..8 {
        talk.new_session();
        talk.coding(5);
        talk.cache.advance(Duration::from_secs(60 * minutes));
    }
    talk.bill
}

#[test]
fn the_default_is_the_cheapest_that_was_measured() {
    let mut table =
        String::from("policy: coding | chat, left | chat, kept warm | 8 sessions, 4 min | 15 min apart\n");
    let mut sums = Vec::new();
    for (name, policy) in POLICIES {
        let bills = [
            coding(policy),
            chats(policy, Warm::Left),
            chats(policy, Warm::Kept),
            sessions(policy, 4),
            sessions(policy, 15),
        ];
        let figures: Vec<String> =
            bills.iter().map(|bill| format!("${:.3} ({:.3})", bill.cost, bill.ratio())).collect();
        writeln!(table, "{name}: {}", figures.join(" | ")).unwrap();
        sums.push((policy, bills[0].cost + bills[2].cost, bills));
    }
    insta::assert_snapshot!(table);
    let cheapest = sums.iter().min_by(|one, other| one.1.total_cmp(&other.1)).unwrap();
    let default = sums.iter().find(|(policy, ..)| *policy == MarkerPolicy::default()).unwrap();
    assert!(default.1 <= cheapest.1 * 1.005, "{table}");
    let [coding, left, kept, ..] = &default.2;
    assert!(coding.ratio() <= 1.02, "{table}");
    assert!(kept.ratio() <= 1.08 && kept.cost < left.cost, "{table}");
    assert!(kept.refreshes > 0 && left.refreshes == 0);
}
