//! Decodes Anthropic's stream into model events.

use crate::{
    BilledUsage, BlockKind, FinishReason, ModelEvent, ProviderError, ProviderId, UnsignedReasoning,
    codec::Decode, http, sse::SseEvent, wire,
};
use octo_protocol::{Block, CallId, Replay, ToolCall};
use serde_json::Value;
use std::collections::HashMap;

/// Decodes a stream. It skips events and kinds of block that it does not know.
#[derive(Debug)]
pub struct Decoder {
    provider: ProviderId,
    unsigned: UnsignedReasoning,
    /// Open blocks by the wire's index.
    open: HashMap<u64, AnthropicBlock>,
    next: u32,
    billed: BilledUsage,
    finish: FinishReason,
    is_done: bool,
}

#[derive(Debug)]
struct AnthropicBlock {
    /// Octo's own block index; skipped blocks have none.
    block: u32,
    part: AnthropicContent,
}

#[derive(Debug)]
enum AnthropicContent {
    Text { text: String },
    Thinking { raw: Value, text: String, signature: String },
    Redacted { raw: Value },
    Call { provider_id: String, name: String, arguments: String, whole: Value },
    Unknown,
}

impl Decoder {
    /// Creates the decoder of a new answer from `provider`.
    pub fn new(provider: ProviderId, unsigned: UnsignedReasoning) -> Self {
        Self {
            provider,
            unsigned,
            open: HashMap::new(),
            next: 0,
            billed: BilledUsage::default(),
            finish: FinishReason::Stop,
            is_done: false,
        }
    }

    fn start(&mut self, data: &Value) -> Result<Vec<ModelEvent>, ProviderError> {
        let index = index_of(data)?;
        if self.open.contains_key(&index) {
            return Err(wire::malformed(format!("Block {index} began twice.")));
        }
        let content = data.get("content_block").cloned().unwrap_or(Value::Null);
        let text_of = |field: &str| content.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (part, kind, first) = match content.get("type").and_then(Value::as_str) {
            Some("text") => {
                let text = text_of("text");
                (AnthropicContent::Text { text: text.clone() }, BlockKind::Text, text)
            }
            Some("thinking") => {
                let text = text_of("thinking");
                let signature = text_of("signature");
                (
                    AnthropicContent::Thinking { raw: content, text: text.clone(), signature },
                    BlockKind::Reasoning,
                    text,
                )
            }
            Some("redacted_thinking") => {
                (AnthropicContent::Redacted { raw: content }, BlockKind::Reasoning, String::new())
            }
            Some("tool_use") => {
                let name = text_of("name");
                let part = AnthropicContent::Call {
                    provider_id: text_of("id"),
                    name: name.clone(),
                    arguments: String::new(),
                    whole: content.get("input").cloned().unwrap_or(Value::Null),
                };
                (part, BlockKind::ToolCall { name }, String::new())
            }
            _ => {
                self.open.insert(index, AnthropicBlock { block: self.next, part: AnthropicContent::Unknown });
                return Ok(Vec::new());
            }
        };
        let block = self.next;
        self.next += 1;
        self.open.insert(index, AnthropicBlock { block, part });
        let mut events = vec![ModelEvent::BlockStarted { block, kind }];
        if !first.is_empty() {
            events.push(ModelEvent::Delta { block, text: first });
        }
        Ok(events)
    }

    fn delta(&mut self, data: &Value) -> Result<Vec<ModelEvent>, ProviderError> {
        let index = index_of(data)?;
        let Some(AnthropicBlock { block, part }) = self.open.get_mut(&index) else {
            return Err(wire::malformed(format!("Block {index} grew without being open.")));
        };
        let delta = data.get("delta").unwrap_or(&Value::Null);
        let text_of = |field: &str| delta.get(field).and_then(Value::as_str).unwrap_or_default();
        let kind = delta.get("type").and_then(Value::as_str).unwrap_or_default();
        let added = match (kind, part) {
            (_, AnthropicContent::Unknown) => "",
            ("text_delta", AnthropicContent::Text { text }) => append(text, text_of("text")),
            ("thinking_delta", AnthropicContent::Thinking { text, .. }) => append(text, text_of("thinking")),
            ("signature_delta", AnthropicContent::Thinking { signature, .. }) => {
                signature.push_str(text_of("signature"));
                ""
            }
            ("input_json_delta", AnthropicContent::Call { arguments, .. }) => {
                append(arguments, text_of("partial_json"))
            }
            ("text_delta" | "thinking_delta" | "signature_delta" | "input_json_delta", _) => {
                return Err(wire::malformed(format!("Block {index} does not take a {kind}.")));
            }
            _ => "",
        };
        if added.is_empty() {
            return Ok(Vec::new());
        }
        Ok(vec![ModelEvent::Delta { block: *block, text: added.to_owned() }])
    }

    fn stop(&mut self, data: &Value) -> Result<Vec<ModelEvent>, ProviderError> {
        let index = index_of(data)?;
        let Some(AnthropicBlock { block, part }) = self.open.remove(&index) else {
            return Err(wire::malformed(format!("Block {index} ended without being open.")));
        };
        let content = match part {
            AnthropicContent::Unknown => return Ok(Vec::new()),
            AnthropicContent::Text { text } => Block::Text { text },
            AnthropicContent::Thinking { raw, text, signature } => self.reasoning(raw, text, signature),
            AnthropicContent::Redacted { raw } => {
                Block::Reasoning { text: String::new(), replay: Some(self.replay(raw)) }
            }
            AnthropicContent::Call { provider_id, name, arguments, whole: input } => {
                // Some servers send the complete input with the start of the block.
                let arguments = match input {
                    input if arguments.is_empty() && !input.is_null() => input.to_string(),
                    _ if arguments.is_empty() => "{}".to_owned(),
                    _ => arguments,
                };
                Block::ToolCall(ToolCall { id: CallId::new(), provider_id, name, arguments })
            }
        };
        Ok(vec![ModelEvent::BlockFinished { block, content }])
    }

    /// Rebuilds the block exactly as the provider would have sent it in one piece: its fields in their order,
    /// with the streamed values filled in.
    fn reasoning(&self, mut raw: Value, text: String, signature: String) -> Block {
        let signed = !signature.is_empty();
        if let Some(fields) = raw.as_object_mut() {
            fields.insert("thinking".into(), text.as_str().into());
            if signed {
                fields.insert("signature".into(), signature.into());
            } else {
                fields.shift_remove("signature");
            }
        }
        let goes_back = signed || self.unsigned == UnsignedReasoning::Keep;
        Block::Reasoning { text, replay: goes_back.then(|| self.replay(raw)) }
    }

    fn replay(&self, raw: Value) -> Replay {
        Replay { provider: self.provider.0.clone(), raw }
    }

    fn end(&mut self) -> Result<Vec<ModelEvent>, ProviderError> {
        if let Some(open) = self.open.values().find(|open| !matches!(open.part, AnthropicContent::Unknown)) {
            return Err(wire::malformed(format!("The answer ended while block {} was open.", open.block)));
        }
        self.is_done = true;
        Ok(vec![ModelEvent::Finished(self.finish)])
    }

    /// Merges usage figures: later ones replace earlier ones, and fields that a later event omits keep their
    /// value.
    fn merge_usage(&mut self, usage: Option<&Value>) -> Vec<ModelEvent> {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else { return Vec::new() };
        let counts = [
            ("/input_tokens", &mut self.billed.usage.input),
            ("/cache_read_input_tokens", &mut self.billed.usage.cache_read),
            ("/cache_creation_input_tokens", &mut self.billed.usage.cache_write),
            ("/output_tokens", &mut self.billed.usage.output),
            ("/cache_creation/ephemeral_1h_input_tokens", &mut self.billed.written_for_an_hour),
        ];
        for (slot, count) in counts {
            if let Some(number) = usage.pointer(slot).and_then(wire::tokens) {
                *count = number;
            }
        }
        vec![ModelEvent::Usage(self.billed.capped())]
    }
}

impl Decode for Decoder {
    fn push(&mut self, event: SseEvent) -> Result<Vec<ModelEvent>, ProviderError> {
        if self.is_done || event.data.is_empty() {
            return Ok(Vec::new());
        }
        let data = wire::json(&event.data)?;
        let kind = data.get("type").and_then(Value::as_str).unwrap_or(&event.event);
        match kind {
            "message_start" => Ok(self.merge_usage(data.pointer("/message/usage"))),
            "content_block_start" => self.start(&data),
            "content_block_delta" => self.delta(&data),
            "content_block_stop" => self.stop(&data),
            "message_delta" => {
                if let Some(reason) = data.pointer("/delta/stop_reason").and_then(Value::as_str) {
                    self.finish = finish_reason(reason);
                }
                Ok(self.merge_usage(data.get("usage")))
            }
            "message_stop" => self.end(),
            "error" => Err(http::object_error(data.get("error").unwrap_or(&data))),
            _ => Ok(Vec::new()),
        }
    }

    fn finish(&mut self) -> Result<Vec<ModelEvent>, ProviderError> {
        if self.is_done { Ok(Vec::new()) } else { Err(wire::cut_off()) }
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

fn index_of(data: &Value) -> Result<u64, ProviderError> {
    data.get("index")
        .and_then(Value::as_u64)
        .ok_or_else(|| wire::malformed("A block event without an index."))
}

fn append<'a>(text: &mut String, addition: &'a str) -> &'a str {
    text.push_str(addition);
    addition
}

fn finish_reason(reason: &str) -> FinishReason {
    match reason {
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "refusal" => FinishReason::Refused,
        // `end_turn`, `tool_use`, `stop_sequence`, `pause_turn`, and any reason added later.
        _ => FinishReason::Stop,
    }
}
