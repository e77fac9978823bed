//! Encodes Octo's messages for Bedrock.

use crate::{
    CacheLifetime, ModelRequest, ProviderId, effort,
    wire::{self, CallIds, WirePicture},
};
use octo_protocol::{Block, CallStatus, Message, Role, ToolResult};
use serde_json::{Map, Value, json};

/// Maximum cache points in a request. One of them follows the system prompt (or the last tool).
const MAX_POINTS: usize = 4;

/// Builds the body of a request; the address names the model. `provider` names the target endpoint: reasoning
/// is sent back only to the endpoint that produced it.
pub fn encode(request: &ModelRequest, provider: &ProviderId) -> Value {
    let has_system = wire::has_content(&request.system);
    let positions =
        request.cache.messages.iter().copied().filter(|(index, _)| *index < request.messages.len());
    let fixed = request.cache.fixed.filter(|_| has_system || !request.tools.is_empty());
    // If there are too many, the last ones are worth most.
    let points: Vec<(usize, CacheLifetime)> =
        positions.rev().take(MAX_POINTS - usize::from(fixed.is_some())).collect();
    let mut encoder = Encoder { request, provider, ids: CallIds::default(), documents: 0 };
    let mut messages: Vec<(Role, Vec<Value>)> = Vec::new();
    for (index, message) in request.messages.iter().enumerate() {
        let mut content = encoder.content(message);
        if let Some((_, lifetime)) = points.iter().find(|(position, _)| *position == index) {
            insert_point(&mut content, *lifetime);
        }
        match messages.last_mut().filter(|(role, _)| *role == message.role) {
            Some((_, before)) => before.extend(content),
            None => messages.push((message.role, content)),
        }
    }
    let message = |(role, content): (Role, Vec<Value>)| {
        let role = match role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        json!({ "role": role, "content": content })
    };
    let mut body = Map::new();
    body.insert("messages".into(), messages.into_iter().map(message).collect::<Vec<_>>().into());
    if has_system {
        let mut system = vec![text(&request.system)];
        system.extend(fixed.map(point));
        body.insert("system".into(), system.into());
    }
    body.insert("inferenceConfig".into(), json!({ "maxTokens": request.max_output }));
    if !request.tools.is_empty() {
        let mut tools: Vec<Value> = request.tools.iter().map(tool).collect();
        // The system prompt's point covers the tools before it.
        tools.extend(fixed.filter(|_| !has_system).map(point));
        body.insert("toolConfig".into(), json!({ "tools": tools }));
    }
    if let Some(effort_level) = request.effort {
        body.insert("additionalModelRequestFields".into(), effort::anthropic(effort_level).into());
    }
    Value::Object(body)
}

fn tool(tool: &crate::ToolSchema) -> Value {
    json!({ "toolSpec": {
        "name": tool.name, "description": tool.description, "inputSchema": { "json": tool.parameters },
    } })
}

fn point(lifetime: CacheLifetime) -> Value {
    match lifetime {
        CacheLifetime::FiveMinutes => json!({ "cachePoint": { "type": "default" } }),
        CacheLifetime::Hour => json!({ "cachePoint": { "type": "default", "ttl": "1h" } }),
    }
}

/// Inserts the point after the last block that is not reasoning, since reasoning takes none.
fn insert_point(content: &mut Vec<Value>, lifetime: CacheLifetime) {
    if let Some(index) = content.iter().rposition(|block| !is_reasoning(block)) {
        content.insert(index + 1, point(lifetime));
    }
}

struct Encoder<'a> {
    request: &'a ModelRequest,
    provider: &'a ProviderId,
    ids: CallIds,
    /// Number of documents encoded so far.
    documents: u32,
}

impl Encoder<'_> {
    fn content(&mut self, message: &Message) -> Vec<Value> {
        // The server also refuses a document without accompanying text.
        wire::results_first(message, text, is_reasoning, |block| self.block(block))
    }

    fn block(&mut self, block: &Block) -> Option<Value> {
        match block {
            Block::Text { text: content } | Block::Summary { text: content, .. } => {
                wire::has_content(content).then(|| text(content))
            }
            Block::Notice { kind, text: content } => Some(text(&wire::notice(*kind, content))),
            Block::CommandsEnded { text: content, .. } => Some(text(&wire::commands_ended(content))),
            Block::File { path } => Some(text(&wire::file_mention(path))),
            Block::Image { blob, media_type, name } => Some(self.encode_picture(blob, media_type, name)),
            Block::Document { blob, media_type, .. } => {
                let data = wire::document(self.request, blob, media_type)?;
                self.documents += 1;
                // A name may contain few characters and must be unique in a request; the text before it
                // describes the document.
                let name = format!("document {}", self.documents);
                Some(json!({ "document": { "format": "pdf", "name": name, "source": { "bytes": data } } }))
            }
            Block::Reasoning { replay, .. } => {
                let replay = replay.as_ref().filter(|replay| replay.provider == self.provider.0)?;
                let replayed_fields = ["reasoningText", "redactedContent"];
                replayed_fields
                    .iter()
                    .any(|field| replay.raw.get(field).is_some())
                    .then(|| json!({ "reasoningContent": replay.raw }))
            }
            Block::ToolCall(call) => Some(json!({ "toolUse": {
                "toolUseId": self.ids.of_call(call.id, &call.provider_id),
                "name": wire::tool_name(&call.name),
                "input": wire::arguments(&call.arguments).unwrap_or_else(|| json!({})),
            } })),
            Block::ToolResult(result) => Some(self.result(result)),
        }
    }

    fn result(&self, result: &ToolResult) -> Value {
        let output_text = if wire::has_content(&result.text) { &result.text } else { wire::NO_OUTPUT };
        let mut content = vec![text(output_text)];
        content.extend(
            result
                .images
                .iter()
                .map(|image| self.encode_picture(&image.blob, &image.media_type, &image.name)),
        );
        let status = match result.status {
            CallStatus::Done => "success",
            CallStatus::Failed | CallStatus::Denied | CallStatus::Stopped | CallStatus::Interrupted => {
                "error"
            }
        };
        json!({ "toolResult": {
            "toolUseId": self.ids.of_result(result.call, &result.provider_id),
            "content": content,
            "status": status,
        } })
    }

    fn encode_picture(&self, blob: &octo_protocol::BlobHash, media_type: &str, name: &str) -> Value {
        match wire::wire_picture(&self.request.images, self.request.vision, blob, media_type, name) {
            WirePicture::Words(description) => text(&description),
            WirePicture::Bytes(data) => {
                let format = media_type.trim_start_matches("image/");
                json!({ "image": { "format": format, "source": { "bytes": data } } })
            }
        }
    }
}

fn text(text: &str) -> Value {
    json!({ "text": text })
}

fn is_reasoning(block: &Value) -> bool {
    block.get("reasoningContent").is_some()
}
