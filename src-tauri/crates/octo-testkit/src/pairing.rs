//! Requests a real provider refuses: unpaired calls, results out of order, empty text.

use crate::{recorded::role, server_format::ServerFormat};
use serde_json::Value;
use std::collections::HashSet;

/// Checks a conversation as strictly as the strictest known server of the protocol.
pub(crate) fn check(format: &ServerFormat, messages: &[Value]) -> Result<(), String> {
    let first = messages.first().ok_or("the conversation is empty")?;
    if role(first) != "user" {
        return Err(format!("the conversation begins with a message of {:?}", role(first)));
    }
    if messages.last().is_some_and(|last| role(last) == "assistant") {
        return Err("the conversation ends with a message of the model".to_owned());
    }
    (format.check_messages)(messages)
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

fn no_empty_text(index: usize, blocks: &[Value]) -> Result<(), String> {
    for block in blocks {
        if text(block, "type") == "text" && text(block, "text").trim().is_empty() {
            return Err(format!("messages.{index}: text content blocks must be non-empty"));
        }
        if let Some(inner) = block.get("content").and_then(Value::as_array) {
            no_empty_text(index, inner)?;
        }
    }
    Ok(())
}

pub(crate) fn anthropic(messages: &[Value]) -> Result<(), String> {
    let mut known = HashSet::new();
    let mut unanswered: Vec<&str> = Vec::new();
    let mut index = 0;
    while let Some(message) = messages.get(index) {
        // Consecutive messages of one side count as one.
        let role_of_run = role(message);
        let run: Vec<&Value> =
            messages[index..].iter().take_while(|message| role(message) == role_of_run).collect();
        for (offset, message) in run.iter().enumerate() {
            let content = blocks(message);
            if content.is_empty() {
                return Err(format!("messages.{}: content must hold at least one block", index + offset));
            }
            no_empty_text(index + offset, content)?;
        }
        let run_blocks: Vec<&Value> = run.iter().flat_map(|message| blocks(message)).collect();
        match role_of_run {
            "assistant" => {
                if !ids(&run_blocks, "tool_result", "tool_use_id").is_empty() {
                    return Err(format!("messages.{index}: a result in a message of the model"));
                }
                unanswered = ids(&run_blocks, "tool_use", "id");
                for id in &unanswered {
                    if id.is_empty() || !known.insert(*id) {
                        return Err(format!("messages.{index}: tool_use id {id:?} is empty or used twice"));
                    }
                }
                if run_blocks
                    .iter()
                    .any(|block| text(block, "type") == "tool_use" && !block["input"].is_object())
                {
                    return Err(format!("messages.{index}: tool_use.input must be an object"));
                }
            }
            "user" => {
                let results = ids(&run_blocks, "tool_result", "tool_use_id");
                if results != unanswered {
                    return Err(format!(
                        "messages.{index}: calls {unanswered:?} were answered by results {results:?}"
                    ));
                }
                let first_results =
                    run_blocks.iter().take_while(|block| text(block, "type") == "tool_result").count();
                if first_results != results.len() {
                    return Err(format!("messages.{index}: results must come before other content"));
                }
                unanswered.clear();
            }
            other => return Err(format!("messages.{index}: unknown role {other:?}")),
        }
        index += run.len();
    }
    Ok(())
}

pub(crate) fn openai_chat(messages: &[Value]) -> Result<(), String> {
    let mut unanswered: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        no_empty_text(index, blocks(message))?;
        let is_empty = match message.get("content") {
            Some(Value::String(text)) => text.trim().is_empty(),
            Some(Value::Array(parts)) => parts.is_empty(),
            _ => true,
        };
        let calls = message.get("tool_calls").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if role(message) == "tool" {
            let id = text(message, "tool_call_id");
            if unanswered.first() != Some(&id) {
                return Err(format!(
                    "messages.{index}: a result for {id:?} where {unanswered:?} are owed, in this order"
                ));
            }
            unanswered.remove(0);
        } else if !unanswered.is_empty() {
            return Err(format!("messages.{index}: tool_calls {unanswered:?} have no response messages"));
        }
        if is_empty && calls.is_empty() {
            return Err(format!("messages.{index}: empty content"));
        }
        match role(message) {
            "assistant" => {
                for call in calls {
                    let arguments =
                        call.pointer("/function/arguments").and_then(Value::as_str).unwrap_or_default();
                    if !serde_json::from_str::<Value>(arguments).is_ok_and(|arguments| arguments.is_object())
                    {
                        return Err(format!("messages.{index}: arguments are no JSON object: {arguments:?}"));
                    }
                    unanswered.push(text(call, "id"));
                }
                let distinct: HashSet<&&str> = unanswered.iter().collect();
                if distinct.len() != unanswered.len() || unanswered.contains(&"") {
                    return Err(format!("messages.{index}: call ids {unanswered:?} are empty or repeat"));
                }
            }
            "user" | "tool" => {}
            other => return Err(format!("messages.{index}: unknown role {other:?}")),
        }
    }
    if unanswered.is_empty() {
        Ok(())
    } else {
        Err(format!("tool_calls {unanswered:?} have no response messages"))
    }
}

/// Items: results directly after their calls and in the same order; reasoning is always followed by its item.
pub(crate) fn openai_responses(items: &[Value]) -> Result<(), String> {
    let mut ids = HashSet::new();
    let mut unanswered: Vec<&str> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let kind = text(item, "type");
        let parts = item.get("content").or_else(|| item.get("output")).and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            let is_text = text(part, "type").ends_with("_text");
            if is_text && text(part, "text").trim().is_empty() {
                return Err(format!("input.{index}: empty text"));
            }
        }
        if kind == "function_call_output" {
            let id = text(item, "call_id");
            if unanswered.first() != Some(&id) {
                return Err(format!(
                    "input.{index}: No tool call found for function call output with call_id {id:?}: {unanswered:?} are owed, in this order"
                ));
            }
            unanswered.remove(0);
            continue;
        }
        if !unanswered.is_empty() && kind != "function_call" {
            return Err(format!("input.{index}: No tool output found for function calls {unanswered:?}"));
        }
        match kind {
            "message" if parts.is_none_or(Vec::is_empty) => {
                return Err(format!("input.{index}: empty content"));
            }
            "message" if matches!(role(item), "user" | "assistant") => {}
            "reasoning" => {
                let next = items.get(index + 1);
                if next.is_none_or(|next| role(next) != "assistant" || text(next, "type") == "reasoning") {
                    return Err(format!(
                        "input.{index}: Item of type 'reasoning' was provided without its required following item"
                    ));
                }
                if text(item, "encrypted_content").is_empty() {
                    return Err(format!("input.{index}: Item {:?} not found", text(item, "id")));
                }
            }
            "function_call" => {
                let id = text(item, "call_id");
                if id.is_empty() || !ids.insert(id) {
                    return Err(format!("input.{index}: call_id {id:?} is empty or used twice"));
                }
                let arguments = text(item, "arguments");
                if !serde_json::from_str::<Value>(arguments).is_ok_and(|arguments| arguments.is_object()) {
                    return Err(format!("input.{index}: arguments are no JSON object: {arguments:?}"));
                }
                unanswered.push(id);
            }
            other => return Err(format!("input.{index}: unknown item {other:?} of {:?}", role(item))),
        }
    }
    if unanswered.is_empty() {
        Ok(())
    } else {
        Err(format!("No tool output found for function calls {unanswered:?}"))
    }
}

/// The same rules as Anthropic's in Bedrock's format. In addition, sides must alternate and a cache point needs
/// something before it.
pub(crate) fn bedrock(messages: &[Value]) -> Result<(), String> {
    if let Some(index) = messages.windows(2).position(|pair| role(&pair[0]) == role(&pair[1])) {
        return Err(format!("messages.{}: roles must alternate", index + 1));
    }
    let mut points = 0;
    let mut translated = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let mut content = Vec::new();
        for block in blocks(message) {
            if block.get("cachePoint").is_some() {
                points += 1;
                if content.is_empty() {
                    return Err(format!("messages.{index}: a cache point with nothing before it"));
                }
                continue;
            }
            content.push(translate(block).ok_or_else(|| format!("messages.{index}: unknown block {block}"))?);
        }
        translated.push(serde_json::json!({ "role": role(message), "content": content }));
    }
    if points > 4 {
        return Err(format!("at most 4 cache points may be given, found {points}"));
    }
    anthropic(&translated)
}

fn translate(block: &Value) -> Option<Value> {
    use serde_json::json;
    let (kind, inner) = block.as_object()?.iter().next()?;
    Some(match kind.as_str() {
        "text" => json!({ "type": "text", "text": inner }),
        "image" => json!({ "type": "image" }),
        "reasoningContent" => json!({ "type": "thinking" }),
        "toolUse" => json!({ "type": "tool_use", "id": inner["toolUseId"], "input": inner["input"] }),
        "toolResult" => {
            let content: Option<Vec<Value>> = blocks(inner).iter().map(translate).collect();
            json!({ "type": "tool_result", "tool_use_id": inner["toolUseId"], "content": content? })
        }
        _ => return None,
    })
}
