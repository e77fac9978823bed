//! Replies as OpenAI Chat Completions streams.

use crate::reply::{ReplyEnd, ReplyFinish, ReplyFrame, ReplyPart, output_tokens, pieces};
use octo_protocol::Usage;
use serde_json::{Value, json};

fn frame(data: &Value, is_piece: bool) -> ReplyFrame {
    ReplyFrame { bytes: format!("data: {data}\n\n").into_bytes(), is_piece }
}

/// Renders a message's stream. `number` makes its ids unique.
pub(crate) fn render(
    number: usize,
    model: &str,
    parts: &[ReplyPart],
    end: &ReplyEnd,
    chunks: usize,
    input: Usage,
) -> Vec<ReplyFrame> {
    let chunk = |delta: Value, finish: Option<&str>| {
        json!({
            "id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "created": 1_780_000_000,
            "model": model, "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
        })
    };
    let mut frames = vec![frame(&chunk(json!({ "role": "assistant", "content": "" }), None), false)];
    let mut calls = 0_usize;
    for part in parts {
        match part {
            ReplyPart::Text(text) => frames.extend(
                pieces(text, chunks)
                    .into_iter()
                    .map(|piece| frame(&chunk(json!({ "content": piece }), None), true)),
            ),
            ReplyPart::Reasoning { text, .. } => frames.extend(
                pieces(text, chunks)
                    .into_iter()
                    .map(|piece| frame(&chunk(json!({ "reasoning_content": piece }), None), true)),
            ),
            ReplyPart::Call { name, arguments } => {
                let begin = json!({ "tool_calls": [{
                    "index": calls, "id": format!("call_{number}_{calls}"), "type": "function",
                    "function": { "name": name, "arguments": "" },
                }] });
                frames.push(frame(&chunk(begin, None), false));
                frames.extend(pieces(arguments, chunks).into_iter().map(|piece| {
                    let grow =
                        json!({ "tool_calls": [{ "index": calls, "function": { "arguments": piece } }] });
                    frame(&chunk(grow, None), true)
                }));
                calls += 1;
            }
        }
    }
    match end {
        ReplyEnd::Finish(finish) => {
            let reason = match finish {
                ReplyFinish::Stop if calls > 0 => "tool_calls",
                ReplyFinish::Stop => "stop",
                ReplyFinish::Length => "length",
                ReplyFinish::Refusal => "content_filter",
            };
            frames.push(frame(&chunk(json!({}), Some(reason)), false));
            let output = output_tokens(parts);
            frames.push(frame(
                &json!({
                    "id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "created": 1_780_000_000,
                    "model": model, "choices": [],
                    "usage": {
                        "prompt_tokens": input.total_input(), "completion_tokens": output,
                        "total_tokens": input.total_input() + output,
                        "prompt_tokens_details": { "cached_tokens": input.cache_read },
                    },
                }),
                false,
            ));
            frames.push(ReplyFrame { bytes: b"data: [DONE]\n\n".to_vec(), is_piece: false });
        }
        ReplyEnd::Error { name, message } => frames.push(frame(&error(name, message), false)),
    }
    frames
}

/// Returns an error, used both as a body and in a stream.
pub(crate) fn error(name: &str, message: &str) -> Value {
    json!({ "error": { "message": message, "type": name, "param": null, "code": null } })
}
