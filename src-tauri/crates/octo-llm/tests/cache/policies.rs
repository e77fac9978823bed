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

fn conversation(policy: MarkerPolicy) -> WorkloadConversation {
    let cache = CacheSimulator::new(CachePolicy::anthropic());
    WorkloadConversation::new(Protocol::Anthropic, Caching::anthropic(), policy, cache)
}

fn coding(policy: MarkerPolicy) -> Bill {
    let mut conversation = conversation(policy);
    conversation.coding(40);
    conversation.bill
}

fn chats(policy: MarkerPolicy, warm: KeepWarm) -> Bill {
    let mut total = Bill::default();
    for pauses in WorkloadRandom::new(1).pauses(CHATS * PAUSES).chunks(PAUSES) {
        let mut conversation = conversation(policy);
        conversation.chat(pauses, warm);
        total.cost += conversation.bill.cost;
        total.ideal += conversation.bill.ideal;
        total.refreshes += conversation.bill.refreshes;
    }
    total
}

/// Runs short sessions of one profile, this many minutes apart.
fn sessions(policy: MarkerPolicy, minutes: u64) -> Bill {
    let mut conversation = conversation(policy);
    for _ in 0..8 {
        conversation.new_session();
        conversation.coding(5);
        conversation.cache.advance(Duration::from_secs(60 * minutes));
    }
    conversation.bill
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
    let unwarmed = chats(MarkerPolicy::default(), KeepWarm::Left);
    writeln!(table, "the default, not kept warm: chat ${:.3} ({:.3})", unwarmed.cost, unwarmed.ratio())
        .unwrap();
    insta::assert_snapshot!(table);
    let cost = |bills: &[Bill; 4]| bills[0].cost + bills[1].cost;
    let cheapest = measured.iter().map(|(_, bills)| cost(bills)).fold(f64::INFINITY, f64::min);
    let (_, default) = measured.iter().find(|(policy, _)| *policy == MarkerPolicy::default()).unwrap();
    assert!(cost(default) <= cheapest * 1.001, "{table}");
    let [coding, warm_chats, ..] = default;
    assert!(coding.ratio() <= 1.02, "{table}");
    assert!(warm_chats.ratio() <= 1.08 && warm_chats.cost < unwarmed.cost, "{table}");
    assert!(warm_chats.refreshes > 0 && unwarmed.refreshes == 0);
}
