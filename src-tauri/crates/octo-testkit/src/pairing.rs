//! What a real provider refuses: unpaired calls, results out of order, empty text.

use crate::recorded::role;
use octo_protocol::Protocol;
use serde_json::Value;
use std::collections::HashSet;

/// Checks a conversation as strictly as the strictest known server of the protocol.
pub(crate) fn check(protocol: Protocol, messages: &[Value]) -> Result<(), String> {
    let first = messages.first().ok_or("the conversation is empty")?;
    if role(first) != "user" {
        return Err(format!("the conversation begins with a message of {:?}", role(first)));
    }
    if messages.last().is_some_and(|last| role(last) == "assistant") {
        return Err("the conversation ends with a message of the model".to_owned());
    }
    match protocol {
        Protocol::Anthropic => anthropic(messages),
        Protocol::OpenaiChat => openai_chat(messages),
    }
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn blocks(message: &Value) -> &[Value] {
    message.get("content").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn ids<'a>(blocks: &[&'a Value], kind: &str, field: &str) -> Vec<&'a str> {
    blocks.iter().filter(|block| text(block, "type") == kind).map(|block| text(block, field)).collect()
}

fn no_empty_text(place: usize, blocks: &[Value]) -> Result<(), String> {
    for block in blocks {
        if text(block, "type") == "text" && text(block, "text").trim().is_empty() {
            return Err(format!("messages.{place}: text content blocks must be non-empty"));
        }
        if let Some(inner) = block.get("content").and_then(Value::as_array) {
            no_empty_text(place, inner)?;
        }
    }
    Ok(())
}

fn anthropic(messages: &[Value]) -> Result<(), String> {
    let mut seen = HashSet::new();
    let mut owed: Vec<&str> = Vec::new();
    let mut place = 0;
    while let Some(message) = messages.get(place) {
        // Messages of one side in a row count as one.
        let side = role(message);
        let run: Vec<&Value> = messages[place..].iter().take_while(|message| role(message) == side).collect();
        for (offset, message) in run.iter().enumerate() {
            let content = blocks(message);
            if content.is_empty() {
                return Err(format!("messages.{}: content must hold at least one block", place + offset));
            }
            no_empty_text(place + offset, content)?;
        }
        let all: Vec<&Value> = run.iter().flat_map(|message| blocks(message)).collect();
        match side {
            "assistant" => {
                if !ids(&all, "tool_result", "tool_use_id").is_empty() {
                    return Err(format!("messages.{place}: a result in a message of the model"));
                }
                owed = ids(&all, "tool_use", "id");
                for id in &owed {
                    if id.is_empty() || !seen.insert(*id) {
                        return Err(format!("messages.{place}: tool_use id {id:?} is empty or used twice"));
                    }
                }
                if all.iter().any(|block| text(block, "type") == "tool_use" && !block["input"].is_object()) {
                    return Err(format!("messages.{place}: tool_use.input must be an object"));
                }
            }
            "user" => {
                let results = ids(&all, "tool_result", "tool_use_id");
                if results != owed {
                    return Err(format!(
                        "messages.{place}: calls {owed:?} were answered by results {results:?}"
                    ));
                }
                let first_results =
                    all.iter().take_while(|block| text(block, "type") == "tool_result").count();
                if first_results != results.len() {
                    return Err(format!("messages.{place}: results must come before other content"));
                }
                owed.clear();
            }
            other => return Err(format!("messages.{place}: unknown role {other:?}")),
        }
        place += run.len();
    }
    Ok(())
}

fn openai_chat(messages: &[Value]) -> Result<(), String> {
    let mut owed: Vec<&str> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        no_empty_text(place, blocks(message))?;
        let is_empty = match message.get("content") {
            Some(Value::String(text)) => text.trim().is_empty(),
            Some(Value::Array(parts)) => parts.is_empty(),
            _ => true,
        };
        let calls = message.get("tool_calls").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if role(message) == "tool" {
            let id = text(message, "tool_call_id");
            if owed.first() != Some(&id) {
                return Err(format!(
                    "messages.{place}: a result for {id:?} where {owed:?} are owed, in this order"
                ));
            }
            owed.remove(0);
        } else if !owed.is_empty() {
            return Err(format!("messages.{place}: tool_calls {owed:?} have no response messages"));
        }
        if is_empty && calls.is_empty() {
            return Err(format!("messages.{place}: empty content"));
        }
        match role(message) {
            "assistant" => {
                for call in calls {
                    let arguments =
                        call.pointer("/function/arguments").and_then(Value::as_str).unwrap_or_default();
                    if !serde_json::from_str::<Value>(arguments).is_ok_and(|arguments| arguments.is_object())
                    {
                        return Err(format!("messages.{place}: arguments are no JSON object: {arguments:?}"));
                    }
                    owed.push(text(call, "id"));
                }
                let distinct: HashSet<&&str> = owed.iter().collect();
                if distinct.len() != owed.len() || owed.contains(&"") {
                    return Err(format!("messages.{place}: call ids {owed:?} are empty or repeat"));
                }
            }
            "user" | "tool" => {}
            other => return Err(format!("messages.{place}: unknown role {other:?}")),
        }
    }
    if owed.is_empty() { Ok(()) } else { Err(format!("tool_calls {owed:?} have no response messages")) }
}
