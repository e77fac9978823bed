//! Caches of explicit markers: Anthropic and Bedrock.

use super::*;

#[test]
fn a_marker_reads_what_an_earlier_marker_wrote() {
    let mut cache = simulator(CachePolicy::anthropic());
    let first_usage = ask(&mut cache, &marked(2000, 1, &[0])).usage;
    assert_eq!(first_usage.cache_read, 0);
    assert!(first_usage.cache_write >= 2000 && first_usage.input == 0, "{first_usage:?}");
    let second = ask(&mut cache, &marked(2000, 3, &[0, 2])).usage;
    assert_eq!(second.cache_read, first_usage.cache_write);
    assert!(second.cache_write > 0 && second.input == 0);
    // Entries are written at markers only; nothing between them is found.
    let third = ask(&mut cache, &marked(2000, 2, &[1])).usage;
    assert_eq!(third.cache_read, first_usage.cache_write);
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
    for (end, is_hit) in [(19, true), (20, false)] {
        let mut cache = simulator(CachePolicy::anthropic());
        ask(&mut cache, &marked(2000, 1, &[0]));
        let usage = ask(&mut cache, &marked(2000, end + 1, &[end])).usage;
        assert_eq!(usage.cache_read > 0, is_hit, "marker {end} positions later");
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
    for (policy, count, first_marked, is_hit) in [
        (CachePolicy::anthropic(), 40, false, true),
        (CachePolicy::bedrock(), 9, false, true),
        (CachePolicy::bedrock(), 10, false, false),
        (CachePolicy::bedrock(), 40, true, true),
    ] {
        let mut cache = simulator(policy);
        ask(&mut cache, &marked(2000, 1, &[0]));
        let usage = ask(&mut cache, &batch(count, first_marked)).usage;
        assert_eq!(usage.cache_read > 0, is_hit, "{count} results, {first_marked}");
    }
}

#[test]
fn five_minutes_count_from_the_start_of_the_request() {
    for (after, is_hit) in [(299, true), (301, false)] {
        let mut cache = simulator(CachePolicy::anthropic());
        let body = marked(2000, 1, &[0]);
        let mut served = cache.serve(ANTHROPIC, "m", &body).unwrap();
        // The first token takes four minutes; the entry then has one minute left.
        cache.advance(Duration::from_secs(240));
        cache.stream(&mut served);
        cache.advance(Duration::from_secs(after - 240));
        assert_eq!(ask(&mut cache, &body).usage.cache_read > 0, is_hit, "{after} s after the start");
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
    for (markers, is_hit) in [(&[0, 2][..], true), (&[2], false)] {
        let mut cache = simulator(CachePolicy::anthropic());
        ask(&mut cache, &marked(2000, 1, &[0]));
        ask(&mut cache, &marked(2000, 3, &[0, 2]));
        cache.advance(Duration::from_secs(200));
        ask(&mut cache, &marked(2000, 3, markers));
        cache.advance(Duration::from_secs(200));
        let usage = ask(&mut cache, &marked(2000, 1, &[0])).usage;
        assert_eq!(usage.cache_read > 0, is_hit, "{markers:?}");
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
    let thinking = |is_marked: bool| {
        let mut body = marked(2000, 1, &[0]);
        let mut block = json!({ "type": "thinking", "thinking": "hm", "signature": "s" });
        if is_marked {
            block["cache_control"] = short();
        }
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(json!({ "role": "assistant", "content": [block] }));
        body
    };
    let automatic = |markers: &[usize]| {
        let mut body = marked(2000, 6, markers);
        body["cache_control"] = short();
        body
    };
    for (case, body, is_refused) in [
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
        assert_eq!(served.is_err(), is_refused, "{case}: {served:?}");
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
    let total = ask(&mut simulator(CachePolicy::anthropic()), &base()).usage.cache_write;
    let system = {
        let mut cache = simulator(CachePolicy::anthropic());
        ask(&mut cache, &base());
        let mut changed = base();
        changed["messages"][0]["content"][0]["text"] = json!("another");
        ask(&mut cache, &changed).usage.cache_read
    };
    assert!(system > 2000 && system < total);
    type Change = fn(&mut Value);
    let changes: [(&str, Change, u64); 9] = [
        ("nothing", |_| {}, total),
        ("model", |body| body["model"] = json!("n"), 0),
        ("effort", |body| body["output_config"] = json!({ "effort": "high" }), 0),
        ("tool", |body| body["tools"][1]["description"] = json!("new"), 0),
        ("order of tools", |body| body["tools"].as_array_mut().unwrap().reverse(), 0),
        ("system", |body| body["system"][0]["text"] = json!("y".repeat(8000)), 0),
        ("tool choice", |body| body["tool_choice"] = json!({ "type": "any" }), system),
        ("thinking", |body| body["thinking"] = json!({ "type": "adaptive" }), system),
        ("message", |body| body["messages"][1]["content"][0]["text"] = json!("new"), system),
    ];
    for (case, change, read) in changes {
        let mut cache = simulator(CachePolicy::anthropic());
        ask(&mut cache, &base());
        let mut body = base();
        change(&mut body);
        assert_eq!(ask(&mut cache, &body).usage.cache_read, read, "{case}");
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
    for (case, change, expected) in changes {
        let mut cache = simulator(CachePolicy::anthropic());
        let written = ask(&mut cache, &base()).usage.cache_write;
        let mut body = base();
        change(&mut body, &mut cache);
        let served = ask(&mut cache, &body);
        assert_eq!(served.miss.map(|miss| (miss.reason, miss.message)), expected, "{case}");
        assert_eq!(served.miss.map_or(0, |miss| miss.tokens), written - served.usage.cache_read, "{case}");
    }
    let mut longer = marked(2000, 1, &[0]);
    longer["messages"][0]["content"][0]["text"] = json!("Another conversation.");
    let mut cache = simulator(CachePolicy::anthropic());
    ask(&mut cache, &base());
    assert_eq!(ask(&mut cache, &longer).miss, None, "a conversation that begins misses nothing");
    assert_eq!(PreviousMessageNotFound.to_string(), "previous_message_not_found");
}

#[test]
fn cache_points_are_markers() {
    let body = |count: usize, ttl: Option<&str>| {
        let mut point = json!({ "cachePoint": { "type": "default" } });
        if let Some(ttl) = ttl {
            point["cachePoint"]["ttl"] = json!(ttl);
        }
        let mut content: Vec<Value> = (0..count).map(|n| json!({ "text": format!("message {n}") })).collect();
        content.push(point.clone());
        json!({ "model": "m", "system": [{ "text": "x".repeat(8000) }, point],
            "toolConfig": { "tools": [{ "toolSpec": { "name": "grep" } }] },
            "messages": [{ "role": "user", "content": content }] })
    };
    let mut cache = simulator(CachePolicy::bedrock());
    let mut send = |body: &Value| ask_in(&mut cache, Protocol::Bedrock, body);
    let first = send(&body(1, None)).usage;
    assert!(first.cache_write > 2000 && first.input == 0, "the point itself is no content: {first:?}");
    let second = send(&body(2, None)).usage;
    assert_eq!(second.cache_read, first.cache_write);
    assert!(send(&body(30, Some("1h"))).written_long > 0);
}
