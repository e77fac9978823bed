//! Replies as Anthropic Messages streams.

use crate::{
    CachePolicy, ServedRequest,
    cache::segments,
    pairing,
    recorded::{self, text_of},
    reply::{ReplyEnd, ReplyFinish, ReplyFrame, ReplyPart, output_tokens, pieces},
    server_format::{AnswerCount, ServerFormat, at_path, must_stream},
};
use serde_json::{Value, json};

pub(crate) static FORMAT: ServerFormat = ServerFormat {
    model_in_path: |path| at_path(path, "/v1/messages"),
    key_header: ("x-api-key", ""),
    model: recorded::model_in_body,
    system: |request| request.body.get("system").map(text_of).unwrap_or_default(),
    frozen_system: |request| request.body["system"].clone(),
    messages: "messages",
    tools: "/tools",
    answers: AnswerCount::Each,
    check: must_stream,
    check_messages: pairing::anthropic,
    segments: segments::anthropic,
    policy: CachePolicy::anthropic,
    content_type: "text/event-stream; charset=utf-8",
    error,
    error_header: None,
    render: |reply| render(reply.number, reply.model, reply.parts, reply.end, reply.chunks, reply.served),
};

fn frame(data: &Value, is_piece: bool) -> ReplyFrame {
    let name = data["type"].as_str().unwrap_or_default();
    ReplyFrame { bytes: format!("event: {name}\ndata: {data}\n\n").into_bytes(), is_piece }
}

/// Renders a message's stream. `number` makes its ids unique.
fn render(
    number: usize,
    model: &str,
    parts: &[ReplyPart],
    end: &ReplyEnd,
    chunks: usize,
    served: &ServedRequest,
) -> Vec<ReplyFrame> {
    let input = served.usage;
    let usage = json!({
        "input_tokens": input.input,
        "cache_creation_input_tokens": input.cache_write,
        "cache_read_input_tokens": input.cache_read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": input.cache_write - served.written_long,
            "ephemeral_1h_input_tokens": served.written_long,
        },
        "output_tokens": 1,
    });
    let mut frames = vec![
        frame(
            &json!({ "type": "message_start", "message": {
                "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": model,
                "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage,
            } }),
            false,
        ),
        frame(&json!({ "type": "ping" }), false),
    ];
    for (index, part) in parts.iter().enumerate() {
        let start = match part {
            ReplyPart::Text(_) => json!({ "type": "text", "text": "" }),
            ReplyPart::Reasoning { .. } => json!({ "type": "thinking", "thinking": "", "signature": "" }),
            ReplyPart::Call { name, .. } => {
                json!({ "type": "tool_use", "id": format!("toolu_{number}_{index}"), "name": name, "input": {} })
            }
        };
        frames.push(frame(
            &json!({ "type": "content_block_start", "index": index, "content_block": start }),
            false,
        ));
        let delta = |delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
        match part {
            ReplyPart::Text(text) => {
                frames.extend(pieces(text, chunks).into_iter().map(|text_chunk| {
                    frame(&delta(json!({ "type": "text_delta", "text": text_chunk })), true)
                }))
            }
            ReplyPart::Reasoning { text, signature } => {
                frames.extend(pieces(text, chunks).into_iter().map(|text_chunk| {
                    frame(&delta(json!({ "type": "thinking_delta", "thinking": text_chunk })), true)
                }));
                frames
                    .push(frame(&delta(json!({ "type": "signature_delta", "signature": signature })), false));
            }
            ReplyPart::Call { arguments, .. } => {
                frames.extend(pieces(arguments, chunks).into_iter().map(|text_chunk| {
                    frame(&delta(json!({ "type": "input_json_delta", "partial_json": text_chunk })), true)
                }))
            }
        }
        frames.push(frame(&json!({ "type": "content_block_stop", "index": index }), false));
    }
    match end {
        ReplyEnd::Finish(finish) => {
            let calls = parts.iter().any(|part| matches!(part, ReplyPart::Call { .. }));
            let reason = match finish {
                ReplyFinish::Stop if calls => "tool_use",
                ReplyFinish::Stop => "end_turn",
                ReplyFinish::Length => "max_tokens",
                ReplyFinish::Refusal => "refusal",
            };
            frames.push(frame(
                &json!({
                    "type": "message_delta",
                    "delta": { "stop_reason": reason, "stop_sequence": null },
                    "usage": { "output_tokens": output_tokens(parts) },
                }),
                false,
            ));
            frames.push(frame(&json!({ "type": "message_stop" }), false));
        }
        ReplyEnd::Error { name, message } => frames.push(frame(&error(name, message), false)),
    }
    frames
}

/// Returns an error, used both as a body and as an event.
fn error(name: &str, message: &str) -> Value {
    json!({ "type": "error", "error": { "type": name, "message": message }, "request_id": "req_test" })
}
