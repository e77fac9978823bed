//! Encodes Octo's messages for Chat Completions.
//!
//! # Reasoning that is sent back
//!
//! Servers with reasoning models (DeepSeek, Moonshot and others) want the reasoning of an assistant message
//! back under its original field, and some refuse a conversation in which one assistant message has the field
//! and another does not. The simple remedy, an empty field on every message as soon as one has it, would change
//! the bytes of earlier messages when the first reasoning arrives, and so lose the whole cached prefix. So the
//! empty field depends only on *earlier* messages: if the server is known to require it, every assistant
//! message has it from the first request on ([`ReasoningPadding::Always`]); otherwise only messages after one
//! with reasoning have it, and earlier ones keep their bytes ([`ReasoningPadding::Following`]).

use super::{
    markers::{ContentShape, MarkerPositions},
    sealed::{self, CALL_FIELD, MESSAGE_FIELD, SealedData},
};
use crate::{
    CacheKeyField, CallSignatures, Dialect, ModelRequest, OutputLimit, ProviderId, ReasoningPadding, effort,
    wire::{self, CallIds, WirePicture},
};
use octo_protocol::{Block, Message, Role, ToolResult};
use serde_json::{Map, Value, json};

/// Fields that carry reasoning in both directions.
pub(super) const REASONING_FIELDS: [&str; 2] = ["reasoning_content", "reasoning"];

/// Builds the body of a request. `provider` names the target endpoint: reasoning is sent back only to the
/// endpoint that produced it.
pub fn encode(request: &ModelRequest, provider: &ProviderId, dialect: &Dialect) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), request.model.as_str().into());
    let limit = match dialect.output_limit {
        OutputLimit::MaxTokens => "max_tokens",
        OutputLimit::MaxCompletionTokens => "max_completion_tokens",
    };
    body.insert(limit.into(), request.max_output.into());
    body.insert("stream".into(), true.into());
    body.insert("stream_options".into(), json!({ "include_usage": true }));
    if let Some(effort) = request.effort {
        body.insert("reasoning_effort".into(), effort::openai(effort).into());
    }
    if let Some(key) = &request.cache.key {
        let field = match dialect.cache_key {
            CacheKeyField::Unknown => None,
            CacheKeyField::PromptCacheKey => Some("prompt_cache_key"),
            CacheKeyField::SessionId => Some("session_id"),
        };
        body.extend(field.map(|field| (field.to_owned(), key.as_str().into())));
    }
    if !request.tools.is_empty() {
        let function = |tool: &crate::ToolSchema| {
            json!({ "type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.parameters,
            } })
        };
        body.insert("tools".into(), request.tools.iter().map(function).collect::<Vec<_>>().into());
    }
    let mut encoder = Encoder {
        request,
        provider,
        ids: CallIds::default(),
        padding: match dialect.padding {
            ReasoningPadding::Always => Some(REASONING_FIELDS[0]),
            ReasoningPadding::Following => None,
        },
        shape: ContentShape::of_dialect(dialect),
        signed: dialect.signatures == CallSignatures::Required && sealed::requires_signatures(&request.model),
        messages: Vec::with_capacity(request.messages.len() + 1),
    };
    let positions = MarkerPositions::of_request(request, dialect);
    if wire::has_content(&request.system) {
        let mut parts = ContentParts::default();
        parts.push_text(&request.system);
        let content = parts.content(encoder.shape);
        encoder.messages.push(json!({ "role": "system", "content": content }));
        positions.mark_fixed(&mut encoder.messages);
    }
    for (index, message) in request.messages.iter().enumerate() {
        let first = encoder.messages.len();
        match message.role {
            Role::User => encoder.user(message),
            Role::Assistant => encoder.assistant(message),
        }
        positions.mark_message(index, encoder.messages.get_mut(first..).unwrap_or_default());
    }
    body.insert("messages".into(), encoder.messages.into());
    Value::Object(body)
}

struct Encoder<'a> {
    request: &'a ModelRequest,
    provider: &'a ProviderId,
    ids: CallIds,
    /// Field that assistant messages without reasoning carry empty, once one is known.
    padding: Option<&'static str>,
    shape: ContentShape,
    /// Whether the model refuses calls without a signature.
    signed: bool,
    messages: Vec<Value>,
}

/// Content of one side's message: text with pictures in between.
#[derive(Default)]
struct ContentParts {
    parts: Vec<Value>,
    pictures: usize,
}

impl ContentParts {
    fn push_text(&mut self, text: &str) {
        if wire::has_content(text) {
            self.parts.push(json!({ "type": "text", "text": text }));
        }
    }

    fn push_picture(&mut self, picture: WirePicture, media_type: &str) {
        match picture {
            WirePicture::Words(text_part) => self.push_text(&text_part),
            WirePicture::Bytes(data) => {
                self.pictures += 1;
                let url = format!("data:{media_type};base64,{data}");
                self.parts.push(json!({ "type": "image_url", "image_url": { "url": url } }));
            }
        }
    }

    fn push_file(&mut self, name: &str, media_type: &str, data: &str) {
        self.pictures += 1;
        let data = format!("data:{media_type};base64,{data}");
        self.parts.push(json!({ "type": "file", "file": { "filename": name, "file_data": data } }));
    }

    /// Returns the content in the dialect's shape; no content at all, as with calls, is always empty text.
    fn content(self, shape: ContentShape) -> Value {
        if self.pictures > 0 || (shape == ContentShape::Parts && !self.parts.is_empty()) {
            return self.parts.into();
        }
        let texts: Vec<&str> =
            self.parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect();
        texts.join("\n\n").into()
    }
}

impl Encoder<'_> {
    fn user(&mut self, message: &Message) {
        let mut parts = ContentParts::default();
        let mut results = 0_usize;
        // Results are sent first, each as a message of its own; their pictures follow in the person's message,
        // since tool messages take none.
        for block in &message.blocks {
            if let Block::ToolResult(result) = block {
                results += 1;
                self.result(result, &mut parts);
            }
        }
        for block in &message.blocks {
            self.push_block(block, &mut parts);
        }
        if parts.parts.is_empty() && results > 0 {
            return;
        }
        if parts.parts.is_empty() {
            parts.push_text(wire::EMPTY_MESSAGE);
        }
        self.messages.push(json!({ "role": "user", "content": parts.content(self.shape) }));
    }

    fn result(&mut self, result: &ToolResult, parts: &mut ContentParts) {
        let output_text = if wire::has_content(&result.text) { &result.text } else { wire::NO_OUTPUT };
        let id = self.ids.of_result(result.call, &result.provider_id);
        let mut output = ContentParts::default();
        output.push_text(output_text);
        let content = output.content(self.shape);
        self.messages.push(json!({ "role": "tool", "tool_call_id": id, "content": content }));
        for image in &result.images {
            let found = self.encode_picture(&image.blob, &image.media_type, &image.name);
            if matches!(found, WirePicture::Bytes(_)) {
                parts.push_text(&format!("[Picture \"{}\" of the result of call {id}:]", image.name));
            }
            parts.push_picture(found, &image.media_type);
        }
    }

    fn push_block(&self, block: &Block, parts: &mut ContentParts) {
        match block {
            Block::Text { text } | Block::Summary { text, .. } => parts.push_text(text),
            Block::Notice { kind, text } => parts.push_text(&wire::notice(*kind, text)),
            Block::CommandsEnded { text, .. } => parts.push_text(&wire::commands_ended(text)),
            Block::File { path } => parts.push_text(&wire::file_mention(path)),
            Block::Image { blob, media_type, name } => {
                parts.push_picture(self.encode_picture(blob, media_type, name), media_type);
            }
            Block::Document { blob, media_type, name, path } => {
                parts.push_text(&wire::document_mention(path));
                if let Some(data) = wire::document(self.request, blob, media_type) {
                    parts.push_file(name, media_type, &data);
                }
            }
            Block::ToolResult(_) | Block::ToolCall(_) | Block::Reasoning { .. } => {}
        }
    }

    fn encode_picture(&self, blob: &octo_protocol::BlobHash, media_type: &str, name: &str) -> WirePicture {
        wire::wire_picture(&self.request.images, self.request.vision, blob, media_type, name)
    }

    fn assistant(&mut self, message: &Message) {
        let mut parts = ContentParts::default();
        let mut calls: Vec<Value> = Vec::new();
        let mut reasoning: Map<String, Value> = Map::new();
        let seals = SealedData::find(&message.blocks, &self.provider.0);
        for block in &message.blocks {
            match block {
                Block::ToolCall(call) => {
                    let arguments =
                        wire::arguments(&call.arguments).map_or("{}", |_| call.arguments.as_str());
                    let number = calls.len();
                    let mut fields = json!({
                        "id": self.ids.of_call(call.id, &call.provider_id),
                        "type": "function",
                        "function": { "name": wire::tool_name(&call.name), "arguments": arguments },
                    });
                    let stand_in = || seals.substitute_signature(number).filter(|_| self.signed);
                    if let Some(extra) = seals.of_call(number).or_else(stand_in) {
                        fields[CALL_FIELD] = extra;
                    }
                    calls.push(fields);
                }
                Block::Reasoning { replay: Some(replay), .. } if replay.provider == self.provider.0 => {
                    for field in REASONING_FIELDS {
                        if let Some(text) = replay.raw.get(field).and_then(Value::as_str) {
                            append(&mut reasoning, field, text);
                        }
                    }
                }
                // A model's message takes only text.
                Block::Image { name, .. } => parts.push_text(&format!("[Picture \"{name}\"]")),
                Block::Document { path, .. } => parts.push_text(&wire::document_mention(path)),
                other => self.push_block(other, &mut parts),
            }
        }
        if parts.parts.is_empty() && calls.is_empty() {
            parts.push_text(wire::EMPTY_MESSAGE);
        }
        let mut fields = Map::new();
        fields.insert("role".into(), "assistant".into());
        // Next to calls the text may be empty, and is written nevertheless: some servers' templates fail on a
        // missing or null one.
        fields.insert("content".into(), parts.content(self.shape));
        if reasoning.is_empty() {
            if let Some(field) = self.padding {
                fields.insert(field.into(), "".into());
            }
        } else {
            let field = REASONING_FIELDS.into_iter().find(|field| reasoning.contains_key(*field));
            self.padding = self.padding.or(field);
            fields.extend(reasoning);
        }
        fields.extend(seals.details().map(|details| (MESSAGE_FIELD.to_owned(), details)));
        if !calls.is_empty() {
            fields.insert("tool_calls".into(), calls.into());
        }
        self.messages.push(Value::Object(fields));
    }
}

fn append(fields: &mut Map<String, Value>, field: &str, text: &str) {
    let joined = match fields.get(field).and_then(Value::as_str) {
        Some(before) => format!("{before}{text}"),
        None => text.to_owned(),
    };
    fields.insert(field.into(), joined.into());
}
