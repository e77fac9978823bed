//! A request as the server received it.

use crate::server_format::{AnswerCount, server_format};
use octo_protocol::Protocol;
use serde_json::Value;

/// A request as the server received it.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    /// The request's number, from 0, over all requests of the server.
    pub number: usize,
    /// The protocol, derived from the path.
    pub protocol: Protocol,
    /// The path.
    pub path: String,
    /// The model in the path (Bedrock); empty otherwise.
    pub model_in_path: String,
    /// The headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body's bytes.
    pub raw: Vec<u8>,
    /// The body.
    pub body: Value,
}

/// A tool's result as the model received it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedResult {
    /// The wire id of the call.
    pub id: String,
    /// The result's text.
    pub text: String,
    /// Whether it was marked as failed (Anthropic and Bedrock only).
    pub is_error: bool,
}

impl RecordedRequest {
    /// Returns a header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(header_name, _)| header_name.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// Returns the requested model.
    pub fn model(&self) -> &str {
        (server_format(self.protocol).model)(self)
    }

    /// Returns the system prompt.
    pub fn system(&self) -> String {
        (server_format(self.protocol).system)(self)
    }

    /// Returns the text of the system messages, for a format that has them among the conversation.
    pub(crate) fn system_messages(&self) -> String {
        let system = self.all_messages().iter().filter(|message| is_system(message));
        system.map(|message| text_of(&message["content"])).collect()
    }

    fn all_messages(&self) -> &[Value] {
        let messages = self.body.get(server_format(self.protocol).messages);
        messages.and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Returns the conversation without the system prompt: messages, or items (OpenAI Responses).
    pub fn messages(&self) -> &[Value] {
        let messages = self.all_messages();
        let system = messages.iter().take_while(|message| is_system(message)).count();
        messages.get(system..).unwrap_or_default()
    }

    /// Returns the number of model messages in the conversation; consecutive items of the model count as one
    /// (OpenAI Responses).
    pub fn answers(&self) -> usize {
        let by_model = |message: &Value| role(message) == "assistant";
        let messages = self.messages();
        match server_format(self.protocol).answers {
            AnswerCount::Each => messages.iter().filter(|message| by_model(message)).count(),
            AnswerCount::Runs => messages
                .chunk_by(|a, b| by_model(a) == by_model(b))
                .filter(|run| run.first().is_some_and(by_model))
                .count(),
        }
    }

    /// Returns the user-side text after the model's last message (of the whole conversation if the model has
    /// not answered), without results.
    pub fn user_text(&self) -> String {
        let texts = self.since_answer().iter().filter(|message| role(message) == "user");
        texts.map(|message| text_of(&message["content"])).collect::<Vec<_>>().join("\n")
    }

    /// Returns the results after the model's last message.
    pub fn results(&self) -> Vec<RecordedResult> {
        results(self.since_answer())
    }

    /// Returns all results of the conversation.
    pub fn all_results(&self) -> Vec<RecordedResult> {
        results(self.messages())
    }

    /// Returns the names of the tools, in order.
    pub fn tools(&self) -> Vec<String> {
        let tools = self.tool_list().and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let name = |tool: &Value| {
            tool.get("name")
                .or_else(|| tool.pointer("/function/name"))
                .or_else(|| tool.pointer("/toolSpec/name"))
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        tools.iter().filter_map(name).collect()
    }

    /// Returns the tools as they were sent.
    pub(crate) fn tool_list(&self) -> Option<&Value> {
        self.body.pointer(server_format(self.protocol).tools)
    }

    fn since_answer(&self) -> &[Value] {
        let messages = self.messages();
        let start =
            messages.iter().rposition(|message| role(message) == "assistant").map_or(0, |index| index + 1);
        messages.get(start..).unwrap_or_default()
    }
}

/// Returns the model that the body names.
pub(crate) fn model_in_body(request: &RecordedRequest) -> &str {
    request.body.get("model").and_then(Value::as_str).unwrap_or_default()
}

/// Returns a message's role; an item without one (OpenAI Responses) gets the role of the side that produces its
/// kind.
pub(crate) fn role(message: &Value) -> &str {
    match message.get("role").and_then(Value::as_str) {
        Some(role) => role,
        None => match message.get("type").and_then(Value::as_str) {
            Some("function_call" | "reasoning") => "assistant",
            Some("function_call_output") => "tool",
            _ => "",
        },
    }
}

fn is_system(message: &Value) -> bool {
    matches!(role(message), "system" | "developer")
}

/// Returns the text of a content: a string, or the text blocks of an array.
pub(crate) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<&str> =
                blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str)).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

fn results(messages: &[Value]) -> Vec<RecordedResult> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut results = Vec::new();
    for message in messages {
        if role(message) == "tool" {
            results.push(RecordedResult {
                id: text(message.get("tool_call_id").or_else(|| message.get("call_id"))),
                text: text_of(
                    message.get("content").or_else(|| message.get("output")).unwrap_or(&Value::Null),
                ),
                is_error: false,
            });
        }
        for block in message.get("content").and_then(Value::as_array).into_iter().flatten() {
            if block.get("type").and_then(Value::as_str) == Some("tool_result") {
                results.push(RecordedResult {
                    id: text(block.get("tool_use_id")),
                    text: text_of(&block["content"]),
                    is_error: block.get("is_error").and_then(Value::as_bool).unwrap_or(false),
                });
            }
            if let Some(result) = block.get("toolResult") {
                results.push(RecordedResult {
                    id: text(result.get("toolUseId")),
                    text: text_of(&result["content"]),
                    is_error: result.get("status").and_then(Value::as_str) == Some("error"),
                });
            }
        }
    }
    results
}
