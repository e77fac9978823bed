//! Decodes the Chat Completions stream into model events.

use super::{
    encode::REASONING_FIELDS,
    sealed::{CALL_FIELD, ReasoningDetails},
};
use crate::{
    BlockKind, FinishReason, ModelEvent, ProviderError, ProviderId,
    codec::Decode,
    http,
    sse::SseEvent,
    wire::{self, InclusiveCounts},
};
use octo_protocol::{Block, CallId, Replay, ToolCall, Usage};
use serde_json::{Value, json};

/// Decodes a stream, including streams with complete calls, without an index, or without a final `[DONE]`.
#[derive(Debug)]
pub struct Decoder {
    provider: ProviderId,
    /// Growing text or reasoning; a change of kind ends it.
    prose: Option<OpenText>,
    calls: Vec<GrowingCall>,
    details: ReasoningDetails,
    /// Index of the block for the server's sealed data, once there is any.
    sealed: Option<u32>,
    next: u32,
    finish: Option<FinishReason>,
    done: bool,
}

#[derive(Debug)]
struct OpenText {
    block: u32,
    kind: OpenTextKind,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenTextKind {
    Text,
    Reasoning(&'static str),
}

#[derive(Debug)]
struct GrowingCall {
    /// The wire's index, if given.
    index: Option<u64>,
    /// Octo's own index; `None` until the name is known.
    block: Option<u32>,
    provider_id: String,
    name: String,
    arguments: String,
    /// Data that the server sealed into the call.
    extra: Option<Value>,
}

impl Decoder {
    /// Creates the decoder of a new answer from `provider`.
    pub fn new(provider: ProviderId) -> Self {
        Self {
            provider,
            prose: None,
            calls: Vec::new(),
            details: ReasoningDetails::default(),
            sealed: None,
            next: 0,
            finish: None,
            done: false,
        }
    }

    fn choice(&mut self, choice: &Value, events: &mut Vec<ModelEvent>) -> Result<(), ProviderError> {
        // Some servers send the last piece as a complete message.
        let delta = choice.get("delta").or_else(|| choice.get("message")).unwrap_or(&Value::Null);
        let text_of = |field: &str| delta.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
        // OpenRouter sends the same reasoning under both names.
        if let Some((field, text)) =
            REASONING_FIELDS.into_iter().find_map(|field| Some((field, text_of(field)?)))
        {
            self.append_text(OpenTextKind::Reasoning(field), text, events);
        }
        if let Some(text) = text_of("content").or_else(|| text_of("refusal")) {
            self.append_text(OpenTextKind::Text, text, events);
        }
        if text_of("refusal").is_some() {
            self.finish = Some(FinishReason::Refused);
        }
        self.details.add(delta);
        if self.details.are_sealed() {
            self.begin_sealed(events);
        }
        for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.merge_call(call, events);
        }
        if let Some(reason) =
            choice.get("finish_reason").and_then(Value::as_str).filter(|reason| !reason.is_empty())
        {
            self.finish = match (reason, self.finish) {
                ("error", _) => return Err(http::object_error(choice.get("error").unwrap_or(choice))),
                ("content_filter", _) | (_, Some(FinishReason::Refused)) => Some(FinishReason::Refused),
                ("length" | "max_tokens", _) => Some(FinishReason::Length),
                _ => Some(FinishReason::Stop),
            };
        }
        Ok(())
    }

    fn append_text(&mut self, kind: OpenTextKind, text: &str, events: &mut Vec<ModelEvent>) {
        if self.prose.as_ref().is_some_and(|prose| prose.kind != kind) {
            self.end_prose(events);
        }
        let next = &mut self.next;
        let prose = self.prose.get_or_insert_with(|| {
            let block = *next;
            *next += 1;
            let kind_of_block = match kind {
                OpenTextKind::Text => BlockKind::Text,
                OpenTextKind::Reasoning(_) => BlockKind::Reasoning,
            };
            events.push(ModelEvent::BlockStarted { block, kind: kind_of_block });
            OpenText { block, kind, text: String::new() }
        });
        prose.text.push_str(text);
        events.push(ModelEvent::Delta { block: prose.block, text: text.to_owned() });
    }

    fn end_prose(&mut self, events: &mut Vec<ModelEvent>) {
        let Some(OpenText { block, kind, text }) = self.prose.take() else { return };
        let content = match kind {
            OpenTextKind::Text => Block::Text { text },
            OpenTextKind::Reasoning(field) => {
                let raw = json!({ field: text });
                Block::Reasoning { text, replay: Some(Replay { provider: self.provider.0.clone(), raw }) }
            }
        };
        events.push(ModelEvent::BlockFinished { block, content });
    }

    /// Begins the block for sealed data.
    fn begin_sealed(&mut self, events: &mut Vec<ModelEvent>) {
        if self.sealed.is_none() {
            self.sealed = Some(self.next);
            events.push(ModelEvent::BlockStarted { block: self.next, kind: BlockKind::Reasoning });
            self.next += 1;
        }
    }

    /// Merges a piece of a call: by its index where it has one, else by its id, else into the last call.
    fn merge_call(&mut self, delta: &Value, events: &mut Vec<ModelEvent>) {
        self.end_prose(events);
        let extra = delta.get(CALL_FIELD).filter(|extra| extra.is_object());
        if extra.is_some() {
            self.begin_sealed(events);
        }
        let index = delta.get("index").and_then(Value::as_u64);
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = text(delta.get("id"));
        let name = text(delta.pointer("/function/name"));
        let arguments = match delta.pointer("/function/arguments") {
            Some(Value::String(text)) => text.clone(),
            // Some servers send the arguments as an object.
            Some(object @ Value::Object(_)) => object.to_string(),
            _ => String::new(),
        };
        let position = match index {
            Some(_) => self.calls.iter().rposition(|call| {
                // Some servers number every call 0: another id under the same index is another call.
                call.index == index
                    && (id.is_empty() || call.provider_id.is_empty() || call.provider_id == id)
            }),
            None if !id.is_empty() => self.calls.iter().rposition(|call| call.provider_id == id),
            // Neither index nor id: a name begins a call, arguments alone continue the last one.
            None if !name.is_empty() => None,
            None => self.calls.len().checked_sub(1),
        };
        let position = position.unwrap_or_else(|| {
            self.calls.push(GrowingCall {
                index,
                block: None,
                provider_id: String::new(),
                name: String::new(),
                arguments: String::new(),
                extra: None,
            });
            self.calls.len() - 1
        });
        let Some(call) = self.calls.get_mut(position) else { return };
        // The first id and the first name win: some servers repeat them with every piece.
        if call.provider_id.is_empty() {
            call.provider_id = id;
        }
        if call.name.is_empty() {
            call.name = name;
        }
        call.arguments.push_str(&arguments);
        call.extra = call.extra.take().or_else(|| extra.cloned());
        match call.block {
            Some(block) if !arguments.is_empty() => events.push(ModelEvent::Delta { block, text: arguments }),
            Some(_) => {}
            None if call.name.is_empty() => {}
            None => {
                let block = self.next;
                self.next += 1;
                call.block = Some(block);
                let kind = BlockKind::ToolCall { name: call.name.clone() };
                events.push(ModelEvent::BlockStarted { block, kind });
                if !call.arguments.is_empty() {
                    events.push(ModelEvent::Delta { block, text: call.arguments.clone() });
                }
            }
        }
    }

    fn end(&mut self) -> Result<Vec<ModelEvent>, ProviderError> {
        let mut events = Vec::new();
        self.end_prose(&mut events);
        let mut calls = std::mem::take(&mut self.calls);
        let extras = calls.iter_mut().map(|call| call.extra.take()).collect();
        let sealed = std::mem::take(&mut self.details).into_kept(extras);
        // A started block is finished whatever its content: later blocks wait for it.
        if let Some(block) = self.sealed {
            let replay = sealed.map(|raw| Replay { provider: self.provider.0.clone(), raw });
            let content = Block::Reasoning { text: String::new(), replay };
            events.push(ModelEvent::BlockFinished { block, content });
        }
        for call in calls {
            let GrowingCall { block: Some(block), provider_id, name, arguments, .. } = call else {
                return Err(wire::malformed("The stream holds a call without a name."));
            };
            let arguments = if arguments.is_empty() { "{}".to_owned() } else { arguments };
            let call = ToolCall { id: CallId::new(), provider_id, name, arguments };
            events.push(ModelEvent::BlockFinished { block, content: Block::ToolCall(call) });
        }
        self.done = true;
        events.push(ModelEvent::Finished(self.finish.unwrap_or(FinishReason::Stop)));
        Ok(events)
    }
}

impl Decode for Decoder {
    fn push(&mut self, event: SseEvent) -> Result<Vec<ModelEvent>, ProviderError> {
        let text = event.data.trim();
        if self.done || text.is_empty() {
            return Ok(Vec::new());
        }
        if text == super::DONE {
            return self.end();
        }
        let data = wire::json(text)?;
        if let Some(error) = data.get("error").filter(|error| !error.is_null()) {
            return Err(http::object_error(error));
        }
        if event.event == "error" {
            return Err(http::object_error(&data));
        }
        let mut events = Vec::new();
        if let Some(choice) = data.pointer("/choices/0") {
            self.choice(choice, &mut events)?;
        }
        if let Some(usage) = data.get("usage").filter(|usage| usage.is_object()) {
            events.push(ModelEvent::Usage(usage_of(usage).into()));
        }
        Ok(events)
    }

    fn finish(&mut self) -> Result<Vec<ModelEvent>, ProviderError> {
        match (self.done, self.finish) {
            (true, _) => Ok(Vec::new()),
            (false, Some(_)) => self.end(),
            (false, None) => Err(wire::cut_off()),
        }
    }

    fn is_done(&self) -> bool {
        self.done
    }
}

/// Fields with the number of tokens written to a cache.
const CACHE_WRITE: &[&str] = &[
    "/prompt_tokens_details/cache_write_tokens",
    // Routers in front of Anthropic and of Qwen's explicit cache.
    "/prompt_tokens_details/cache_creation_input_tokens",
    "/cache_creation_input_tokens",
];

/// Makes the counts disjoint: OpenAI includes cached tokens in the prompt's.
fn usage_of(usage: &Value) -> Usage {
    let count =
        |pointers: &[&str]| pointers.iter().find_map(|pointer| usage.pointer(pointer).and_then(wire::tokens));
    wire::split_usage(InclusiveCounts {
        input: count(&["/prompt_tokens"]),
        cache_read: count(&[
            "/prompt_tokens_details/cached_tokens",
            "/prompt_cache_hit_tokens",
            "/cached_tokens",
        ]),
        cache_write: count(CACHE_WRITE),
        output: output_tokens(&count),
    })
}

/// Returns the answer's tokens including reasoning. xAI and Gemini count reasoning only in the total; the
/// excess over the other counts is reasoning, unless it may be a cache write.
fn output_tokens(count: &dyn Fn(&[&str]) -> Option<u64>) -> Option<u64> {
    let output = count(&["/completion_tokens"])?;
    let total_and_prompt = count(&["/total_tokens"]).zip(count(&["/prompt_tokens"]));
    let beyond_output =
        total_and_prompt.map_or(0, |(total, prompt)| total.saturating_sub(prompt).saturating_sub(output));
    let reasoned = match count(&["/completion_tokens_details/reasoning_tokens"]) {
        Some(reasoned) => reasoned.min(beyond_output),
        None if count(CACHE_WRITE).unwrap_or(0) > 0 => 0,
        None => beyond_output,
    };
    Some(output.saturating_add(reasoned))
}
