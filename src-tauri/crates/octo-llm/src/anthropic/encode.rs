//! Encodes Octo's messages for Anthropic.

use crate::{
    CacheKeyField, CacheLifetime, Dialect, ModelRequest, ProviderId, effort,
    wire::{self, CallIds, WirePicture},
};
use octo_protocol::{Block, CallStatus, Message, Role, ToolResult};
use serde_json::{Map, Value, json};

/// Maximum markers in a request; the server refuses a fifth. One of them is for the system prompt (or the last
/// tool).
const MAX_MARKERS: usize = 4;

/// Builds the body of a request. `provider` names the target endpoint: reasoning is sent back only to the
/// endpoint that produced it.
pub fn encode(request: &ModelRequest, provider: &ProviderId, dialect: &Dialect) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), request.model.as_str().into());
    body.insert("max_tokens".into(), request.max_output.into());
    body.insert("stream".into(), true.into());
    if let Some(effort) = request.effort {
        body.extend(effort::anthropic(effort));
    }
    if let (CacheKeyField::SessionId, Some(key)) = (dialect.cache_key, &request.cache.key) {
        body.insert("session_id".into(), key.as_str().into());
    }
    let tools = tools(request);
    let has_system = wire::has_content(&request.system);
    let mut fixed_marks = 0;
    if !tools.is_empty() {
        let mut tools = tools;
        // The system prompt's marker covers the tools before it.
        if let (false, Some(lifetime)) = (has_system, request.cache.fixed) {
            fixed_marks += usize::from(tools.last_mut().is_some_and(|tool| add_marker(tool, lifetime)));
        }
        body.insert("tools".into(), tools.into());
    }
    if has_system {
        let mut system = json!({ "type": "text", "text": &*request.system });
        if let Some(lifetime) = request.cache.fixed {
            fixed_marks += usize::from(add_marker(&mut system, lifetime));
        }
        body.insert("system".into(), json!([system]));
    }
    let mut encoder = Encoder { request, provider, ids: CallIds::default() };
    let mut messages: Vec<Value> = request.messages.iter().map(|message| encoder.message(message)).collect();
    // If there are too many, the last ones are worth most.
    let in_range: Vec<(usize, CacheLifetime)> =
        request.cache.messages.iter().copied().filter(|(index, _)| *index < messages.len()).collect();
    for (index, lifetime) in in_range.into_iter().rev().take(MAX_MARKERS - fixed_marks) {
        if let Some(message) = messages.get_mut(index) {
            mark_last_block(message, lifetime);
        }
    }
    body.insert("messages".into(), messages.into());
    Value::Object(body)
}

fn tools(request: &ModelRequest) -> Vec<Value> {
    let tool = |tool: &crate::ToolSchema| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.parameters });
    request.tools.iter().map(tool).collect()
}

/// Marks a block. Adds only this field: a marker never changes content.
fn add_marker(block: &mut Value, lifetime: CacheLifetime) -> bool {
    let marker = match lifetime {
        CacheLifetime::FiveMinutes => json!({ "type": "ephemeral" }),
        CacheLifetime::Hour => json!({ "type": "ephemeral", "ttl": "1h" }),
    };
    match block.as_object_mut() {
        Some(block) => block.insert("cache_control".into(), marker).is_none(),
        None => false,
    }
}

/// Marks the last block that is not reasoning, since reasoning takes no marker.
fn mark_last_block(message: &mut Value, lifetime: CacheLifetime) {
    let blocks = message.get_mut("content").and_then(Value::as_array_mut);
    let takes_marker = |block: &&mut Value| {
        !matches!(block.get("type").and_then(Value::as_str), Some("thinking" | "redacted_thinking"))
    };
    if let Some(block) = blocks.and_then(|blocks| blocks.iter_mut().rev().find(takes_marker)) {
        add_marker(block, lifetime);
    }
}

struct Encoder<'a> {
    request: &'a ModelRequest,
    provider: &'a ProviderId,
    ids: CallIds,
}

impl Encoder<'_> {
    fn message(&mut self, message: &Message) -> Value {
        let content = wire::results_first(message, text, is_reasoning, |block| self.block(block));
        let role = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        json!({ "role": role, "content": content })
    }

    fn block(&mut self, block: &Block) -> Option<Value> {
        match block {
            Block::Text { text: content } | Block::Summary { text: content, .. } => {
                wire::has_content(content).then(|| text(content))
            }
            Block::Notice { kind, text: content } => Some(text(&wire::notice(*kind, content))),
            Block::CommandsEnded { text: content, .. } => Some(text(&wire::commands_ended(content))),
            Block::File { path } => Some(text(&wire::file_mention(path))),
            Block::Image { blob, media_type, name } => Some(encode_picture(
                wire::wire_picture(&self.request.images, self.request.vision, blob, media_type, name),
                media_type,
            )),
            Block::Document { blob, media_type, name, .. } => {
                let data = wire::document(self.request, blob, media_type)?;
                let source = json!({ "type": "base64", "media_type": media_type, "data": data });
                Some(json!({ "type": "document", "source": source, "title": name }))
            }
            Block::Reasoning { replay, .. } => {
                let replay = replay.as_ref().filter(|replay| replay.provider == self.provider.0)?;
                is_reasoning(&replay.raw).then(|| replay.raw.clone())
            }
            Block::ToolCall(call) => Some(json!({
                "type": "tool_use",
                "id": self.ids.of_call(call.id, &call.provider_id),
                "name": wire::tool_name(&call.name),
                "input": wire::arguments(&call.arguments).unwrap_or_else(|| json!({})),
            })),
            Block::ToolResult(result) => Some(self.result(result)),
        }
    }

    fn result(&self, result: &ToolResult) -> Value {
        let output_text = if wire::has_content(&result.text) { &result.text } else { wire::NO_OUTPUT };
        let mut content = vec![text(output_text)];
        content.extend(result.images.iter().map(|image| {
            let found = wire::wire_picture(
                &self.request.images,
                self.request.vision,
                &image.blob,
                &image.media_type,
                &image.name,
            );
            encode_picture(found, &image.media_type)
        }));
        let mut block = json!({
            "type": "tool_result",
            "tool_use_id": self.ids.of_result(result.call, &result.provider_id),
            "content": content,
        });
        let failed = match result.status {
            CallStatus::Done => false,
            CallStatus::Failed | CallStatus::Denied | CallStatus::Stopped | CallStatus::Interrupted => true,
        };
        if let (true, Some(block)) = (failed, block.as_object_mut()) {
            block.insert("is_error".into(), true.into());
        }
        block
    }
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn encode_picture(picture: WirePicture, media_type: &str) -> Value {
    match picture {
        WirePicture::Words(text_block) => text(&text_block),
        WirePicture::Bytes(data) => {
            json!({ "type": "image", "source": { "type": "base64", "media_type": media_type, "data": data } })
        }
    }
}

fn is_reasoning(block: &Value) -> bool {
    matches!(block.get("type").and_then(Value::as_str), Some("thinking" | "redacted_thinking"))
}
