//! The published rules, one by one.

mod automatic;
mod markers;
mod properties;

use super::*;
use octo_protocol::{Protocol, Usage};
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
fn request(system: usize, blocks: usize, markers: &[(usize, Value)]) -> Value {
    let messages: Vec<Value> = (0..blocks)
        .map(|index| {
            let mut block = json!({ "type": "text", "text": format!("message {index}") });
            if let Some((_, marker)) = markers.iter().find(|(position, _)| *position == index) {
                block["cache_control"] = marker.clone();
            }
            json!({ "role": if index % 2 == 0 { "user" } else { "assistant" }, "content": [block] })
        })
        .collect();
    let tools = json!([{ "name": "grep", "input_schema": {} }, { "name": "write", "input_schema": {} }]);
    let system = json!([{ "type": "text", "text": "x".repeat(system * 4) }]);
    json!({ "model": "m", "tools": tools, "system": system, "messages": messages })
}

fn marked(system: usize, blocks: usize, markers: &[usize]) -> Value {
    request(system, blocks, &markers.iter().map(|index| (*index, short())).collect::<Vec<_>>())
}

fn chat(system: &str, texts: &[&str]) -> Value {
    let mut messages = vec![json!({ "role": "system", "content": system })];
    messages.extend(texts.iter().enumerate().map(
        |(index, text)| json!({ "role": if index % 2 == 0 { "user" } else { "assistant" }, "content": text }),
    ));
    json!({ "model": "m", "messages": messages })
}

fn responses(count: usize, breakpoints: &[usize], is_own: bool) -> Value {
    let mut input = vec![json!({ "type": "message", "role": "developer", "content": [
        { "type": "input_text", "text": "x".repeat(8000) },
    ] })];
    input.extend((0..count).map(|index| {
        let (role, kind) = if index % 2 == 0 { ("user", "input_text") } else { ("assistant", "output_text") };
        let mut part = json!({ "type": kind, "text": format!("message {index} {}", "y".repeat(400)) });
        if breakpoints.contains(&index) {
            part["prompt_cache_breakpoint"] = json!({ "mode": "explicit" });
        }
        json!({ "type": "message", "role": role, "content": [part] })
    }));
    let mut body = json!({ "model": "m", "input": input });
    if !is_own {
        body["prompt_cache_options"] = json!({ "mode": "explicit" });
    }
    body
}
