//! A request as the server saw it.

use octo_protocol::Protocol;
use serde_json::Value;

/// A request as the server saw it.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    /// Its number, from 0, over all requests of the server.
    pub number: usize,
    /// The protocol, by its path.
    pub protocol: Protocol,
    /// The path.
    pub path: String,
    /// Its headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body's bytes.
    pub raw: Vec<u8>,
    /// The body.
    pub body: Value,
}

/// A tool's result as the model saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenResult {
    /// The wire id of the call.
    pub id: String,
    /// Its text.
    pub text: String,
    /// Whether it was marked as failed (Anthropic only).
    pub is_error: bool,
}

impl RecordedRequest {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The model asked for.
    pub fn model(&self) -> &str {
        self.body.get("model").and_then(Value::as_str).unwrap_or_default()
    }

    /// The system prompt.
    pub fn system(&self) -> String {
        match self.protocol {
            Protocol::Anthropic => self.body.get("system").map(text_of).unwrap_or_default(),
            Protocol::OpenaiChat => self
                .all_messages()
                .iter()
                .filter(|message| role(message) == "system")
                .map(|message| text_of(&message["content"]))
                .collect(),
        }
    }

    fn all_messages(&self) -> &[Value] {
        self.body.get("messages").and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// The conversation without the system prompt.
    pub fn messages(&self) -> &[Value] {
        let messages = self.all_messages();
        let system = messages.iter().take_while(|message| role(message) == "system").count();
        messages.get(system..).unwrap_or_default()
    }

    /// How many messages of the model the conversation holds.
    pub fn answers(&self) -> usize {
        self.messages().iter().filter(|message| role(message) == "assistant").count()
    }

    /// What the person's side said after the model's last message (the whole conversation, if it never spoke), results left out.
    pub fn user_text(&self) -> String {
        let texts = self.since_answer().iter().filter(|message| role(message) == "user");
        texts.map(|message| text_of(&message["content"])).collect::<Vec<_>>().join("\n")
    }

    /// The results given after the model's last message.
    pub fn results(&self) -> Vec<SeenResult> {
        results(self.since_answer())
    }

    /// All results of the conversation.
    pub fn all_results(&self) -> Vec<SeenResult> {
        results(self.messages())
    }

    /// The names of the tools, in order.
    pub fn tools(&self) -> Vec<String> {
        let tools = self.body.get("tools").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let name = |tool: &Value| {
            tool.get("name")
                .or_else(|| tool.pointer("/function/name"))
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        tools.iter().filter_map(name).collect()
    }

    fn since_answer(&self) -> &[Value] {
        let messages = self.messages();
        let start =
            messages.iter().rposition(|message| role(message) == "assistant").map_or(0, |last| last + 1);
        messages.get(start..).unwrap_or_default()
    }
}

pub(crate) fn role(message: &Value) -> &str {
    message.get("role").and_then(Value::as_str).unwrap_or_default()
}

/// The text of a content: a string, or the text blocks of an array.
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

fn results(messages: &[Value]) -> Vec<SeenResult> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut results = Vec::new();
    for message in messages {
        if role(message) == "tool" {
            results.push(SeenResult {
                id: text(message.get("tool_call_id")),
                text: text_of(&message["content"]),
                is_error: false,
            });
        }
        for block in message.get("content").and_then(Value::as_array).into_iter().flatten() {
            if block.get("type").and_then(Value::as_str) == Some("tool_result") {
                results.push(SeenResult {
                    id: text(block.get("tool_use_id")),
                    text: text_of(&block["content"]),
                    is_error: block.get("is_error").and_then(Value::as_bool).unwrap_or(false),
                });
            }
        }
    }
    results
}
