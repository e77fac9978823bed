//! What holds for every policy and every conversation.

use super::*;
use proptest::prelude::*;

/// The rolling markers of most harnesses: on the last two user messages.
fn rolling(body: &mut Value) {
    let messages = body["messages"].as_array_mut().unwrap();
    let persons = messages.iter_mut().rev().filter(|message| message["role"] == "user").take(2);
    for message in persons {
        let content = message["content"].as_array_mut().unwrap();
        content.last_mut().unwrap()["cache_control"] = short();
    }
}

/// Builds a conversation of `turns` turns as a request of each protocol.
fn grown(turns: usize, sizes: &[usize]) -> [(Protocol, Value); 4] {
    let texts: Vec<String> = (0..2 * turns - 1)
        .map(|index| format!("message {index} {}", "z".repeat(sizes[index % sizes.len()])))
        .collect();
    let mut messages = request(1500, 2 * turns - 1, &[]);
    for (message, text) in messages["messages"].as_array_mut().unwrap().iter_mut().zip(&texts) {
        message["content"][0]["text"] = json!(text);
    }
    rolling(&mut messages);
    let chat = chat(&"x".repeat(6000), &texts.iter().map(String::as_str).collect::<Vec<_>>());
    let mut items = responses(2 * turns - 1, &[], true);
    for (item, text) in items["input"].as_array_mut().unwrap().iter_mut().skip(1).zip(&texts) {
        item["content"][0]["text"] = json!(text);
    }
    let converse: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| {
            let role = if index % 2 == 0 { "user" } else { "assistant" };
            let mut content = vec![json!({ "text": text })];
            if index % 2 == 0 && index + 4 > 2 * turns - 1 {
                content.push(json!({ "cachePoint": { "type": "default" } }));
            }
            json!({ "role": role, "content": content })
        })
        .collect();
    let system = json!([{ "text": "x".repeat(6000) }]);
    let converse = json!({ "model": "m", "system": system, "messages": converse });
    [
        (Protocol::Anthropic, messages),
        (Protocol::OpenaiChat, chat),
        (Protocol::OpenaiResponses, items),
        (Protocol::Bedrock, converse),
    ]
}

fn policies() -> Vec<(&'static str, CachePolicy)> {
    let automatic = CachePolicy::openai_automatic();
    vec![
        ("anthropic", CachePolicy::anthropic()),
        ("bedrock", CachePolicy::bedrock()),
        ("automatic", CachePolicy { routing: Routing::ByKey { per_minute: None }, ..automatic }),
        ("breakpoints", CachePolicy::openai_breakpoints()),
        ("deepseek", CachePolicy::deepseek()),
        ("none", CachePolicy::none()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn adding_turns_never_lowers_what_is_read(turns in 1..14_usize, sizes in prop::collection::vec(0..3000_usize, 1..6)) {
        for (name, policy) in policies() {
            for protocol in 0..4 {
                let mut cache = simulator(policy.clone());
                let mut previous = 0;
                for turn in 1..=turns {
                    let (protocol, body) = grown(turn, &sizes)[protocol].clone();
                    let served = ask_in(&mut cache, protocol, &body);
                    prop_assert!(served.usage.cache_read >= previous, "{} {:?} turn {}", name, protocol, turn);
                    prop_assert_eq!(served.miss, None, "{} {:?} turn {}", name, protocol, turn);
                    previous = served.usage.cache_read;
                }
                let uses_markers = matches!(protocol, 0 | 3);
                let finds = match name {
                    "none" => false,
                    "anthropic" | "bedrock" => uses_markers,
                    _ => true,
                };
                prop_assert_eq!(previous > 0, finds && turns > 1, "{} {}", name, protocol);
            }
        }
    }

    #[test]
    fn any_edit_of_a_tool_reads_nothing(turns in 1..6_usize, tool in 0..2_usize, field in prop::sample::select(vec!["name", "description", "input_schema"])) {
        for (name, policy) in policies() {
            let mut cache = simulator(policy);
            let [(protocol, body), ..] = grown(turns, &[500]);
            ask_in(&mut cache, protocol, &body);
            let mut edited = body.clone();
            edited["tools"][tool][field] = json!("edited");
            let served = ask_in(&mut cache, protocol, &edited);
            prop_assert_eq!(served.usage.cache_read, 0, "{}", name);
            let reason = served.miss.map(|miss| miss.reason);
            prop_assert_eq!(reason, (name != "none").then_some(MissReason::ToolsChanged), "{}", name);
        }
    }

    #[test]
    fn the_classes_sum_to_the_whole(
        blocks in 1..24_usize,
        markers in prop::collection::btree_map(0..24_usize, any::<bool>(), 0..4),
        before in 0..24_usize,
        pause in 0..4000_u64,
    ) {
        // Hours come first.
        let hours = markers.values().filter(|hour| **hour).count();
        let positions = markers.keys().copied().filter(|index| *index < blocks).enumerate();
        let markers: Vec<(usize, Value)> =
            positions.map(|(nth, index)| (index, if nth < hours { long() } else { short() })).collect();
        let body = request(1500, blocks, &markers);
        let mut unmarked = request(1500, blocks, &[]);
        let total = simulator(CachePolicy::none()).serve(ANTHROPIC, "m", &unmarked).unwrap().usage.input;
        let mut cache = simulator(CachePolicy::anthropic());
        if before < blocks {
            unmarked["messages"].as_array_mut().unwrap().truncate(before + 1);
            unmarked["messages"][before]["content"][0]["cache_control"] = short();
            ask(&mut cache, &unmarked);
        }
        cache.advance(Duration::from_secs(pause));
        let served = ask(&mut cache, &body);
        prop_assert_eq!(served.usage.total_input(), total);
        prop_assert!(served.written_long <= served.usage.cache_write);
        // A, B and C: the written part ends at the last marker, the hour's part at the last marker for an hour.
        if markers.is_empty() { prop_assert_eq!(served.usage.cache_write, 0) }
        if !markers.iter().any(|(_, marker)| *marker == long()) { prop_assert_eq!(served.written_long, 0) }
        let prices = CachePrices::SONNET;
        let Usage { input, cache_read, cache_write, .. } = served.usage;
        let short = cache_write - served.written_long;
        let dollars = (input as f64 * 3.0 + cache_read as f64 * 0.3 + short as f64 * 3.75 + served.written_long as f64 * 6.0) / 1e6;
        prop_assert!((prices.cost(&served.usage, served.written_long) - dollars).abs() < 1e-12);
    }
}
