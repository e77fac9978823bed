//! The published rules, one by one.

use super::*;
use octo_protocol::{Protocol, Usage};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::time::Duration;

const ANTHROPIC: Protocol = Protocol::Anthropic;
const MINUTES_5: Duration = Duration::from_secs(300);

fn simulator(policy: CachePolicy) -> CacheSimulator {
    CacheSimulator::new(policy)
}

fn ask_in(cache: &mut CacheSimulator, protocol: Protocol, body: &Value) -> ServedRequest {
    let mut served = cache.serve(protocol, body["model"].as_str().unwrap(), body).unwrap();
    cache.stream(&mut served);
    served
}

fn ask(cache: &mut CacheSimulator, body: &Value) -> ServedRequest {
    ask_in(cache, ANTHROPIC, body)
}

fn short() -> Value {
    json!({ "type": "ephemeral" })
}

fn long() -> Value {
    json!({ "type": "ephemeral", "ttl": "1h" })
}

/// A request whose system prompt has `system` tokens, marked, and whose messages have one block each.
fn request(system: usize, blocks: usize, marks: &[(usize, Value)]) -> Value {
    let messages: Vec<Value> = (0..blocks)
        .map(|index| {
            let mut block = json!({ "type": "text", "text": format!("message {index}") });
            if let Some((_, mark)) = marks.iter().find(|(marked, _)| *marked == index) {
                block["cache_control"] = mark.clone();
            }
            json!({ "role": if index % 2 == 0 { "user" } else { "assistant" }, "content": [block] })
        })
        .collect();
    let tools = json!([{ "name": "grep", "input_schema": {} }, { "name": "write", "input_schema": {} }]);
    let system = json!([{ "type": "text", "text": "x".repeat(system * 4) }]);
    json!({ "model": "m", "tools": tools, "system": system, "messages": messages })
}

fn marked(system: usize, blocks: usize, marks: &[usize]) -> Value {
    request(system, blocks, &marks.iter().map(|index| (*index, short())).collect::<Vec<_>>())
}

#[test]
fn a_marker_reads_what_an_earlier_marker_wrote() {
    let mut cache = simulator(CachePolicy::anthropic());
    let first = ask(&mut cache, &marked(2000, 1, &[0])).usage;
    assert_eq!(first.cache_read, 0);
    assert!(first.cache_write >= 2000 && first.input == 0, "{first:?}");
    let second = ask(&mut cache, &marked(2000, 3, &[0, 2])).usage;
    assert_eq!(second.cache_read, first.cache_write);
    assert!(second.cache_write > 0 && second.input == 0);
    // Entries are written at markers only; nothing between them is found.
    let third = ask(&mut cache, &marked(2000, 2, &[1])).usage;
    assert_eq!(third.cache_read, first.cache_write);
}

#[test]
fn short_prefixes_are_not_cached() {
    let mut cache = simulator(CachePolicy::anthropic());
    for _ in 0..2 {
        let usage = ask(&mut cache, &marked(900, 1, &[0])).usage;
        assert_eq!((usage.cache_write, usage.cache_read), (0, 0));
    }
}

#[test]
fn the_lookback_is_nineteen_positions() {
    for (last, hit) in [(19, true), (20, false)] {
        let mut cache = simulator(CachePolicy::anthropic());
        ask(&mut cache, &marked(2000, 1, &[0]));
        let usage = ask(&mut cache, &marked(2000, last + 1, &[last])).usage;
        assert_eq!(usage.cache_read > 0, hit, "marker {last} positions later");
    }
}

/// Builds a batch of `count` calls and their results after a first message, with a marker at its end and, if
/// `first_marked`, on the first message too.
fn batch(count: usize, first_marked: bool) -> Value {
    let calls: Vec<Value> = (0..count)
        .map(|id| json!({ "type": "tool_use", "id": format!("t{id}"), "name": "grep", "input": {} }))
        .collect();
    let mut results: Vec<Value> = (0..count)
        .map(|id| json!({ "type": "tool_result", "tool_use_id": format!("t{id}"), "content": "x" }))
        .collect();
    results.last_mut().unwrap()["cache_control"] = short();
    let mut body = marked(2000, 1, if first_marked { &[0] } else { &[] });
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({ "role": "assistant", "content": calls }));
    messages.push(json!({ "role": "user", "content": results }));
    body
}

#[test]
fn a_run_of_results_is_one_position_where_positions_count() {
    for (policy, count, first_marked, hit) in [
        (CachePolicy::anthropic(), 40, false, true),
        (CachePolicy::bedrock(), 9, false, true),
        (CachePolicy::bedrock(), 10, false, false),
        (CachePolicy::bedrock(), 40, true, true),
    ] {
        let mut cache = simulator(policy);
        ask(&mut cache, &marked(2000, 1, &[0]));
        let usage = ask(&mut cache, &batch(count, first_marked)).usage;
        assert_eq!(usage.cache_read > 0, hit, "{count} results, {first_marked}");
    }
}

#[test]
fn five_minutes_count_from_the_start_of_the_request() {
    for (after, hit) in [(299, true), (301, false)] {
        let mut cache = simulator(CachePolicy::anthropic());
        let body = marked(2000, 1, &[0]);
        let mut served = cache.serve(ANTHROPIC, "m", &body).unwrap();
        // The first token takes four minutes; the entry then has one minute left.
        cache.advance(Duration::from_secs(240));
        cache.stream(&mut served);
        cache.advance(Duration::from_secs(after - 240));
        assert_eq!(ask(&mut cache, &body).usage.cache_read > 0, hit, "{after} s after the start");
    }
}

#[test]
fn reading_renews_for_the_same_length() {
    let mut cache = simulator(CachePolicy::anthropic());
    ask(&mut cache, &marked(2000, 1, &[0]));
    for _ in 0..3 {
        cache.advance(Duration::from_secs(299));
        assert!(ask(&mut cache, &marked(2000, 1, &[0])).usage.cache_read > 0);
    }
    // A request for an hour now is neither billed nor granted.
    cache.advance(Duration::from_secs(299));
    let hour = request(2000, 1, &[(0, long())]);
    let served = ask(&mut cache, &hour);
    assert!(served.usage.cache_read > 0 && served.usage.cache_write == 0 && served.written_long == 0);
    cache.advance(Duration::from_secs(301));
    assert_eq!(ask(&mut cache, &hour).usage.cache_read, 0);
    // Written for an hour, the entry lives for an hour, and for another after a read.
    for _ in 0..2 {
        cache.advance(Duration::from_secs(3599));
        assert!(ask(&mut cache, &marked(2000, 1, &[0])).usage.cache_read > 0);
    }
}

#[test]
fn a_passed_marker_renews_its_entry_and_an_unmarked_one_expires() {
    for (marks, hit) in [(&[0, 2][..], true), (&[2], false)] {
        let mut cache = simulator(CachePolicy::anthropic());
        ask(&mut cache, &marked(2000, 1, &[0]));
        ask(&mut cache, &marked(2000, 3, &[0, 2]));
        cache.advance(Duration::from_secs(200));
        ask(&mut cache, &marked(2000, 3, marks));
        cache.advance(Duration::from_secs(200));
        let usage = ask(&mut cache, &marked(2000, 1, &[0])).usage;
        assert_eq!(usage.cache_read > 0, hit, "{marks:?}");
    }
}

#[test]
fn mixed_lifetimes_are_billed_by_the_highest_of_each() {
    let mut cache = simulator(CachePolicy::anthropic());
    let read = ask(&mut cache, &marked(2000, 1, &[0])).usage.cache_write;
    // A: message 0. B: message 2, for an hour. C: message 4.
    let body = request(2000, 6, &[(0, long()), (2, long()), (4, short())]);
    let served = ask(&mut cache, &body);
    let sizes: Vec<u64> =
        (0..6).map(|_| body["messages"][1]["content"][0].to_string().len() as u64).collect();
    let Usage { input, cache_read, cache_write, .. } = served.usage;
    assert_eq!(cache_read, read);
    assert!(served.written_long > 0 && served.written_long < cache_write);
    assert!(served.written_long.abs_diff(sizes[1] * 2 / 4) <= 10, "{served:?}");
    assert!(input > 0, "the last message is behind the last marker");
    cache.advance(Duration::from_secs(301));
    let later = ask(&mut cache, &body);
    assert_eq!(later.usage.cache_read, cache_read + served.written_long, "the hour's part is left");
}

#[test]
fn what_anthropic_refuses() {
    let thinking = |mark: bool| {
        let mut body = marked(2000, 1, &[0]);
        let mut block = json!({ "type": "thinking", "thinking": "hm", "signature": "s" });
        if mark {
            block["cache_control"] = short();
        }
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(json!({ "role": "assistant", "content": [block] }));
        body
    };
    let automatic = |marks: &[usize]| {
        let mut body = marked(2000, 6, marks);
        body["cache_control"] = short();
        body
    };
    for (what, body, refused) in [
        ("four markers", marked(2000, 5, &[0, 1, 2, 3]), false),
        ("a fifth marker", marked(2000, 5, &[0, 1, 2, 3, 4]), true),
        ("an hour before five minutes", request(2000, 2, &[(0, long()), (1, short())]), false),
        ("an hour behind five minutes", request(2000, 2, &[(0, short()), (1, long())]), true),
        ("reasoning", thinking(false), false),
        ("a marker on reasoning", thinking(true), true),
        ("automatic and three markers", automatic(&[0, 1, 2]), false),
        ("automatic and four markers", automatic(&[0, 1, 2, 3]), true),
    ] {
        let served = simulator(CachePolicy::anthropic()).serve(ANTHROPIC, "m", &body);
        assert_eq!(served.is_err(), refused, "{what}: {served:?}");
    }
}

#[test]
fn parallel_cold_requests_all_pay() {
    let mut cache = simulator(CachePolicy::anthropic());
    let body = marked(2000, 1, &[0]);
    let mut first = cache.serve(ANTHROPIC, "m", &body).unwrap();
    let second = cache.serve(ANTHROPIC, "m", &body).unwrap();
    assert_eq!((first.usage, second.usage.cache_read), (second.usage, 0));
    cache.stream(&mut first);
    assert!(cache.serve(ANTHROPIC, "m", &body).unwrap().usage.cache_read > 0);
}

#[test]
fn the_visibility_delay_is_simulated() {
    let visible = Visibility::Later(Duration::from_secs(2));
    let mut cache = simulator(CachePolicy { visibility: visible, ..CachePolicy::anthropic() });
    let body = marked(2000, 1, &[0]);
    ask(&mut cache, &body);
    cache.advance(Duration::from_secs(1));
    assert_eq!(cache.serve(ANTHROPIC, "m", &body).unwrap().usage.cache_read, 0);
    cache.advance(Duration::from_secs(1));
    assert!(cache.serve(ANTHROPIC, "m", &body).unwrap().usage.cache_read > 0);
}

#[test]
fn each_change_invalidates_its_part_of_the_prefix() {
    // The system prompt is marked, and the last message.
    let base = || {
        let mut body = marked(2000, 3, &[2]);
        body["system"][0]["cache_control"] = short();
        body
    };
    let whole = ask(&mut simulator(CachePolicy::anthropic()), &base()).usage.cache_write;
    let system = {
        let mut cache = simulator(CachePolicy::anthropic());
        ask(&mut cache, &base());
        let mut other = base();
        other["messages"][0]["content"][0]["text"] = json!("another");
        ask(&mut cache, &other).usage.cache_read
    };
    assert!(system > 2000 && system < whole);
    type Change = fn(&mut Value);
    let changes: [(&str, Change, u64); 9] = [
        ("nothing", |_| {}, whole),
        ("model", |body| body["model"] = json!("n"), 0),
        ("effort", |body| body["output_config"] = json!({ "effort": "high" }), 0),
        ("tool", |body| body["tools"][1]["description"] = json!("new"), 0),
        ("order of tools", |body| body["tools"].as_array_mut().unwrap().reverse(), 0),
        ("system", |body| body["system"][0]["text"] = json!("y".repeat(8000)), 0),
        ("tool choice", |body| body["tool_choice"] = json!({ "type": "any" }), system),
        ("thinking", |body| body["thinking"] = json!({ "type": "adaptive" }), system),
        ("message", |body| body["messages"][1]["content"][0]["text"] = json!("new"), system),
    ];
    for (what, change, read) in changes {
        let mut cache = simulator(CachePolicy::anthropic());
        ask(&mut cache, &base());
        let mut body = base();
        change(&mut body);
        assert_eq!(ask(&mut cache, &body).usage.cache_read, read, "{what}");
    }
}

#[test]
fn a_miss_names_the_first_segment_that_differs() {
    use MissReason::*;
    let base = || marked(2000, 3, &[0, 2]);
    type Change = fn(&mut Value, &mut CacheSimulator);
    type Found = Option<(MissReason, Option<usize>)>;
    let changes: [(&str, Change, Found); 8] = [
        ("nothing", |_, _| {}, None),
        ("a tool", |body, _| body["tools"][0]["name"] = json!("other"), Some((ToolsChanged, None))),
        ("the system prompt", |body, _| body["system"][0]["text"] = json!("y"), Some((SystemChanged, None))),
        ("the model", |body, _| body["model"] = json!("n"), Some((ModelChanged, None))),
        (
            "the effort",
            |body, _| body["output_config"] = json!({ "effort": "low" }),
            Some((ModelChanged, None)),
        ),
        (
            "a message",
            |body, _| body["messages"][1]["content"][0]["text"] = json!("new"),
            Some((MessagesChanged, Some(1))),
        ),
        ("time", |_, cache| cache.advance(MINUTES_5), Some((PreviousMessageNotFound, None))),
        ("no marker", |body, _| *body = marked(2000, 3, &[]), Some((Unavailable, None))),
    ];
    for (what, change, expected) in changes {
        let mut cache = simulator(CachePolicy::anthropic());
        let left = ask(&mut cache, &base()).usage.cache_write;
        let mut body = base();
        change(&mut body, &mut cache);
        let served = ask(&mut cache, &body);
        assert_eq!(served.miss.map(|miss| (miss.reason, miss.message)), expected, "{what}");
        assert_eq!(served.miss.map_or(0, |miss| miss.tokens), left - served.usage.cache_read, "{what}");
    }
    let mut other = marked(2000, 1, &[0]);
    other["messages"][0]["content"][0]["text"] = json!("Another conversation.");
    let mut cache = simulator(CachePolicy::anthropic());
    ask(&mut cache, &base());
    assert_eq!(ask(&mut cache, &other).miss, None, "a conversation that begins misses nothing");
    assert_eq!(PreviousMessageNotFound.to_string(), "previous_message_not_found");
}

fn chat(system: &str, said: &[&str]) -> Value {
    let mut messages = vec![json!({ "role": "system", "content": system })];
    messages.extend(said.iter().enumerate().map(
        |(index, text)| json!({ "role": if index % 2 == 0 { "user" } else { "assistant" }, "content": text }),
    ));
    json!({ "model": "m", "messages": messages })
}

fn ask_chat(cache: &mut CacheSimulator, body: &Value) -> u64 {
    ask_in(cache, Protocol::OpenaiChat, body).usage.cache_read
}

#[test]
fn the_automatic_cache_reads_whole_steps_of_the_common_beginning() {
    let mut cache = simulator(CachePolicy::openai_automatic());
    let system = "x".repeat(8000);
    assert_eq!(ask_chat(&mut cache, &chat(&system, &["one"])), 0);
    assert_eq!(ask_chat(&mut cache, &chat(&system, &["two"])), 1920);
    assert_eq!(ask_chat(&mut cache, &chat(&"x".repeat(3900), &["two"])), 0, "below the minimum");
    let mut keyed = chat(&system, &["one"]);
    keyed["prompt_cache_key"] = json!("another");
    assert_eq!(ask_chat(&mut cache, &keyed), 0, "another key, another machine");
    keyed["reasoning_effort"] = json!("high");
    assert_eq!(ask_chat(&mut cache, &keyed), 1920, "effort is no part of it");
    cache.advance(MINUTES_5);
    assert_eq!(ask_chat(&mut cache, &keyed), 0);
}

#[test]
fn an_automatic_entry_lives_an_hour_at_most() {
    let mut cache = simulator(CachePolicy::openai_automatic());
    let body = chat(&"x".repeat(8000), &["one"]);
    let reads: Vec<u64> = (0..16)
        .map(|_| {
            cache.advance(Duration::from_secs(240));
            ask_chat(&mut cache, &body)
        })
        .collect();
    // The first is cold, and the one after an hour.
    let cold: Vec<usize> = (0..16).filter(|index| reads[*index] == 0).collect();
    assert_eq!(cold, [0, 15]);
}

#[test]
fn the_sixteenth_request_of_a_minute_reaches_another_machine() {
    let mut cache = simulator(CachePolicy::openai_automatic());
    let body = chat(&"x".repeat(8000), &["one"]);
    let cold: Vec<usize> = (0..20).filter(|_| ask_chat(&mut cache, &body) == 0).collect();
    assert_eq!(cold, [0, 15]);
    cache.advance(Duration::from_secs(60));
    assert!(ask_chat(&mut cache, &body) > 0);
}

#[test]
fn a_unit_is_read_as_a_whole() {
    let mut cache = simulator(CachePolicy::deepseek());
    let shared = "a".repeat(8000);
    let body = |rest: &str| chat("You help.", &[&format!("{shared}{rest}")]);
    // A+B leaves a unit at its end; A+C does not match it, but A is noticed; A+D reads A.
    assert_eq!(ask_chat(&mut cache, &body("first")), 0);
    assert_eq!(ask_chat(&mut cache, &body("second")), 0);
    let read = ask_chat(&mut cache, &body("third"));
    assert!((1984..=2060).contains(&read), "{read}");
    // The whole input is a unit, and so is the output.
    let whole = ask_chat(&mut cache, &body("third"));
    assert!(whole > read);
    let asked = format!("{shared}third");
    let grown = chat("You help.", &[&asked, &"b".repeat(4000), "and?"]);
    assert!(ask_chat(&mut cache, &grown) >= whole + 1000, "the answer is part of a unit");
}

#[test]
fn units_live_for_hours() {
    let mut cache = simulator(CachePolicy::deepseek());
    let body = chat(&"a".repeat(8000), &["one"]);
    ask_chat(&mut cache, &body);
    cache.advance(Duration::from_secs(3600));
    assert!(ask_chat(&mut cache, &body) > 0);
}

fn responses(said: usize, breakpoints: &[usize], own: bool) -> Value {
    let mut input = vec![json!({ "type": "message", "role": "developer", "content": [
        { "type": "input_text", "text": "x".repeat(8000) },
    ] })];
    input.extend((0..said).map(|index| {
        let (role, kind) = if index % 2 == 0 { ("user", "input_text") } else { ("assistant", "output_text") };
        let mut part = json!({ "type": kind, "text": format!("message {index} {}", "y".repeat(400)) });
        if breakpoints.contains(&index) {
            part["prompt_cache_breakpoint"] = json!({ "mode": "explicit" });
        }
        json!({ "type": "message", "role": role, "content": [part] })
    }));
    let mut body = json!({ "model": "m", "input": input });
    if !own {
        body["prompt_cache_options"] = json!({ "mode": "explicit" });
    }
    body
}

fn ask_responses(cache: &mut CacheSimulator, body: &Value) -> Usage {
    ask_in(cache, Protocol::OpenaiResponses, body).usage
}

#[test]
fn the_two_generations_of_openai_on_the_same_trace() {
    let mut before = simulator(CachePolicy::openai_automatic());
    let mut after = simulator(CachePolicy::openai_breakpoints());
    for (step, said) in [1, 3, 5].into_iter().enumerate() {
        let body = responses(said, &[], true);
        let (old, new) = (ask_responses(&mut before, &body), ask_responses(&mut after, &body));
        assert_eq!(old.cache_write, 0, "writing is free");
        assert_eq!(old.cache_read % 128, 0);
        assert_eq!(new.input, 0, "all is written up to the newest message");
        assert_eq!(new.cache_read > 0, step > 0);
        // One side loses the step, the other nothing: its breakpoint is exact.
        assert!(new.cache_read >= old.cache_read && new.cache_read - old.cache_read < 128 + 256);
    }
    // Half an hour against five minutes.
    for cache in [&mut before, &mut after] {
        cache.advance(Duration::from_secs(1200));
    }
    let body = responses(7, &[], true);
    assert_eq!(ask_responses(&mut before, &body).cache_read, 0);
    assert!(ask_responses(&mut after, &body).cache_read > 0);
    // The last message is taken back: the longest common beginning against the last breakpoint.
    let back = responses(4, &[], true);
    assert!(ask_responses(&mut before, &back).cache_read > 0);
    assert!(ask_responses(&mut after, &back).cache_read > 0);
    // A message in the middle changes: only the first cache falls back to the unmarked part before it.
    let mut changed = responses(7, &[], true);
    changed["input"][1]["content"][0]["text"] = json!("new");
    assert!(ask_responses(&mut before, &changed).cache_read > 0);
    assert_eq!(ask_responses(&mut after, &changed).cache_read, 0);
}

#[test]
fn breakpoints_are_where_the_request_says() {
    let mut cache = simulator(CachePolicy::openai_breakpoints());
    let none = ask_responses(&mut cache, &responses(3, &[], false));
    assert_eq!((none.cache_write, none.cache_read), (0, 0), "explicit mode without one caches nothing");
    let one = ask_responses(&mut cache, &responses(3, &[0], false));
    assert!(one.cache_write > 2000 && one.input > 0);
    assert_eq!(ask_responses(&mut cache, &responses(3, &[2], false)).cache_read, one.cache_write);
    let refused = |body: &Value| cache.serve(Protocol::OpenaiResponses, "m", body).is_err();
    let mut refused = refused;
    assert!(!refused(&responses(9, &[0, 2, 4, 6], false)));
    assert!(refused(&responses(9, &[0, 2, 4, 6, 8], false)));
    assert!(refused(&responses(9, &[0, 2, 4, 6], true)), "with the server's own there is room for three");
    assert!(refused(&responses(9, &[1], false)), "an answer takes none");
}

#[test]
fn geminis_hits_depend_on_the_seed() {
    let reads = |seed: u64| -> Vec<u64> {
        let mut cache = simulator(CachePolicy::gemini(seed));
        (0..400).map(|_| ask_chat(&mut cache, &chat(&"x".repeat(40_000), &["one"]))).collect()
    };
    assert_eq!(reads(1), reads(1));
    assert_ne!(reads(1), reads(2));
    let hits = reads(1).iter().filter(|read| **read > 9_000).count();
    assert!((290..=350).contains(&hits), "{hits} of 400 at 0.8");
}

#[test]
fn the_ideal_writes_each_token_once() {
    let mut cache = simulator(CachePolicy::ideal(CachePrices::SONNET));
    let mut sent = 0;
    for blocks in [1, 3, 9, 40] {
        let usage = ask(&mut cache, &marked(300, blocks, &[])).usage;
        assert_eq!((usage.input, usage.cache_read), (0, sent));
        sent = usage.total_input();
        cache.advance(Duration::from_secs(1_000_000));
    }
    let back = ask(&mut cache, &marked(300, 20, &[])).usage;
    assert_eq!(back.cache_write, 0, "also what was taken back to");
}

#[test]
fn a_server_without_a_cache_bills_everything() {
    let mut cache = simulator(CachePolicy::none());
    for _ in 0..2 {
        let usage = ask(&mut cache, &marked(2000, 3, &[0, 2])).usage;
        assert!(usage.input > 2000 && usage.cache_read == 0 && usage.cache_write == 0);
    }
}

#[test]
fn cache_points_are_markers() {
    let body = |said: usize, ttl: Option<&str>| {
        let mut point = json!({ "cachePoint": { "type": "default" } });
        if let Some(ttl) = ttl {
            point["cachePoint"]["ttl"] = json!(ttl);
        }
        let mut content: Vec<Value> = (0..said).map(|n| json!({ "text": format!("message {n}") })).collect();
        content.push(point.clone());
        json!({ "model": "m", "system": [{ "text": "x".repeat(8000) }, point],
            "toolConfig": { "tools": [{ "toolSpec": { "name": "grep" } }] },
            "messages": [{ "role": "user", "content": content }] })
    };
    let mut cache = simulator(CachePolicy::bedrock());
    let mut ask = |body: &Value| ask_in(&mut cache, Protocol::Bedrock, body);
    let first = ask(&body(1, None)).usage;
    assert!(first.cache_write > 2000 && first.input == 0, "the point itself is no content: {first:?}");
    let second = ask(&body(2, None)).usage;
    assert_eq!(second.cache_read, first.cache_write);
    assert!(ask(&body(30, Some("1h"))).written_long > 0);
}

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
    let said: Vec<String> = (0..2 * turns - 1)
        .map(|index| format!("message {index} {}", "z".repeat(sizes[index % sizes.len()])))
        .collect();
    let mut messages = request(1500, 2 * turns - 1, &[]);
    for (message, text) in messages["messages"].as_array_mut().unwrap().iter_mut().zip(&said) {
        message["content"][0]["text"] = json!(text);
    }
    rolling(&mut messages);
    let chat = chat(&"x".repeat(6000), &said.iter().map(String::as_str).collect::<Vec<_>>());
    let mut items = responses(2 * turns - 1, &[], true);
    for (item, text) in items["input"].as_array_mut().unwrap().iter_mut().skip(1).zip(&said) {
        item["content"][0]["text"] = json!(text);
    }
    let converse: Vec<Value> = said
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
    let all = CachePolicy::openai_automatic();
    vec![
        ("anthropic", CachePolicy::anthropic()),
        ("bedrock", CachePolicy::bedrock()),
        ("automatic", CachePolicy { routing: Routing::ByKey { per_minute: None }, ..all }),
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
                let mut last = 0;
                for turn in 1..=turns {
                    let (protocol, body) = grown(turn, &sizes)[protocol].clone();
                    let served = ask_in(&mut cache, protocol, &body);
                    prop_assert!(served.usage.cache_read >= last, "{} {:?} turn {}", name, protocol, turn);
                    prop_assert_eq!(served.miss, None, "{} {:?} turn {}", name, protocol, turn);
                    last = served.usage.cache_read;
                }
                let marks = matches!(protocol, 0 | 3);
                let finds = match name {
                    "none" => false,
                    "anthropic" | "bedrock" => marks,
                    _ => true,
                };
                prop_assert_eq!(last > 0, finds && turns > 1, "{} {}", name, protocol);
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
        marks in prop::collection::btree_map(0..24_usize, any::<bool>(), 0..4),
        before in 0..24_usize,
        pause in 0..4000_u64,
    ) {
        // Hours come first.
        let hours = marks.values().filter(|hour| **hour).count();
        let places = marks.keys().copied().filter(|index| *index < blocks).enumerate();
        let marks: Vec<(usize, Value)> =
            places.map(|(nth, index)| (index, if nth < hours { long() } else { short() })).collect();
        let body = request(1500, blocks, &marks);
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
        if marks.is_empty() { prop_assert_eq!(served.usage.cache_write, 0) }
        if !marks.iter().any(|(_, mark)| *mark == long()) { prop_assert_eq!(served.written_long, 0) }
        let prices = CachePrices::SONNET;
        let Usage { input, cache_read, cache_write, .. } = served.usage;
        let short = cache_write - served.written_long;
        let dollars = (input as f64 * 3.0 + cache_read as f64 * 0.3 + short as f64 * 3.75 + served.written_long as f64 * 6.0) / 1e6;
        prop_assert!((prices.cost(&served.usage, served.written_long) - dollars).abs() < 1e-12);
    }
}
