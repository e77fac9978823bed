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
    let talk = |protocol, caching, policy| {
        WorkloadConversation::new(protocol, caching, MarkerPolicy::default(), CacheSimulator::new(policy))
    };
    vec![
        ("anthropic", talk(Protocol::Anthropic, Caching::anthropic(), CachePolicy::anthropic())),
        ("bedrock", talk(Protocol::Bedrock, Caching::anthropic(), CachePolicy::bedrock())),
        ("gpt-5.6", talk(Protocol::OpenaiResponses, breakpoints(), CachePolicy::openai_breakpoints())),
        ("gpt-5.5", talk(Protocol::OpenaiChat, prefix(true), automatic)),
        ("deepseek", talk(Protocol::OpenaiChat, units(), CachePolicy::deepseek())),
    ]
}

fn anthropic() -> WorkloadConversation {
    let cache = CacheSimulator::new(CachePolicy::anthropic());
    WorkloadConversation::new(Protocol::Anthropic, Caching::anthropic(), MarkerPolicy::default(), cache)
}

#[test]
fn a_conversation_that_grows_reads_all_it_sent() {
    for (name, mut talk) in providers() {
        let mut sent = 0;
        for turn in 0..3 {
            talk.say(300);
            for step in 0..8 {
                let usage = talk.send(100);
                // A cache with steps loses part of a step; a unit of the last input is complete.
                assert!(
                    usage.cache_read + 128 >= sent,
                    "{name} turn {turn} step {step}: {usage:?} after {sent}"
                );
                sent = usage.total_input();
                talk.call(1 + step % 3, 2000);
            }
            sent = talk.send(100).total_input();
            talk.answer(900);
        }
        assert_eq!(talk.bill.misses, [], "{name}");
    }
}

#[test]
fn a_batch_of_more_than_twenty_results_is_survived() {
    for (name, mut talk) in providers() {
        talk.say(300);
        talk.call(1, 6000);
        let before = talk.send(100).total_input();
        talk.call(45, 200);
        let batch = talk.send(100);
        assert!(batch.cache_read + 128 >= before, "{name}: {batch:?} after {before}");
        talk.answer(300);
        talk.say(100);
        let after = talk.send(100);
        assert!(after.cache_read + 128 >= batch.total_input(), "{name}: {after:?} after {batch:?}");
    }
}

#[test]
fn a_discarded_last_message_costs_only_itself() {
    for (name, mut talk) in providers() {
        talk.say(300);
        talk.call(1, 6000);
        talk.send(100);
        talk.call(1, 6000);
        let before = talk.send(100).total_input();
        talk.answer(500);
        let place = talk.messages.len();
        talk.say(4000);
        talk.send(100);
        // It is undone, and another message is sent.
        talk.messages.truncate(place);
        talk.say(200);
        let again = talk.send(100);
        assert!(again.cache_read + 128 >= before, "{name}: {again:?} after {before}");
    }
}

#[test]
fn undoing_a_long_turn_reads_everything_before_it() {
    for (name, mut talk) in providers() {
        talk.say(300);
        for _ in 0..4 {
            talk.send(100);
            talk.call(1, 3000);
        }
        let before = talk.send(100).total_input();
        talk.answer(500);
        let place = talk.messages.len();
        talk.say(200);
        // Longer than an unread entry lives, and than the lookback reaches.
        for _ in 0..60 {
            talk.send(100);
            talk.call(1, 300);
        }
        talk.messages.truncate(place);
        talk.say(100);
        let again = talk.send(100);
        assert!(again.cache_read + 128 >= before, "{name}: {again:?} after {before}");
    }
}

#[test]
fn switching_the_model_and_back_reads_what_the_model_had() {
    for (name, mut talk) in providers() {
        talk.say(300);
        for _ in 0..4 {
            talk.send(100);
            talk.call(1, 3000);
        }
        let before = talk.send(100).total_input();
        talk.answer(500);
        let first = std::mem::replace(&mut talk.model, ModelId::new());
        talk.say(200);
        for _ in 0..12 {
            talk.send(100);
            talk.call(1, 300);
        }
        let other = talk.send(100);
        assert!(other.cache_read > 0, "{name}: the other model has a cache of its own");
        talk.answer(500);
        talk.model = first;
        talk.say(100);
        let back = talk.send(100);
        assert!(back.cache_read + 128 >= before, "{name}: {back:?} after {before}");
        let forced = |miss: &octo_testkit::CacheReadMiss| miss.reason == MissReason::ModelChanged;
        assert!(talk.bill.misses.iter().all(forced), "{name}: {:?}", talk.bill.misses);
    }
}

#[test]
fn temporary_messages_break_no_prefix() {
    for (name, mut talk) in providers() {
        talk.say(300);
        talk.call(1, 6000);
        let before = talk.send(100).total_input();
        talk.answer(500);
        // Notices, new skills and queued messages are messages like others.
        for _ in 0..6 {
            talk.say(120);
        }
        let usage = talk.send(100);
        assert!(usage.cache_read + 128 >= before, "{name}: {usage:?} after {before}");
        assert_eq!(talk.bill.misses, [], "{name}");
    }
}

#[test]
fn a_compaction_reads_the_conversation_and_keeps_the_fixed_part() {
    for (name, mut talk) in providers() {
        talk.say(300);
        for _ in 0..20 {
            talk.send(100);
            talk.call(1, 20_000);
        }
        let fixed = {
            let digest = octo_llm::SentRequest::new(&talk.request(0), 0);
            digest.tools.tokens + digest.system.tokens
        };
        let before = talk.send(100).total_input();
        talk.answer(500);
        talk.say(1500);
        let compaction = talk.send_vanishing(600, 1);
        assert!(compaction.cache_read + 128 >= before);
        let share = compaction.cache_read as f64 / compaction.total_input() as f64;
        assert!(share >= 0.95, "{name}: {share}");
        talk.messages.clear();
        talk.say(2400);
        let after = talk.send(100);
        // At DeepSeek the fixed part is not a unit before a second conversation has started with it.
        let kept = if name == "deepseek" { 0 } else { fixed };
        assert!(after.cache_read + 128 >= kept, "{name}: {after:?}, fixed {fixed}");
        assert!(after.cache_write + after.input < 10_000, "{name}: {after:?}");
    }
}

#[test]
fn a_session_and_a_sub_agent_share_their_prefix() {
    let mut talk = anthropic();
    talk.say(300);
    talk.call(1, 6000);
    let parent = talk.send(100).total_input();
    // A sub-agent has the conversation, and a task of its own.
    let place = talk.messages.len();
    talk.answer(100);
    talk.say(900);
    assert_eq!(talk.send(100).cache_read, parent);
    talk.messages.truncate(place);
    talk.answer(300);
    talk.say(200);
    assert_eq!(talk.send(100).cache_read, parent, "the parent goes on where it was");
    talk.new_session();
    talk.say(300);
    assert!(talk.send(100).cache_read > 2000, "tools and system are the profile's");
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
        let mut talk = anthropic();
        talk.say(300);
        talk.call(1, 60_000);
        let before = talk.send(100).total_input();
        talk.answer(100);
        talk.pause(pause, warm);
        talk.say(100);
        let usage = talk.send(100);
        assert_eq!(talk.bill.refreshes, refreshes, "{pause:?}");
        assert_eq!(usage.cache_read >= before, hit, "{pause:?}: {usage:?}");
    }
}

fn outline() -> impl Strategy<Value = Vec<Message>> {
    prop::collection::vec((any::<bool>(), 0..4_u8, 1..30_usize, 0..2_usize), 0..40).prop_map(|steps| {
        let models = [ModelId::new(), ModelId::new()];
        let mut turn = TurnId::new();
        let message = |(person, new, blocks, model): (bool, u8, usize, usize)| {
            if new == 0 {
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
        let kind = CacheKind::Markers { limit, lookback: 20, lives: offered.clone() };
        let caching = Caching { kind, minimum: 1024 };
        let layout = Layout::new(&messages).without_last(vanishing);
        let CachePlan { fixed, messages: marks, .. } = plan(&layout, &caching, &policy);
        prop_assert!(marks.len() + usize::from(fixed.is_some()) <= limit);
        prop_assert!(marks.is_sorted_by(|one, other| one.0 < other.0), "rising, each once");
        let all: Vec<CacheLifetime> = fixed.into_iter().chain(marks.iter().map(|mark| mark.1)).collect();
        prop_assert!(all.is_sorted_by(|one, other| one >= other), "longer lives first: {:?}", all);
        prop_assert!(all.iter().all(|life| offered.contains(life)), "{:?} of {:?}", all, offered);
        let lasting = messages.len().saturating_sub(vanishing);
        for (index, _) in &marks {
            prop_assert!(*index < lasting, "never behind what vanishes");
            prop_assert_eq!(messages[*index].role, Role::User);
        }
        // The part this call can leave for the next is marked, whenever a marker is free.
        let last = messages.iter().take(lasting).rposition(|message| message.role == Role::User);
        if limit > usize::from(fixed.is_some()) {
            prop_assert_eq!(marks.last().map(|mark| mark.0), last);
        }
    }

    #[test]
    fn only_markers_and_breakpoints_are_set(messages in outline(), vanishing in 0..3_usize) {
        let session = SessionId::new();
        let layout = Layout::new(&messages).without_last(vanishing).for_session(session);
        let policy = MarkerPolicy::default();
        let chance = CacheKind::Chance { probability: 0.5, life_seconds: 300 };
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
