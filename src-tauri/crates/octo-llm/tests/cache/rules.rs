//! Mistakes an agent can make with its own cache, and that this one does not make: the checklist items of the
//! planner and the codecs.

use crate::workload::{KeepWarm, WorkloadConversation};
use octo_llm::{CacheKind, CacheLifetime, CachePlan, Caching, Layout, MarkerPolicy, plan};
use octo_protocol::{Block, Message, MessageId, Meta, ModelId, Origin, Protocol, Role, SessionId, TurnId};
use octo_testkit::{CachePolicy, CacheSimulator, MissReason, Routing};
use proptest::prelude::*;
use std::time::Duration;

fn breakpoints() -> Caching {
    Caching { kind: CacheKind::Breakpoints { limit: 3, lookback: 80, life_seconds: 1800 }, minimum: 1024 }
}

fn prefix(keyed: bool) -> Caching {
    Caching { kind: CacheKind::Prefix { step: 128, life_seconds: 300, keyed }, minimum: 1024 }
}

fn units() -> Caching {
    Caching { kind: CacheKind::Units { life_seconds: 7200 }, minimum: 64 }
}

/// Returns every provider that promises to read previously sent input, in its own wire format.
fn providers() -> Vec<(&'static str, WorkloadConversation)> {
    let mut automatic = CachePolicy::openai_automatic();
    automatic.routing = Routing::ByKey { per_minute: None };
    let conversation = |protocol, caching, policy| {
        WorkloadConversation::new(protocol, caching, MarkerPolicy::default(), CacheSimulator::new(policy))
    };
    vec![
        ("anthropic", conversation(Protocol::Anthropic, Caching::anthropic(), CachePolicy::anthropic())),
        ("bedrock", conversation(Protocol::Bedrock, Caching::anthropic(), CachePolicy::bedrock())),
        (
            "gpt-5.6",
            conversation(Protocol::OpenaiResponses, breakpoints(), CachePolicy::openai_breakpoints()),
        ),
        ("gpt-5.5", conversation(Protocol::OpenaiChat, prefix(true), automatic)),
        ("deepseek", conversation(Protocol::OpenaiChat, units(), CachePolicy::deepseek())),
    ]
}

fn anthropic() -> WorkloadConversation {
    let cache = CacheSimulator::new(CachePolicy::anthropic());
    WorkloadConversation::new(Protocol::Anthropic, Caching::anthropic(), MarkerPolicy::default(), cache)
}

#[test]
fn a_conversation_that_grows_reads_all_it_sent() {
    for (name, mut conversation) in providers() {
        let mut sent = 0;
        for turn in 0..3 {
            conversation.say(300);
            for step in 0..8 {
                let usage = conversation.send(100);
                // A cache with steps loses part of a step; a unit of the last input is complete.
                assert!(
                    usage.cache_read + 128 >= sent,
                    "{name} turn {turn} step {step}: {usage:?} after {sent}"
                );
                sent = usage.total_input();
                conversation.call(1 + step % 3, 2000);
            }
            sent = conversation.send(100).total_input();
            conversation.answer(900);
        }
        assert_eq!(conversation.bill.misses, [], "{name}");
    }
}

#[test]
fn a_batch_of_more_than_twenty_results_keeps_the_prefix() {
    for (name, mut conversation) in providers() {
        conversation.say(300);
        conversation.call(1, 6000);
        let before = conversation.send(100).total_input();
        conversation.call(45, 200);
        let batch = conversation.send(100);
        assert!(batch.cache_read + 128 >= before, "{name}: {batch:?} after {before}");
        conversation.answer(300);
        conversation.say(100);
        let after = conversation.send(100);
        assert!(after.cache_read + 128 >= batch.total_input(), "{name}: {after:?} after {batch:?}");
    }
}

#[test]
fn a_discarded_last_message_costs_only_itself() {
    for (name, mut conversation) in providers() {
        conversation.say(300);
        conversation.call(1, 6000);
        conversation.send(100);
        conversation.call(1, 6000);
        let before = conversation.send(100).total_input();
        conversation.answer(500);
        let length = conversation.messages.len();
        conversation.say(4000);
        conversation.send(100);
        // It is undone, and another message is sent.
        conversation.messages.truncate(length);
        conversation.say(200);
        let repeated = conversation.send(100);
        assert!(repeated.cache_read + 128 >= before, "{name}: {repeated:?} after {before}");
    }
}

#[test]
fn undoing_a_long_turn_reads_everything_before_it() {
    for (name, mut conversation) in providers() {
        conversation.say(300);
        for _ in 0..4 {
            conversation.send(100);
            conversation.call(1, 3000);
        }
        let before = conversation.send(100).total_input();
        conversation.answer(500);
        let length = conversation.messages.len();
        conversation.say(200);
        // Longer than an unread entry lives, and than the lookback reaches.
        for _ in 0..60 {
            conversation.send(100);
            conversation.call(1, 300);
        }
        conversation.messages.truncate(length);
        conversation.say(100);
        let repeated = conversation.send(100);
        assert!(repeated.cache_read + 128 >= before, "{name}: {repeated:?} after {before}");
    }
}

#[test]
fn switching_the_model_and_back_reads_what_the_model_had() {
    for (name, mut conversation) in providers() {
        conversation.say(300);
        for _ in 0..4 {
            conversation.send(100);
            conversation.call(1, 3000);
        }
        let before = conversation.send(100).total_input();
        conversation.answer(500);
        let first_model = std::mem::replace(&mut conversation.model, ModelId::new());
        conversation.say(200);
        for _ in 0..12 {
            conversation.send(100);
            conversation.call(1, 300);
        }
        let after_switch = conversation.send(100);
        assert!(after_switch.cache_read > 0, "{name}: the other model has a cache of its own");
        conversation.answer(500);
        conversation.model = first_model;
        conversation.say(100);
        let after_return = conversation.send(100);
        assert!(after_return.cache_read + 128 >= before, "{name}: {after_return:?} after {before}");
        let forced = |miss: &octo_testkit::CacheReadMiss| miss.reason == MissReason::ModelChanged;
        assert!(conversation.bill.misses.iter().all(forced), "{name}: {:?}", conversation.bill.misses);
    }
}

#[test]
fn temporary_messages_break_no_prefix() {
    for (name, mut conversation) in providers() {
        conversation.say(300);
        conversation.call(1, 6000);
        let before = conversation.send(100).total_input();
        conversation.answer(500);
        // Notices, new skills and queued messages are messages like others.
        for _ in 0..6 {
            conversation.say(120);
        }
        let usage = conversation.send(100);
        assert!(usage.cache_read + 128 >= before, "{name}: {usage:?} after {before}");
        assert_eq!(conversation.bill.misses, [], "{name}");
    }
}

#[test]
fn a_compaction_reads_the_conversation_and_keeps_the_fixed_part() {
    for (name, mut conversation) in providers() {
        conversation.say(300);
        for _ in 0..20 {
            conversation.send(100);
            conversation.call(1, 20_000);
        }
        let fixed = {
            let digest = octo_llm::SentRequest::new(&conversation.request(0), 0);
            digest.tools.tokens + digest.system.tokens
        };
        let before = conversation.send(100).total_input();
        conversation.answer(500);
        conversation.say(1500);
        let compaction = conversation.send_vanishing(600, 1);
        assert!(compaction.cache_read + 128 >= before);
        let share = compaction.cache_read as f64 / compaction.total_input() as f64;
        assert!(share >= 0.95, "{name}: {share}");
        conversation.messages.clear();
        conversation.say(2400);
        let after = conversation.send(100);
        // At DeepSeek the fixed part is not a unit before a second conversation has started with it.
        let read_part = if name == "deepseek" { 0 } else { fixed };
        assert!(after.cache_read + 128 >= read_part, "{name}: {after:?}, fixed {fixed}");
        assert!(after.cache_write + after.input < 10_000, "{name}: {after:?}");
    }
}

#[test]
fn a_session_and_a_sub_agent_share_their_prefix() {
    let mut conversation = anthropic();
    conversation.say(300);
    conversation.call(1, 6000);
    let parent = conversation.send(100).total_input();
    // A sub-agent has the conversation, and a task of its own.
    let length = conversation.messages.len();
    conversation.answer(100);
    conversation.say(900);
    assert_eq!(conversation.send(100).cache_read, parent);
    conversation.messages.truncate(length);
    conversation.answer(300);
    conversation.say(200);
    assert_eq!(conversation.send(100).cache_read, parent, "the parent goes on where it was");
    conversation.new_session();
    conversation.say(300);
    assert!(conversation.send(100).cache_read > 2000, "tools and system are the profile's");
}

#[test]
fn short_pauses_are_kept_warm_and_long_ones_are_not() {
    let seconds = Duration::from_secs;
    for (pause, warm, refreshes, hit) in [
        (seconds(200), KeepWarm::Kept, 0, true),
        (seconds(400), KeepWarm::Left, 0, false),
        (seconds(400), KeepWarm::Kept, 1, true),
        (seconds(1100), KeepWarm::Kept, 3, true),
        (seconds(7200), KeepWarm::Kept, 3, false),
    ] {
        let mut conversation = anthropic();
        conversation.say(300);
        conversation.call(1, 60_000);
        let before = conversation.send(100).total_input();
        conversation.answer(100);
        conversation.pause(pause, warm);
        conversation.say(100);
        let usage = conversation.send(100);
        assert_eq!(conversation.bill.refreshes, refreshes, "{pause:?}");
        assert_eq!(usage.cache_read >= before, hit, "{pause:?}: {usage:?}");
    }
}

fn outline() -> impl Strategy<Value = Vec<Message>> {
    prop::collection::vec((any::<bool>(), 0..4_u8, 1..30_usize, 0..2_usize), 0..40).prop_map(|steps| {
        let models = [ModelId::new(), ModelId::new()];
        let mut turn = TurnId::new();
        let message = |(person, is_new, blocks, model): (bool, u8, usize, usize)| {
            if is_new == 0 {
                turn = TurnId::new();
            }
            let role = if person { Role::User } else { Role::Assistant };
            let model = (!person).then(|| models[model]);
            let meta = Meta { model, ..Meta::new(Origin::Octo, 0) };
            let blocks = vec![Block::Text { text: "x".to_owned() }; blocks];
            Message { id: MessageId::new(), turn, role, blocks, meta }
        };
        steps.into_iter().map(message).collect()
    })
}

fn lives() -> impl Strategy<Value = CacheLifetime> {
    prop::sample::select(vec![CacheLifetime::FiveMinutes, CacheLifetime::Hour])
}

fn policies() -> impl Strategy<Value = MarkerPolicy> {
    (prop::option::of(lives()), lives(), lives()).prop_map(|(fixed, finished, current)| MarkerPolicy {
        fixed,
        finished,
        current,
    })
}

proptest! {
    #[test]
    fn a_plan_keeps_the_providers_rules(
        messages in outline(),
        vanishing in 0..3_usize,
        policy in policies(),
        limit in 0..5_usize,
        offered in prop::sample::subsequence(vec![CacheLifetime::FiveMinutes, CacheLifetime::Hour], 1..=2),
    ) {
        let kind = CacheKind::Markers { limit, lookback: 20, lifetimes: offered.clone() };
        let caching = Caching { kind, minimum: 1024 };
        let layout = Layout::new(&messages).without_last(vanishing);
        let CachePlan { fixed, messages: markers, .. } = plan(&layout, &caching, &policy);
        prop_assert!(markers.len() + usize::from(fixed.is_some()) <= limit);
        prop_assert!(markers.is_sorted_by(|one, other| one.0 < other.0), "rising, each once");
        let lifetimes: Vec<CacheLifetime> = fixed.into_iter().chain(markers.iter().map(|marker| marker.1)).collect();
        prop_assert!(lifetimes.is_sorted_by(|one, other| one >= other), "longer lives first: {:?}", lifetimes);
        prop_assert!(lifetimes.iter().all(|lifetime| offered.contains(lifetime)), "{:?} of {:?}", lifetimes, offered);
        let eligible = messages.len().saturating_sub(vanishing);
        for (index, _) in &markers {
            prop_assert!(*index < eligible, "never behind what vanishes");
            prop_assert_eq!(messages[*index].role, Role::User);
        }
        // The part this call can leave for the next is marked, whenever a marker is free.
        let newest_user = messages.iter().take(eligible).rposition(|message| message.role == Role::User);
        if limit > usize::from(fixed.is_some()) {
            prop_assert_eq!(markers.last().map(|marker| marker.0), newest_user);
        }
    }

    #[test]
    fn only_markers_and_breakpoints_are_set(messages in outline(), vanishing in 0..3_usize) {
        let session = SessionId::new();
        let layout = Layout::new(&messages).without_last(vanishing).for_session(session);
        let policy = MarkerPolicy::default();
        let chance = CacheKind::Probabilistic { probability: 0.5, life_seconds: 300 };
        for (caching, keyed) in [
            (Caching::NONE, false),
            (prefix(false), false),
            (prefix(true), true),
            (units(), false),
            (Caching { kind: chance, minimum: 4096 }, false),
        ] {
            let plan = plan(&layout, &caching, &policy);
            prop_assert_eq!((plan.fixed, plan.messages.len()), (None, 0));
            prop_assert_eq!(plan.key, keyed.then(|| format!("octo-{session}")));
        }
        let points = plan(&layout, &breakpoints(), &policy);
        prop_assert!(points.messages.len() + usize::from(points.fixed.is_some()) <= 3);
        if vanishing == 0 {
            // The server automatically adds one after the newest message.
            prop_assert!(points.messages.iter().all(|(index, _)| index + 1 < messages.len().max(1)));
        }
        let key = points.key.unwrap();
        prop_assert!(key.len() <= 64 && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'));
    }
}
