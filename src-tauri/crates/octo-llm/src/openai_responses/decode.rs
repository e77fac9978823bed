//! Decodes the Responses stream into model events.
//!
//! One item of the answer is one block, regardless of its parts. The complete text in an item's last event
//! counts only where it continues the streamed text: shown text is never taken back.

use crate::{
    BlockKind, ErrorClass, FinishReason, ModelEvent, ProviderError, ProviderId,
    codec::Decode,
    http,
    sse::SseEvent,
    wire::{self, InclusiveCounts},
};
use octo_protocol::{Block, CallId, Replay, ToolCall, Usage};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};

/// Separator between the parts of one item.
const PART_BREAK: &str = "\n\n";

/// Decodes a stream. It skips events and kinds of item that it does not know.
#[derive(Debug)]
pub struct Decoder {
    provider: ProviderId,
    /// Open items by the wire's index.
    open: BTreeMap<u64, ResponsesItem>,
    /// Indexes of finished items.
    finished: HashSet<u64>,
    next: u32,
    refused: bool,
    done: bool,
}

#[derive(Debug)]
struct ResponsesItem {
    /// Octo's own index; skipped items have none.
    block: u32,
    item: ResponsesContent,
    text: String,
}

#[derive(Debug)]
enum ResponsesContent {
    Message,
    Reasoning,
    Call { provider_id: String, name: String },
    Unknown,
}

impl Decoder {
    /// Creates the decoder of a new answer from `provider`.
    pub fn new(provider: ProviderId) -> Self {
        Self {
            provider,
            open: BTreeMap::new(),
            finished: HashSet::new(),
            next: 0,
            refused: false,
            done: false,
        }
    }

    fn start(&mut self, data: &Value) -> Result<Vec<ModelEvent>, ProviderError> {
        let index = index_of(data)?;
        if self.open.contains_key(&index) || self.finished.contains(&index) {
            return Err(wire::malformed(format!("Item {index} began twice.")));
        }
        let item = data.get("item").unwrap_or(&Value::Null);
        let text_of = |field: &str| item.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (item, kind) = match item.get("type").and_then(Value::as_str) {
            Some("message") => (ResponsesContent::Message, BlockKind::Text),
            Some("reasoning") => (ResponsesContent::Reasoning, BlockKind::Reasoning),
            Some("function_call") => {
                let name = text_of("name");
                if name.is_empty() {
                    return Err(wire::malformed("The stream holds a call without a name."));
                }
                let item = ResponsesContent::Call { provider_id: text_of("call_id"), name: name.clone() };
                (item, BlockKind::ToolCall { name })
            }
            _ => {
                self.open.insert(
                    index,
                    ResponsesItem { block: self.next, item: ResponsesContent::Unknown, text: String::new() },
                );
                return Ok(Vec::new());
            }
        };
        let block = self.next;
        self.next += 1;
        self.open.insert(index, ResponsesItem { block, item, text: String::new() });
        Ok(vec![ModelEvent::BlockStarted { block, kind }])
    }

    fn append_delta(&mut self, data: &Value) -> Result<Vec<ModelEvent>, ProviderError> {
        let index = index_of(data)?;
        let Some(open) = self.open.get_mut(&index) else {
            return Err(wire::malformed(format!("Item {index} grew without being open.")));
        };
        Ok(open.append(data.get("delta").and_then(Value::as_str).unwrap_or_default()))
    }

    /// Begins a further part of an item.
    fn next_part(&mut self, data: &Value) -> Result<Vec<ModelEvent>, ProviderError> {
        let index = index_of(data)?;
        match self.open.get_mut(&index) {
            Some(open) if !open.text.is_empty() && !open.text.ends_with(PART_BREAK) => {
                Ok(open.append(PART_BREAK))
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Finishes an item. If the server never announced its start, this begins it.
    fn stop(&mut self, data: &Value) -> Result<Vec<ModelEvent>, ProviderError> {
        let index = index_of(data)?;
        let mut events = Vec::new();
        if !self.open.contains_key(&index) {
            events = self.start(data)?;
        }
        let Some(mut open) = self.open.remove(&index) else { return Ok(events) };
        self.finished.insert(index);
        let item = data.get("item").unwrap_or(&Value::Null);
        let full = full_text(item);
        if let Some(remaining) = full.strip_prefix(&open.text) {
            events.extend(open.append(remaining));
        }
        if is_refusal(item) {
            self.refused = true;
        }
        events.extend(self.block(open, item));
        Ok(events)
    }

    fn block(&self, open: ResponsesItem, item: &Value) -> Option<ModelEvent> {
        let content = match open.item {
            ResponsesContent::Unknown => return None,
            ResponsesContent::Message => Block::Text { text: open.text },
            ResponsesContent::Reasoning => {
                let raw = item.is_object().then(|| item.clone());
                let replay = raw.map(|raw| Replay { provider: self.provider.0.clone(), raw });
                Block::Reasoning { text: open.text, replay }
            }
            ResponsesContent::Call { provider_id, name } => {
                let arguments = if open.text.is_empty() { "{}".to_owned() } else { open.text };
                Block::ToolCall(ToolCall { id: CallId::new(), provider_id, name, arguments })
            }
        };
        Some(ModelEvent::BlockFinished { block: open.block, content })
    }

    fn complete(&mut self, data: &Value) -> Result<Vec<ModelEvent>, ProviderError> {
        if let Some((index, _)) =
            self.open.iter().find(|(_, open)| !matches!(open.item, ResponsesContent::Unknown))
        {
            return Err(wire::malformed(format!("The answer ended while item {index} was open.")));
        }
        let finish = if self.refused { FinishReason::Refused } else { FinishReason::Stop };
        Ok(self.end(data, finish, Vec::new()))
    }

    /// Ends unfinished items with their current content: some servers do not end them.
    fn incomplete(&mut self, data: &Value) -> Result<Vec<ModelEvent>, ProviderError> {
        let finish = match data.pointer("/response/incomplete_details/reason").and_then(Value::as_str) {
            Some("content_filter") => FinishReason::Refused,
            _ => FinishReason::Length,
        };
        let open = std::mem::take(&mut self.open);
        let events = open.into_values().filter_map(|open| self.block(open, &Value::Null)).collect();
        Ok(self.end(data, finish, events))
    }

    fn end(&mut self, data: &Value, finish: FinishReason, mut events: Vec<ModelEvent>) -> Vec<ModelEvent> {
        if let Some(usage) = data.pointer("/response/usage").filter(|usage| usage.is_object()) {
            events.push(ModelEvent::Usage(usage_of(usage).into()));
        }
        self.done = true;
        events.push(ModelEvent::Finished(finish));
        events
    }
}

impl ResponsesItem {
    fn append(&mut self, delta: &str) -> Vec<ModelEvent> {
        if delta.is_empty() || matches!(self.item, ResponsesContent::Unknown) {
            return Vec::new();
        }
        self.text.push_str(delta);
        vec![ModelEvent::Delta { block: self.block, text: delta.to_owned() }]
    }
}

impl Decode for Decoder {
    fn push(&mut self, event: SseEvent) -> Result<Vec<ModelEvent>, ProviderError> {
        let text = event.data.trim();
        // Some servers end this stream in the same way as Chat Completions.
        if self.done || text.is_empty() || text == crate::openai_chat::DONE {
            return Ok(Vec::new());
        }
        let data = wire::json(text)?;
        match data.get("type").and_then(Value::as_str).unwrap_or(&event.event) {
            "response.output_item.added" => self.start(&data),
            "response.output_text.delta"
            | "response.refusal.delta"
            | "response.function_call_arguments.delta"
            | "response.reasoning_summary_text.delta"
            | "response.reasoning_text.delta" => self.append_delta(&data),
            "response.content_part.added" | "response.reasoning_summary_part.added" => self.next_part(&data),
            "response.output_item.done" => self.stop(&data),
            "response.completed" => self.complete(&data),
            "response.incomplete" => self.incomplete(&data),
            "response.failed" => Err(match data.pointer("/response/error").filter(has_text) {
                Some(error) => http::object_error(error),
                None => ProviderError::new(ErrorClass::Overloaded, "The server failed and did not say why."),
            }),
            "error" => Err(http::object_error(data.get("error").filter(has_text).unwrap_or(&data))),
            _ => match data.get("error").filter(has_text) {
                Some(error) => Err(http::object_error(error)),
                None => Ok(Vec::new()),
            },
        }
    }

    fn finish(&mut self) -> Result<Vec<ModelEvent>, ProviderError> {
        if self.done { Ok(Vec::new()) } else { Err(wire::cut_off()) }
    }

    fn is_done(&self) -> bool {
        self.done
    }
}

fn has_text(value: &&Value) -> bool {
    !value.is_null()
}

fn index_of(data: &Value) -> Result<u64, ProviderError> {
    data.get("output_index").and_then(Value::as_u64).ok_or_else(|| {
        ProviderError::new(ErrorClass::Malformed, "An event of an item without the item's index.")
    })
}

/// Returns all of an item's text, in the same form as its parts were streamed.
fn full_text(item: &Value) -> String {
    if let Some(arguments) = item.get("arguments").and_then(Value::as_str) {
        return arguments.to_owned();
    }
    let parts = ["summary", "content"].into_iter().filter_map(|field| item.get(field)?.as_array()).flatten();
    let texts = parts.filter_map(|part| {
        part.get("text")
            .or_else(|| part.get("refusal"))
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    });
    texts.collect::<Vec<_>>().join(PART_BREAK)
}

fn is_refusal(item: &Value) -> bool {
    let parts = item.get("content").and_then(Value::as_array).into_iter().flatten();
    parts.into_iter().any(|part| part.get("type").and_then(Value::as_str) == Some("refusal"))
}

/// Makes the counts disjoint: the server includes cached tokens in the input's.
fn usage_of(usage: &Value) -> Usage {
    let count = |pointer: &str| usage.pointer(pointer).and_then(wire::tokens);
    wire::split_usage(InclusiveCounts {
        input: count("/input_tokens"),
        cache_read: count("/input_tokens_details/cached_tokens"),
        cache_write: count("/input_tokens_details/cache_write_tokens"),
        output: count("/output_tokens"),
    })
}
