//! Replies as Bedrock Converse streams, in binary frames.

use crate::{
    CachePolicy, RecordedRequest, ServedRequest,
    cache::segments,
    pairing,
    recorded::text_of,
    reply::{ReplyEnd, ReplyFinish, ReplyFrame, ReplyPart, output_tokens, pieces},
    server_format::{AnswerCount, ServerFormat},
};
use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use serde_json::{Value, json};

pub(crate) static FORMAT: ServerFormat = ServerFormat {
    model_in_path: model_of,
    key_header: ("authorization", "Bearer "),
    model: |request| &request.model_in_path,
    system: |request| request.body.get("system").map(text_of).unwrap_or_default(),
    frozen_system: |request| request.body["system"].clone(),
    messages: "messages",
    tools: "/toolConfig/tools",
    answers: AnswerCount::Each,
    check,
    check_messages: pairing::bedrock,
    segments: segments::converse,
    policy: CachePolicy::bedrock,
    content_type: "application/vnd.amazon.eventstream",
    error: |_, message| error(message),
    error_header: Some("x-amzn-errortype"),
    render: |reply| render(reply.number, reply.parts, reply.end, reply.chunks, reply.served),
};

/// Refuses calls without definitions of the tools.
fn check(request: &RecordedRequest) -> Result<(), String> {
    if request.tool_list().is_none() && request.body["messages"].to_string().contains("\"toolUse\"") {
        return Err("toolConfig must be defined when toolUse blocks are used".to_owned());
    }
    Ok(())
}

/// Encodes one binary frame.
pub(crate) fn frame(kind: &str, name: &str, payload: &Value) -> Vec<u8> {
    let header =
        |name: &'static str, value: &str| Header::new(name, HeaderValue::String(value.to_owned().into()));
    let type_header = if kind == "event" { ":event-type" } else { ":exception-type" };
    let message = Message::new(payload.to_string().into_bytes())
        .add_header(header(type_header, name))
        .add_header(header(":content-type", "application/json"))
        .add_header(header(":message-type", kind));
    let mut bytes = Vec::new();
    write_message_to(&message, &mut bytes).expect("a frame of a sane size");
    bytes
}

fn event(name: &str, payload: &Value, is_piece: bool) -> ReplyFrame {
    ReplyFrame { bytes: frame("event", name, payload), is_piece }
}

/// Renders a message's stream. `number` makes its ids unique.
fn render(
    number: usize,
    parts: &[ReplyPart],
    end: &ReplyEnd,
    chunks: usize,
    served: &ServedRequest,
) -> Vec<ReplyFrame> {
    let input = served.usage;
    let mut frames = vec![event("messageStart", &json!({ "role": "assistant" }), false)];
    for (index, part) in parts.iter().enumerate() {
        let delta = |delta: Value, is_piece: bool| {
            let payload = json!({ "contentBlockIndex": index, "delta": delta });
            event("contentBlockDelta", &payload, is_piece)
        };
        match part {
            ReplyPart::Text(text) => {
                frames.extend(
                    pieces(text, chunks)
                        .into_iter()
                        .map(|text_chunk| delta(json!({ "text": text_chunk }), true)),
                );
            }
            ReplyPart::Reasoning { text, signature } => {
                let reasoning =
                    |content: Value, is_piece| delta(json!({ "reasoningContent": content }), is_piece);
                frames.extend(
                    pieces(text, chunks)
                        .into_iter()
                        .map(|text_chunk| reasoning(json!({ "text": text_chunk }), true)),
                );
                frames.push(reasoning(json!({ "signature": signature }), false));
            }
            ReplyPart::Call { name, arguments } => {
                let id = format!("tooluse_{number}_{index}");
                let start = json!({ "toolUse": { "toolUseId": id, "name": name } });
                let payload = json!({ "contentBlockIndex": index, "start": start });
                frames.push(event("contentBlockStart", &payload, false));
                frames.extend(
                    pieces(arguments, chunks)
                        .into_iter()
                        .map(|text_chunk| delta(json!({ "toolUse": { "input": text_chunk } }), true)),
                );
            }
        }
        frames.push(event("contentBlockStop", &json!({ "contentBlockIndex": index }), false));
    }
    match end {
        ReplyEnd::Finish(finish) => {
            let calls = parts.iter().any(|part| matches!(part, ReplyPart::Call { .. }));
            let reason = match finish {
                ReplyFinish::Stop if calls => "tool_use",
                ReplyFinish::Stop => "end_turn",
                ReplyFinish::Length => "max_tokens",
                ReplyFinish::Refusal => "guardrail_intervened",
            };
            frames.push(event("messageStop", &json!({ "stopReason": reason }), false));
            let output = output_tokens(parts);
            let details: Vec<Value> =
                [("1h", served.written_long), ("5m", input.cache_write - served.written_long)]
                    .into_iter()
                    .filter(|(_, tokens)| *tokens > 0)
                    .map(|(ttl, tokens)| json!({ "inputTokens": tokens, "ttl": ttl }))
                    .collect();
            let usage = json!({
                "inputTokens": input.input, "outputTokens": output,
                "totalTokens": input.total_input() + output,
                "cacheReadInputTokens": input.cache_read, "cacheWriteInputTokens": input.cache_write,
                "cacheDetails": details,
            });
            let metadata = json!({ "usage": usage, "metrics": { "latencyMs": 1 } });
            frames.push(event("metadata", &metadata, false));
        }
        ReplyEnd::Error { name, message } => {
            let bytes = frame("exception", name, &json!({ "message": message }));
            frames.push(ReplyFrame { bytes, is_piece: false });
        }
    }
    frames
}

/// Returns an error as a body; its name travels in a header.
fn error(message: &str) -> Value {
    json!({ "message": message })
}

/// Returns the model id in a request's path, or `None` for other paths.
fn model_of(path: &str) -> Option<String> {
    let path = path.strip_prefix("/v1").unwrap_or(path);
    let segment = path.strip_prefix("/model/")?.strip_suffix("/converse-stream")?;
    if segment.is_empty() || segment.contains('/') {
        return None;
    }
    let mut bytes = Vec::new();
    let mut remaining = segment.as_bytes();
    while let Some((first, tail)) = remaining.split_first() {
        let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.filter(|_| *first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                remaining = &tail[2..];
            }
            None => {
                bytes.push(*first);
                remaining = tail;
            }
        }
    }
    String::from_utf8(bytes).ok()
}
