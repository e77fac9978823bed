//! Replies as OpenAI Chat Completions streams.

use crate::{
    CachePolicy, RecordedRequest,
    cache::segments,
    pairing, recorded,
    reply::{ReplyEnd, ReplyFinish, ReplyFrame, ReplyPart, output_tokens, pieces},
    server_format::{AnswerCount, ServerFormat, at_path, must_stream},
};
use octo_protocol::Usage;
use serde_json::{Value, json};

pub(crate) static FORMAT: ServerFormat = ServerFormat {
    model_in_path: |path| at_path(path, "/v1/chat/completions"),
    key_header: ("authorization", "Bearer "),
    model: recorded::model_in_body,
    system: RecordedRequest::system_messages,
    frozen_system: |request| Value::String(request.system()),
    messages: "messages",
    tools: "/tools",
    answers: AnswerCount::Each,
    check: must_stream,
    check_messages: pairing::openai_chat,
    segments: segments::chat,
    policy: CachePolicy::openai,
    content_type: "text/event-stream; charset=utf-8",
    error,
    error_header: None,
    render: |reply| {
        render(reply.number, reply.model, reply.parts, reply.end, reply.chunks, reply.served.usage)
    },
};

fn frame(data: &Value, is_piece: bool) -> ReplyFrame {
    ReplyFrame { bytes: format!("data: {data}\n\n").into_bytes(), is_piece }
}

/// Renders a message's stream. `number` makes its ids unique.
fn render(
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
                    .map(|text_chunk| frame(&chunk(json!({ "content": text_chunk }), None), true)),
            ),
            ReplyPart::Reasoning { text, .. } => frames.extend(
                pieces(text, chunks)
                    .into_iter()
                    .map(|text_chunk| frame(&chunk(json!({ "reasoning_content": text_chunk }), None), true)),
            ),
            ReplyPart::Call { name, arguments } => {
                let begin = json!({ "tool_calls": [{
                    "index": calls, "id": format!("call_{number}_{calls}"), "type": "function",
                    "function": { "name": name, "arguments": "" },
                }] });
                frames.push(frame(&chunk(begin, None), false));
                frames.extend(pieces(arguments, chunks).into_iter().map(|text_chunk| {
                    let grow =
                        json!({ "tool_calls": [{ "index": calls, "function": { "arguments": text_chunk } }] });
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
