//! Shared by the codecs: the content and the ids allowed on the wire.

use crate::{ErrorClass, ModelRequest, ProviderError};
use base64::{Engine, engine::general_purpose::STANDARD};
use octo_protocol::{BlobHash, Block, CallId, Message, NoticeKind, Usage};
use reqwest::Url;
use serde_json::Value;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// Text that replaces a message without any content a provider accepts.
pub(crate) const EMPTY_MESSAGE: &str = "(nothing)";
/// Text that replaces a result without text.
pub(crate) const NO_OUTPUT: &str = "(no output)";
/// Image types that all protocols accept.
const PICTURE_TYPES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];
/// Document type that all protocols accept.
const DOCUMENT_TYPE: &str = "application/pdf";
/// Length of the longest id sent: OpenAI takes 40 characters.
const MAX_ID: usize = 40;
/// Length of the longest tool name sent: OpenAI takes 64 characters.
const MAX_NAME: usize = 64;

/// Upper bound of tokens in any call: a larger figure from a provider is nonsense and is capped to this, so
/// sums over any number of calls do not overflow.
const MAX_TOKENS: u64 = 1_000_000_000;

/// Reads a token count as a provider writes it; `None` if the value is not a count (text, a negative number,
/// nothing).
pub(crate) fn tokens(value: &Value) -> Option<u64> {
    let from_float = || {
        // Some servers write whole numbers with a fraction.
        let number = value.as_f64().filter(|number| number.is_finite() && *number >= 0.0)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates, and is not negative"
        )]
        Some(number as u64)
    };
    value.as_u64().or_else(from_float).map(|count| count.min(MAX_TOKENS))
}

/// Counts of a provider that includes cached tokens in the input's.
pub(crate) struct InclusiveCounts {
    /// The whole input.
    pub(crate) input: Option<u64>,
    pub(crate) cache_read: Option<u64>,
    pub(crate) cache_write: Option<u64>,
    pub(crate) output: Option<u64>,
}

/// Makes such counts disjoint. The whole input is trusted if given: the parts are cut to fit it.
pub(crate) fn split_usage(counts: InclusiveCounts) -> Usage {
    let (read, write) = (counts.cache_read.unwrap_or(0), counts.cache_write.unwrap_or(0));
    let total = counts.input.unwrap_or(read + write);
    let cache_read = read.min(total);
    let cache_write = write.min(total - cache_read);
    let input = total - cache_read - cache_write;
    Usage { input, cache_read, cache_write, output: counts.output.unwrap_or(0) }
}

/// Returns an address below the base address.
pub(crate) fn join_path(base: &Url, path: &str) -> String {
    format!("{}/{path}", base.as_str().trim_end_matches('/'))
}

/// Parses the JSON of an event.
pub(crate) fn json(data: &str) -> Result<Value, ProviderError> {
    serde_json::from_str(data).map_err(|error| {
        ProviderError::new(
            ErrorClass::Malformed,
            format!("The stream holds something that is not JSON: {error}."),
        )
    })
}

/// Returns the error for a stream whose events contradict the protocol.
pub(crate) fn malformed(reason: impl Into<String>) -> ProviderError {
    ProviderError::new(ErrorClass::Malformed, reason)
}

/// Returns the error for a stream that ended too early.
pub(crate) fn cut_off() -> ProviderError {
    ProviderError::new(ErrorClass::CutOff, "The stream ended before the answer did.")
}

/// Returns whether text is more than white space. Providers refuse text blocks without content.
pub(crate) fn has_content(text: &str) -> bool {
    !text.trim().is_empty()
}

/// Returns a notice in the form the model reads. The text cannot close the wrapper.
pub(crate) fn notice(kind: NoticeKind, text: &str) -> String {
    let kind = match kind {
        NoticeKind::Context => "context",
        NoticeKind::Todos => "todos",
        NoticeKind::Truncation => "truncation",
        NoticeKind::Stopped => "stopped",
        NoticeKind::Hook => "hook",
        NoticeKind::Interrupted => "interrupted",
        NoticeKind::Loop => "loop",
        NoticeKind::Compaction => "compaction",
        NoticeKind::Skill => "skill",
        NoticeKind::NewSkills => "new-skills",
        NoticeKind::Fork => "fork",
    };
    wrap(kind, text)
}

/// Returns the report of finished background commands in the form the model reads.
pub(crate) fn commands_ended(text: &str) -> String {
    wrap("commands", text)
}

fn wrap(kind: &str, text: &str) -> String {
    let text = text.replace("</octo-notice", "&lt;/octo-notice");
    format!("<octo-notice kind=\"{kind}\">\n{text}\n</octo-notice>")
}

/// Returns the mention of an attached file in the form the model reads.
pub(crate) fn file_mention(path: &str) -> String {
    format!("Attached file: {path}")
}

/// Returns the mention of an attached document in the form the model reads: before its bytes if the model takes
/// them, otherwise instead of them.
pub(crate) fn document_mention(path: &str) -> String {
    format!("Attached document: {path}")
}

/// Returns the content of a message in the order that Anthropic's models require: results first, since they must
/// open the message that answers calls, then the other blocks, each document after its mention. A message without
/// any content but reasoning gets [`EMPTY_MESSAGE`] as well: it could not be the last message, and the sent bytes
/// must not depend on later messages.
pub(crate) fn results_first(
    message: &Message,
    text: fn(&str) -> Value,
    is_reasoning: fn(&Value) -> bool,
    mut encode: impl FnMut(&Block) -> Option<Value>,
) -> Vec<Value> {
    let mut content: Vec<Value> = Vec::with_capacity(message.blocks.len());
    let is_result = |block: &&Block| matches!(block, Block::ToolResult(_));
    for block in message.blocks.iter().filter(is_result) {
        content.extend(encode(block));
    }
    for block in message.blocks.iter().filter(|block| !is_result(block)) {
        if let Block::Document { path, .. } = block {
            content.push(text(&document_mention(path)));
        }
        content.extend(encode(block));
    }
    if content.iter().all(is_reasoning) {
        content.push(text(EMPTY_MESSAGE));
    }
    content
}

/// Returns a document's bytes in base64; `None` if the model takes none, or the bytes are gone.
pub(crate) fn document(request: &ModelRequest, blob: &BlobHash, media_type: &str) -> Option<String> {
    if !request.documents || media_type != DOCUMENT_TYPE {
        return None;
    }
    let bytes = request.images.get(blob).filter(|bytes| !bytes.is_empty())?;
    Some(STANDARD.encode(bytes))
}

/// A picture ready to send, or its text substitute.
pub(crate) enum WirePicture {
    /// Bytes in base64.
    Bytes(String),
    /// Text sent in its place.
    Words(String),
}

/// Returns the form in which a picture is sent.
pub(crate) fn wire_picture(
    images: &HashMap<BlobHash, Arc<[u8]>>,
    vision: bool,
    blob: &BlobHash,
    media_type: &str,
    name: &str,
) -> WirePicture {
    if !vision {
        return WirePicture::Words(format!("[Picture \"{name}\" left out: this model takes no pictures.]"));
    }
    if !PICTURE_TYPES.contains(&media_type) {
        return WirePicture::Words(format!("[Picture \"{name}\" left out: {media_type} cannot be sent.]"));
    }
    match images.get(blob) {
        Some(bytes) if !bytes.is_empty() => WirePicture::Bytes(STANDARD.encode(bytes)),
        _ => WirePicture::Words(format!("[Picture \"{name}\" left out: its bytes are gone.]")),
    }
}

/// Returns the arguments of a call if they are a JSON object, since providers accept only objects back.
pub(crate) fn arguments(text: &str) -> Option<Value> {
    serde_json::from_str::<Value>(text).ok().filter(Value::is_object)
}

/// Returns the name of a called tool in a form providers accept back: a model may have called a name no
/// provider accepts.
pub(crate) fn tool_name(name: &str) -> String {
    let allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    let name: String = name
        .chars()
        .take(MAX_NAME)
        .map(|character| if allowed(character) { character } else { '_' })
        .collect();
    if name.is_empty() { "unknown".to_owned() } else { name }
}

/// Ids under which calls are sent. A provider's own id is kept if usable; an id that is empty, too long, not
/// plain, or used by an earlier call is replaced by Octo's. The id of a call depends only on earlier messages.
#[derive(Default)]
pub(crate) struct CallIds {
    by_call: HashMap<CallId, String>,
    used: HashSet<String>,
}

impl CallIds {
    /// Assigns the id of a call when it is first encountered.
    pub(crate) fn of_call(&mut self, call: CallId, provider_id: &str) -> String {
        let is_usable = |id: &str| {
            !id.is_empty()
                && id.len() <= MAX_ID
                && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        };
        let id = if is_usable(provider_id) && !self.used.contains(provider_id) {
            provider_id.to_owned()
        } else {
            format!("octo_{call}")
        };
        self.used.insert(id.clone());
        self.by_call.insert(call, id.clone());
        id
    }

    /// Returns the id of the call that a result answers.
    pub(crate) fn of_result(&self, call: CallId, provider_id: &str) -> String {
        self.by_call.get(&call).cloned().unwrap_or_else(|| provider_id.to_owned())
    }
}
