//! Decodes Bedrock's stream into model events.

use crate::{
    BilledUsage, BlockKind, ErrorClass, FinishReason, ModelEvent, ProviderError, ProviderId, codec::Decode,
    event_stream::EXCEPTION, http, sse::SseEvent, wire,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use octo_protocol::{Block, CallId, Replay, ToolCall, Usage};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Decodes a stream. It skips events and kinds of block that it does not know.
#[derive(Debug)]
pub struct Decoder {
    provider: ProviderId,
    /// Open blocks by the wire's index.
    open: BTreeMap<u64, BedrockBlock>,
    next: u32,
    /// The message is over; its figures follow.
    finish: Option<FinishReason>,
    done: bool,
}

#[derive(Debug)]
struct BedrockBlock {
    /// Octo's own block index; `None` until the block's kind is known.
    block: Option<u32>,
    part: BedrockContent,
}

#[derive(Debug)]
enum BedrockContent {
    /// Except for a call, only a delta tells the kind of a block.
    Unknown,
    Text(String),
    Reasoning {
        text: String,
        signature: String,
        redacted: Vec<u8>,
    },
    Call {
        provider_id: String,
        name: String,
        arguments: String,
    },
}

impl Decoder {
    /// Creates the decoder of a new answer from `provider`.
    pub fn new(provider: ProviderId) -> Self {
        Self { provider, open: BTreeMap::new(), next: 0, finish: None, done: false }
    }

    fn start(&mut self, data: &Value) -> Result<Vec<ModelEvent>, ProviderError> {
        let index = index_of(data)?;
        if self.open.contains_key(&index) {
            return Err(wire::malformed(format!("Block {index} began twice.")));
        }
        let Some(call) = data.pointer("/start/toolUse") else {
            self.open.insert(index, BedrockBlock { block: None, part: BedrockContent::Unknown });
            return Ok(Vec::new());
        };
        let text_of = |field: &str| call.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (provider_id, name) = (text_of("toolUseId"), text_of("name"));
        if name.is_empty() {
            return Err(wire::malformed("The stream holds a call without a name."));
        }
        let block = self.next_index();
        let part = BedrockContent::Call { provider_id, name: name.clone(), arguments: String::new() };
        self.open.insert(index, BedrockBlock { block: Some(block), part });
        Ok(vec![ModelEvent::BlockStarted { block, kind: BlockKind::ToolCall { name } }])
    }

    fn next_index(&mut self) -> u32 {
        let block = self.next;
        self.next += 1;
        block
    }

    /// Reads a delta; the first delta of a block that is not a call also begins the block.
    fn delta(&mut self, data: &Value) -> Result<Vec<ModelEvent>, ProviderError> {
        let index = index_of(data)?;
        let delta = data.get("delta").unwrap_or(&Value::Null);
        let mut events = Vec::new();
        let mut open =
            self.open.remove(&index).unwrap_or(BedrockBlock { block: None, part: BedrockContent::Unknown });
        if matches!(open.part, BedrockContent::Unknown) {
            let (part, kind) = if delta.get("text").is_some() {
                (BedrockContent::Text(String::new()), BlockKind::Text)
            } else if delta.get("reasoningContent").is_some() {
                let part = BedrockContent::Reasoning {
                    text: String::new(),
                    signature: String::new(),
                    redacted: Vec::new(),
                };
                (part, BlockKind::Reasoning)
            } else if delta.get("toolUse").is_some() {
                return Err(wire::malformed("The stream holds a call without a name."));
            } else {
                self.open.insert(index, open);
                return Ok(events);
            };
            let block = self.next_index();
            open = BedrockBlock { block: Some(block), part };
            events.push(ModelEvent::BlockStarted { block, kind });
        }
        let added = open.part.append_delta(index, delta)?;
        if let Some(block) = open.block.filter(|_| !added.is_empty()) {
            events.push(ModelEvent::Delta { block, text: added });
        }
        self.open.insert(index, open);
        Ok(events)
    }

    fn stop(&mut self, data: &Value) -> Result<Vec<ModelEvent>, ProviderError> {
        let index = index_of(data)?;
        // A text block without any delta never emits a start.
        let Some(BedrockBlock { block: Some(block), part }) = self.open.remove(&index) else {
            return Ok(Vec::new());
        };
        let content = match part {
            BedrockContent::Unknown => return Ok(Vec::new()),
            BedrockContent::Text(text) => Block::Text { text },
            BedrockContent::Reasoning { text, signature, redacted } => {
                self.reasoning(text, &signature, &redacted)
            }
            BedrockContent::Call { provider_id, name, arguments } => {
                let arguments = if arguments.is_empty() { "{}".to_owned() } else { arguments };
                Block::ToolCall(ToolCall { id: CallId::new(), provider_id, name, arguments })
            }
        };
        Ok(vec![ModelEvent::BlockFinished { block, content }])
    }

    /// Rebuilds the reasoning that is sent back unchanged. Reasoning without a signature is not sent back:
    /// models that sign refuse reasoning they did not sign, and the others accept none.
    fn reasoning(&self, text: String, signature: &str, redacted: &[u8]) -> Block {
        let raw = if !redacted.is_empty() {
            Some(json!({ "redactedContent": STANDARD.encode(redacted) }))
        } else if !signature.is_empty() {
            Some(json!({ "reasoningText": { "text": text, "signature": signature } }))
        } else {
            None
        };
        let replay = raw.map(|raw| Replay { provider: self.provider.0.clone(), raw });
        Block::Reasoning { text, replay }
    }

    fn end_message(&mut self, data: &Value) -> Result<Vec<ModelEvent>, ProviderError> {
        if let Some((index, _)) = self.open.iter().find(|(_, open)| open.block.is_some()) {
            return Err(wire::malformed(format!("The answer ended while block {index} was open.")));
        }
        let reason = data.get("stopReason").and_then(Value::as_str).unwrap_or_default();
        self.finish = Some(match reason {
            "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
            "guardrail_intervened" | "content_filtered" | "refusal" => FinishReason::Refused,
            "malformed_model_output" | "malformed_tool_use" => {
                let message = "The model's output could not be read by the server.";
                return Err(ProviderError::new(ErrorClass::Malformed, message));
            }
            // `end_turn`, `tool_use`, `stop_sequence`, and any reason added later.
            _ => FinishReason::Stop,
        });
        Ok(Vec::new())
    }

    fn end(&mut self, data: &Value) -> Vec<ModelEvent> {
        let mut events = Vec::new();
        if let Some(usage) = data.get("usage").filter(|usage| usage.is_object()) {
            events.push(ModelEvent::Usage(parse_usage(usage)));
        }
        if let Some(reason) = self.finish {
            self.done = true;
            events.push(ModelEvent::Finished(reason));
        }
        events
    }
}

impl BedrockContent {
    /// Returns the visible part of a delta; signatures and redacted reasoning are kept but not shown.
    fn append_delta(&mut self, index: u64, delta: &Value) -> Result<String, ProviderError> {
        let text_of = |pointer: &str| delta.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let (stored, text_of) = match self {
            Self::Unknown => return Ok(String::new()),
            Self::Text(text) if delta.get("text").is_some() => (text, text_of("/text")),
            Self::Reasoning { text, signature, redacted } if delta.get("reasoningContent").is_some() => {
                signature.push_str(text_of("/reasoningContent/signature"));
                let more = STANDARD.decode(text_of("/reasoningContent/redactedContent"));
                redacted.extend(more.map_err(|_| wire::malformed("Redacted reasoning is not base64."))?);
                (text, text_of("/reasoningContent/text"))
            }
            Self::Call { arguments, .. } if delta.get("toolUse").is_some() => {
                (arguments, text_of("/toolUse/input"))
            }
            // An unknown kind of delta is ignored; a known one in the wrong block is an error.
            _ if ["text", "reasoningContent", "toolUse"].iter().any(|kind| delta.get(kind).is_some()) => {
                return Err(wire::malformed(format!("Block {index} holds two kinds of content.")));
            }
            _ => return Ok(String::new()),
        };
        stored.push_str(text_of);
        Ok(text_of.to_owned())
    }
}

impl Decode for Decoder {
    fn push(&mut self, event: SseEvent) -> Result<Vec<ModelEvent>, ProviderError> {
        if self.done || event.data.is_empty() {
            return Ok(Vec::new());
        }
        let data = wire::json(&event.data)?;
        match event.event.as_str() {
            "contentBlockStart" => self.start(&data),
            "contentBlockDelta" => self.delta(&data),
            "contentBlockStop" => self.stop(&data),
            "messageStop" => self.end_message(&data),
            "metadata" => Ok(self.end(&data)),
            EXCEPTION => Err(http::exception_error(&data)),
            _ => Ok(Vec::new()),
        }
    }

    fn finish(&mut self) -> Result<Vec<ModelEvent>, ProviderError> {
        match (self.done, self.finish) {
            (true, _) => Ok(Vec::new()),
            (false, Some(reason)) => {
                self.done = true;
                Ok(vec![ModelEvent::Finished(reason)])
            }
            (false, None) => Err(wire::cut_off()),
        }
    }

    fn is_done(&self) -> bool {
        self.done
    }
}

fn index_of(data: &Value) -> Result<u64, ProviderError> {
    data.get("contentBlockIndex")
        .and_then(Value::as_u64)
        .ok_or_else(|| wire::malformed("A block event without an index."))
}

/// `inputTokens` excludes cache reads and writes, as Octo's count does. `cacheDetails` breaks the written
/// tokens down by their lifetime.
fn parse_usage(usage: &Value) -> BilledUsage {
    let count = |field: &str| usage.get(field).and_then(wire::tokens).unwrap_or(0);
    let details = usage.get("cacheDetails").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let for_an_hour = details.iter().filter(|detail| detail.get("ttl").and_then(Value::as_str) == Some("1h"));
    let written_for_an_hour = for_an_hour
        .filter_map(|detail| detail.get("inputTokens").and_then(wire::tokens))
        .fold(0, u64::saturating_add);
    let usage = Usage {
        input: count("inputTokens"),
        cache_read: count("cacheReadInputTokens"),
        cache_write: count("cacheWriteInputTokens"),
        output: count("outputTokens"),
    };
    BilledUsage { usage, written_for_an_hour }.capped()
}
