//! Compares marker policies by cost: the measured decision behind the planner's default.

use crate::workload::{Bill, KeepWarm, WorkloadConversation, WorkloadRandom};
use octo_llm::{CacheLifetime, Caching, MarkerPolicy};
use octo_protocol::Protocol;
use octo_testkit::{CachePolicy, CacheSimulator};
use std::{fmt::Write, time::Duration};

/// Number of chats, and of pauses in each.
const CHATS: usize = 6;
const PAUSES: usize = 11;
const HOUR: CacheLifetime = CacheLifetime::Hour;
const SHORT: CacheLifetime = CacheLifetime::FiveMinutes;

const POLICIES: [(&str, MarkerPolicy); 5] = [
    ("two rolling markers", MarkerPolicy { fixed: None, finished: SHORT, current: SHORT }),
    ("and tools and system", MarkerPolicy { fixed: Some(SHORT), finished: SHORT, current: SHORT }),
    ("tools and system for an hour", MarkerPolicy { fixed: Some(HOUR), finished: SHORT, current: SHORT }),
    ("finished turns for an hour", MarkerPolicy { fixed: Some(HOUR), finished: HOUR, current: SHORT }),
    ("everything for an hour", MarkerPolicy { fixed: Some(HOUR), finished: HOUR, current: HOUR }),
];

fn talk(policy: MarkerPolicy) -> WorkloadConversation {
    let cache = CacheSimulator::new(CachePolicy::anthropic());
    WorkloadConversation::new(Protocol::Anthropic, Caching::anthropic(), policy, cache)
}

fn coding(policy: MarkerPolicy) -> Bill {
    let mut talk = talk(policy);
    talk.coding(40);
    talk.bill
}

fn chats(policy: MarkerPolicy, warm: KeepWarm) -> Bill {
    let mut all = Bill::default();
    for pauses in WorkloadRandom::new(1).pauses(CHATS * PAUSES).chunks(PAUSES) {
        let mut talk = talk(policy);
        talk.chat(pauses, warm);
        all.cost += talk.bill.cost;
        all.ideal += talk.bill.ideal;
        all.refreshes += talk.bill.refreshes;
    }
    all
}

/// Runs short sessions of one profile, this many minutes apart.
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
fn the_default_policy_is_the_cheapest_measured() {
    let mut table = String::from("policy: coding | chat, kept warm | 8 sessions, 4 min | 15 min apart\n");
    let mut measured = Vec::new();
    for (name, policy) in POLICIES {
        let bills =
            [coding(policy), chats(policy, KeepWarm::Kept), sessions(policy, 4), sessions(policy, 15)];
        let figures: Vec<String> =
            bills.iter().map(|bill| format!("${:.3} ({:.3})", bill.cost, bill.ratio())).collect();
        writeln!(table, "{name}: {}", figures.join(" | ")).unwrap();
        measured.push((policy, bills));
    }
    let left = chats(MarkerPolicy::default(), KeepWarm::Left);
    writeln!(table, "the default, not kept warm: chat ${:.3} ({:.3})", left.cost, left.ratio()).unwrap();
    insta::assert_snapshot!(table);
    let cost = |bills: &[Bill; 4]| bills[0].cost + bills[1].cost;
    let cheapest = measured.iter().map(|(_, bills)| cost(bills)).fold(f64::INFINITY, f64::min);
    let (_, default) = measured.iter().find(|(policy, _)| *policy == MarkerPolicy::default()).unwrap();
    assert!(cost(default) <= cheapest * 1.001, "{table}");
    let [coding, kept, ..] = default;
    assert!(coding.ratio() <= 1.02, "{table}");
    assert!(kept.ratio() <= 1.08 && kept.cost < left.cost, "{table}");
    assert!(kept.refreshes > 0 && left.refreshes == 0);
}
