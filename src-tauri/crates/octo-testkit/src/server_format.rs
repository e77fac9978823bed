//! What distinguishes one wire format from another on the server's side, in one place for each.

use crate::{
    RecordedRequest, ServedRequest, anthropic, bedrock,
    cache::{CachePolicy, Segment},
    openai_chat, openai_responses,
    reply::{ReplyEnd, ReplyFrame, ReplyPart},
};
use octo_protocol::Protocol;
use serde_json::Value;

/// A wire format as the server speaks it.
pub(crate) struct ServerFormat {
    /// Returns the model in a path of its requests, empty if the body names it; `None` for any other path.
    pub(crate) model_in_path: fn(&str) -> Option<String>,
    /// Name of the header that carries the key, and the text before the key.
    pub(crate) key_header: (&'static str, &'static str),
    /// Returns what its requests name as the model.
    pub(crate) model: fn(&RecordedRequest) -> &str,
    /// Returns the text of the system prompt.
    pub(crate) system: fn(&RecordedRequest) -> String,
    /// Returns the system prompt in the form that must not change.
    pub(crate) frozen_system: fn(&RecordedRequest) -> Value,
    /// Field of the conversation.
    pub(crate) messages: &'static str,
    /// JSON pointer to the tools.
    pub(crate) tools: &'static str,
    /// How the model's messages are counted.
    pub(crate) answers: AnswerCount,
    /// Refuses requests that break a rule of this format alone.
    pub(crate) check: fn(&RecordedRequest) -> Result<(), String>,
    /// Refuses conversations that break a rule of this format.
    pub(crate) check_messages: fn(&[Value]) -> Result<(), String>,
    /// Returns what the cache sees.
    pub(crate) segments: fn(&Value) -> Vec<Segment>,
    /// Returns the vendor's cache policy.
    pub(crate) policy: fn() -> CachePolicy,
    /// Content type of a stream.
    pub(crate) content_type: &'static str,
    /// Returns an error's body, from its name and its message.
    pub(crate) error: fn(&str, &str) -> Value,
    /// Header that carries an error's name.
    pub(crate) error_header: Option<&'static str>,
    /// Renders a message's stream.
    pub(crate) render: fn(&RenderedReply<'_>) -> Vec<ReplyFrame>,
}

/// How the model's messages are counted.
#[derive(Clone, Copy)]
pub(crate) enum AnswerCount {
    /// Each counts.
    Each,
    /// Consecutive ones count as one.
    Runs,
}

/// A reply to render.
pub(crate) struct RenderedReply<'a> {
    /// The request's number, which makes the reply's ids unique.
    pub(crate) number: usize,
    pub(crate) model: &'a str,
    pub(crate) parts: &'a [ReplyPart],
    pub(crate) end: &'a ReplyEnd,
    /// Number of pieces of each text.
    pub(crate) chunks: usize,
    pub(crate) served: &'a ServedRequest,
}

/// Returns the wire format of a protocol.
pub(crate) fn server_format(protocol: Protocol) -> &'static ServerFormat {
    match protocol {
        Protocol::Anthropic => &anthropic::FORMAT,
        Protocol::OpenaiChat => &openai_chat::FORMAT,
        Protocol::OpenaiResponses => &openai_responses::FORMAT,
        Protocol::Bedrock => &bedrock::FORMAT,
    }
}

/// Returns the model in a path, for a format whose requests go to one path and name the model in the body.
pub(crate) fn at_path(path: &str, prefix: &str) -> Option<String> {
    (path == prefix).then(String::new)
}

/// Refuses requests that ask for no stream, for a format whose body says so.
pub(crate) fn must_stream(request: &RecordedRequest) -> Result<(), String> {
    if request.body["stream"] == true { Ok(()) } else { Err("this server only streams".to_owned()) }
}
