//! Encodes Octo's messages for Responses.

use crate::{
    BreakpointSupport, CacheKeyField, Dialect, ModelRequest, ProviderId, ReasoningItems, effort,
    wire::{self, CallIds, WirePicture},
};
use octo_protocol::{Block, Message, Role, ToolResult};
use serde_json::{Map, Value, json};

/// Maximum explicit breakpoints in a request, in addition to the server's own (OpenAI's API reference, prompt
/// caching).
const MAX_BREAKPOINTS: usize = 3;
/// Fields of a reasoning item that are sent back. Its `status` is for the server only.
const REASONING_FIELDS: [&str; 4] = ["id", "summary", "content", "encrypted_content"];

/// Builds the body of a request. `provider` names the target endpoint: reasoning is sent back only to the
/// endpoint that produced it.
pub fn encode(request: &ModelRequest, provider: &ProviderId, dialect: &Dialect) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), request.model.as_str().into());
    body.insert("max_output_tokens".into(), request.max_output.into());
    body.insert("stream".into(), true.into());
    body.insert("store".into(), false.into());
    if dialect.reasoning_items == ReasoningItems::Encrypted {
        body.insert("include".into(), json!(["reasoning.encrypted_content"]));
    }
    if let Some(effort) = request.effort {
        body.insert("reasoning".into(), json!({ "effort": effort::openai(effort) }));
    }
    if let Some(key) = &request.cache.key {
        let field = match dialect.cache_key {
            // The protocol's own field.
            CacheKeyField::Unknown | CacheKeyField::PromptCacheKey => "prompt_cache_key",
            CacheKeyField::SessionId => "session_id",
        };
        body.insert(field.into(), key.as_str().into());
    }
    if !request.tools.is_empty() {
        body.insert("tools".into(), request.tools.iter().map(tool).collect::<Vec<_>>().into());
    }
    let positions = BreakpointPositions::of_request(request, dialect);
    let mut encoder = Encoder { request, provider, dialect, ids: CallIds::default(), items: Vec::new() };
    if wire::has_content(&request.system) {
        match dialect.breakpoints {
            BreakpointSupport::Unknown => {
                body.insert("instructions".into(), (*request.system).into());
            }
            // `instructions` takes no breakpoint, so the fixed part could not be marked there.
            BreakpointSupport::Explicit => {
                let mut part = json!({ "type": "input_text", "text": &*request.system });
                if positions.fixed {
                    add_breakpoint(&mut part);
                }
                encoder.items.push(json!({ "type": "message", "role": "developer", "content": [part] }));
            }
        }
    }
    for (index, message) in request.messages.iter().enumerate() {
        let first = encoder.items.len();
        match message.role {
            Role::User => encoder.user(message),
            Role::Assistant => encoder.assistant(message),
        }
        if positions.messages.contains(&index) {
            mark_last_part(encoder.items.get_mut(first..).unwrap_or_default());
        }
    }
    body.insert("input".into(), encoder.items.into());
    Value::Object(body)
}

/// Encodes a tool, not as `strict`: the server would rewrite its schema, and its calls with it.
fn tool(tool: &crate::ToolSchema) -> Value {
    json!({
        "type": "function", "name": tool.name, "description": tool.description,
        "parameters": tool.parameters, "strict": false,
    })
}

/// Positions of breakpoints.
struct BreakpointPositions {
    fixed: bool,
    messages: Vec<usize>,
}

impl BreakpointPositions {
    /// Selects the breakpoints of a request. If there are too many, the last ones are worth most.
    fn of_request(request: &ModelRequest, dialect: &Dialect) -> Self {
        if dialect.breakpoints == BreakpointSupport::Unknown {
            return Self { fixed: false, messages: Vec::new() };
        }
        let fixed = request.cache.fixed.is_some();
        let indexes = request.cache.messages.iter().map(|(index, _)| *index);
        let indexes = indexes.filter(|index| *index < request.messages.len());
        Self { fixed, messages: indexes.rev().take(MAX_BREAKPOINTS - usize::from(fixed)).collect() }
    }
}

/// Marks the last part of the items that may be marked: those on the person's side, including results.
fn mark_last_part(items: &mut [Value]) {
    let parts = |item: &mut Value| {
        let field = match item.get("type").and_then(Value::as_str) {
            Some("function_call_output") => "output",
            Some("message") if item.get("role").and_then(Value::as_str) == Some("user") => "content",
            _ => return false,
        };
        let part = item.get_mut(field).and_then(Value::as_array_mut).and_then(|parts| parts.last_mut());
        part.is_some_and(add_breakpoint)
    };
    items.iter_mut().rev().find_map(|item| parts(item).then_some(()));
}

/// Marks a part. Adds only this field: a breakpoint never changes content.
fn add_breakpoint(part: &mut Value) -> bool {
    let Some(part) = part.as_object_mut() else { return false };
    part.insert("prompt_cache_breakpoint".into(), json!({ "mode": "explicit" }));
    true
}

struct Encoder<'a> {
    request: &'a ModelRequest,
    provider: &'a ProviderId,
    dialect: &'a Dialect,
    ids: CallIds,
    items: Vec<Value>,
}

impl Encoder<'_> {
    fn user(&mut self, message: &Message) {
        let mut results = 0;
        for block in &message.blocks {
            if let Block::ToolResult(result) = block {
                results += 1;
                self.result(result);
            }
        }
        let mut parts: Vec<Value> = Vec::with_capacity(message.blocks.len());
        for block in &message.blocks {
            if let Block::Document { path, .. } = block {
                parts.push(text("input_text", &wire::document_mention(path)));
            }
            parts.extend(self.part(block));
        }
        if parts.is_empty() && results == 0 {
            parts.push(text("input_text", wire::EMPTY_MESSAGE));
        }
        if !parts.is_empty() {
            self.items.push(json!({ "type": "message", "role": "user", "content": parts }));
        }
    }

    /// Encodes a result: plain text if there is only text, since servers other than OpenAI's take nothing else;
    /// parts if there are pictures, or if breakpoints may be set on them.
    fn result(&mut self, result: &ToolResult) {
        let content = if wire::has_content(&result.text) { &result.text } else { wire::NO_OUTPUT };
        let output = if result.images.is_empty() && self.dialect.breakpoints == BreakpointSupport::Unknown {
            Value::from(content)
        } else {
            let images = result.images.iter().map(|image| {
                encode_picture(
                    self.encode_picture(&image.blob, &image.media_type, &image.name),
                    &image.media_type,
                )
            });
            std::iter::once(text("input_text", content)).chain(images).collect::<Vec<_>>().into()
        };
        let id = self.ids.of_result(result.call, &result.provider_id);
        self.items.push(json!({ "type": "function_call_output", "call_id": id, "output": output }));
    }

    fn part(&self, block: &Block) -> Option<Value> {
        match block {
            Block::Text { text: content } | Block::Summary { text: content, .. } => {
                wire::has_content(content).then(|| text("input_text", content))
            }
            Block::Notice { kind, text: content } => Some(text("input_text", &wire::notice(*kind, content))),
            Block::CommandsEnded { text: content, .. } => {
                Some(text("input_text", &wire::commands_ended(content)))
            }
            Block::File { path } => Some(text("input_text", &wire::file_mention(path))),
            Block::Image { blob, media_type, name } => {
                Some(encode_picture(self.encode_picture(blob, media_type, name), media_type))
            }
            Block::Document { blob, media_type, name, .. } => {
                let data = wire::document(self.request, blob, media_type)?;
                let data = format!("data:{media_type};base64,{data}");
                Some(json!({ "type": "input_file", "filename": name, "file_data": data }))
            }
            Block::ToolResult(_) | Block::ToolCall(_) | Block::Reasoning { .. } => None,
        }
    }

    fn encode_picture(&self, blob: &octo_protocol::BlobHash, media_type: &str, name: &str) -> WirePicture {
        wire::wire_picture(&self.request.images, self.request.vision, blob, media_type, name)
    }

    fn assistant(&mut self, message: &Message) {
        let first = self.items.len();
        for block in &message.blocks {
            let output = match block {
                Block::ToolCall(call) => {
                    let arguments =
                        wire::arguments(&call.arguments).map_or("{}", |_| call.arguments.as_str());
                    self.items.push(json!({
                        "type": "function_call",
                        "call_id": self.ids.of_call(call.id, &call.provider_id),
                        "name": wire::tool_name(&call.name),
                        "arguments": arguments,
                    }));
                    continue;
                }
                Block::Reasoning { replay, .. } => {
                    let replay = replay.as_ref().filter(|replay| replay.provider == self.provider.0);
                    self.items.extend(replay.and_then(|replay| reasoning(&replay.raw)));
                    continue;
                }
                Block::Text { text } | Block::Summary { text, .. } => text.clone(),
                Block::Notice { kind, text } => wire::notice(*kind, text),
                Block::CommandsEnded { text, .. } => wire::commands_ended(text),
                Block::File { path } => wire::file_mention(path),
                // A model's message takes only text.
                Block::Image { name, .. } => format!("[Picture \"{name}\"]"),
                Block::Document { path, .. } => wire::document_mention(path),
                Block::ToolResult(_) => continue,
            };
            if wire::has_content(&output) {
                self.items.push(answer(&output));
            }
        }
        let items = self.items.get(first..).unwrap_or_default();
        if items.iter().all(|item| item.get("type").and_then(Value::as_str) == Some("reasoning")) {
            // Also after a message that contains only reasoning: the server refuses reasoning without a
            // following item, and the sent bytes must not depend on later messages.
            self.items.push(answer(wire::EMPTY_MESSAGE));
        }
    }
}

/// Returns a reasoning item to send back; `None` without its encrypted content, since the server stored
/// nothing.
fn reasoning(raw: &Value) -> Option<Value> {
    raw.get("encrypted_content").and_then(Value::as_str).filter(|content| !content.is_empty())?;
    let mut item = Map::from_iter([("type".to_owned(), Value::from("reasoning"))]);
    for field in REASONING_FIELDS {
        if let Some(value) = raw.get(field).filter(|value| !value.is_null()) {
            item.insert(field.into(), value.clone());
        }
    }
    Some(Value::Object(item))
}

fn answer(content: &str) -> Value {
    json!({ "type": "message", "role": "assistant", "content": [text("output_text", content)] })
}

fn text(kind: &str, text: &str) -> Value {
    json!({ "type": kind, "text": text })
}

fn encode_picture(picture: WirePicture, media_type: &str) -> Value {
    match picture {
        WirePicture::Words(description) => text("input_text", &description),
        WirePicture::Bytes(data) => json!({
            "type": "input_image", "image_url": format!("data:{media_type};base64,{data}"), "detail": "auto",
        }),
    }
}
