//! Replies as OpenAI Responses streams.

use crate::{
    CachePolicy,
    cache::segments,
    pairing,
    recorded::{self, text_of},
    reply::{ReplyEnd, ReplyFinish, ReplyFrame, ReplyPart, output_tokens, pieces},
    server_format::{AnswerCount, ServerFormat, at_path, must_stream},
};
use octo_protocol::Usage;
use serde_json::{Value, json};

pub(crate) static FORMAT: ServerFormat = ServerFormat {
    model_in_path: |path| at_path(path, "/v1/responses"),
    key_header: ("authorization", "Bearer "),
    model: recorded::model_in_body,
    system: |request| match request.body.get("instructions") {
        Some(instructions) => text_of(instructions),
        None => request.system_messages(),
    },
    frozen_system: |request| Value::String(request.system()),
    messages: "input",
    tools: "/tools",
    answers: AnswerCount::Runs,
    check: must_stream,
    check_messages: pairing::openai_responses,
    segments: segments::responses,
    policy: CachePolicy::openai,
    content_type: "text/event-stream; charset=utf-8",
    error,
    error_header: None,
    render: |reply| {
        render(reply.number, reply.model, reply.parts, reply.end, reply.chunks, reply.served.usage)
    },
};

/// Renders a message's stream. `number` makes its ids unique.
fn render(
    number: usize,
    model: &str,
    parts: &[ReplyPart],
    end: &ReplyEnd,
    chunks: usize,
    input: Usage,
) -> Vec<ReplyFrame> {
    let mut stream = NumberedFrames { frames: Vec::new() };
    let response = |status: &str, output: &[Value]| {
        json!({
            "id": format!("resp_{number}"), "object": "response", "created_at": 1_780_000_000, "status": status,
            "error": null, "incomplete_details": null, "model": model, "output": output, "usage": null,
        })
    };
    stream.say(json!({ "type": "response.created", "response": response("in_progress", &[]) }), false);
    stream.say(json!({ "type": "response.in_progress", "response": response("in_progress", &[]) }), false);
    let is_refusal = matches!(end, ReplyEnd::Finish(ReplyFinish::Refusal));
    let output: Vec<Value> = parts
        .iter()
        .enumerate()
        .map(|(index, part)| stream.item(number, index, part, is_refusal, chunks))
        .collect();
    let usage = json!({
        "input_tokens": input.total_input(),
        "input_tokens_details": { "cached_tokens": input.cache_read, "cache_write_tokens": input.cache_write },
        "output_tokens": output_tokens(parts),
        "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": input.total_input() + output_tokens(parts),
    });
    match end {
        ReplyEnd::Finish(ReplyFinish::Length) => {
            let mut response = response("incomplete", &output);
            response["incomplete_details"] = json!({ "reason": "max_output_tokens" });
            response["usage"] = usage;
            stream.say(json!({ "type": "response.incomplete", "response": response }), false);
        }
        ReplyEnd::Finish(ReplyFinish::Stop | ReplyFinish::Refusal) => {
            let mut response = response("completed", &output);
            response["usage"] = usage;
            stream.say(json!({ "type": "response.completed", "response": response }), false);
        }
        ReplyEnd::Error { name, message } => {
            stream.say(json!({ "type": "error", "code": name, "message": message, "param": null }), false);
        }
    }
    stream.frames
}

/// Frames, numbered in the order they are sent.
struct NumberedFrames {
    frames: Vec<ReplyFrame>,
}

impl NumberedFrames {
    fn say(&mut self, mut data: Value, is_piece: bool) {
        data["sequence_number"] = self.frames.len().into();
        let name = data["type"].as_str().unwrap_or_default();
        self.frames
            .push(ReplyFrame { bytes: format!("event: {name}\ndata: {data}\n\n").into_bytes(), is_piece });
    }

    /// Streams an item and returns it complete.
    fn item(
        &mut self,
        number: usize,
        index: usize,
        part: &ReplyPart,
        is_refusal: bool,
        chunks: usize,
    ) -> Value {
        let (id, delta, started, complete, text) = match part {
            ReplyPart::Text(text) => {
                let id = format!("msg_{number}_{index}");
                let message = |status: &str, content: Value| json!({ "id": id, "type": "message", "status": status, "role": "assistant", "content": content });
                let (kind, field, delta) = if is_refusal {
                    ("refusal", "refusal", "response.refusal.delta")
                } else {
                    ("output_text", "text", "response.output_text.delta")
                };
                let content = json!([{ "type": kind, field: text }]);
                let (started, complete) = (message("in_progress", json!([])), message("completed", content));
                (id, delta, started, complete, text)
            }
            ReplyPart::Reasoning { text, signature } => {
                let id = format!("rs_{number}_{index}");
                let started = json!({ "id": id, "type": "reasoning", "summary": [] });
                let summary = json!([{ "type": "summary_text", "text": text }]);
                let complete = json!({ "id": id, "type": "reasoning", "summary": summary, "encrypted_content": signature });
                (id, "response.reasoning_summary_text.delta", started, complete, text)
            }
            ReplyPart::Call { name, arguments } => {
                let id = format!("fc_{number}_{index}");
                let call = |status: &str, arguments: &str| json!({ "id": id, "type": "function_call", "status": status, "arguments": arguments, "call_id": format!("call_{number}_{index}"), "name": name });
                let (started, complete) = (call("in_progress", ""), call("completed", arguments));
                (id, "response.function_call_arguments.delta", started, complete, arguments)
            }
        };
        self.say(
            json!({ "type": "response.output_item.added", "output_index": index, "item": started }),
            false,
        );
        for chunk in pieces(text, chunks) {
            self.say(json!({ "type": delta, "item_id": id, "output_index": index, "delta": chunk }), true);
        }
        self.say(
            json!({ "type": "response.output_item.done", "output_index": index, "item": complete }),
            false,
        );
        complete
    }
}

/// Returns an error as a body.
fn error(name: &str, message: &str) -> Value {
    json!({ "error": { "message": message, "type": name, "param": null, "code": null } })
}
