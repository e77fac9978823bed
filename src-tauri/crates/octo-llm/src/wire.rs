//! What the codecs have in common: what may go onto the wire, and under which ids.

use crate::{ErrorClass, ModelEvent, ModelRequest, ProviderError, sse::SseEvent};
use base64::{Engine, engine::general_purpose::STANDARD};
use octo_protocol::{BlobHash, CallId, NoticeKind, Usage};
use serde_json::Value;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// Stands for a message that has nothing a provider would take.
pub(crate) const NOTHING: &str = "(nothing)";
/// Stands for a result without text.
pub(crate) const NO_OUTPUT: &str = "(no output)";
/// The image types both protocols take.
const PICTURES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];
/// The document type all protocols take.
const DOCUMENT: &str = "application/pdf";
/// The longest id sent: OpenAI takes 40 characters.
const LONGEST_ID: usize = 40;
/// The longest tool name sent: OpenAI takes 64 characters.
const LONGEST_NAME: usize = 64;

/// The other half of a codec: events in, model events out.
pub(crate) trait Decode: Send {
    /// Takes one event of the stream. After an error nothing more may be pushed.
    fn push(&mut self, event: SseEvent) -> Result<Vec<ModelEvent>, ProviderError>;
    /// Takes the stream's end.
    fn finish(&mut self) -> Result<Vec<ModelEvent>, ProviderError>;
    /// Whether the stream's terminal event was seen and nothing of worth can follow.
    fn is_done(&self) -> bool;
}

/// More tokens than any call has: what a provider says beyond is nonsense, and is cut down to this, so that
/// sums of any number of calls stay sums.
const MOST_TOKENS: u64 = 1_000_000_000;

/// A count of tokens as a provider writes it; none for what is no count (text, a negative number, nothing).
pub(crate) fn tokens(value: &Value) -> Option<u64> {
    let whole = || {
        // Some servers write whole numbers with a fraction.
        let number = value.as_f64().filter(|number| number.is_finite() && *number >= 0.0)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates, and is not negative"
        )]
        Some(number as u64)
    };
    value.as_u64().or_else(whole).map(|count| count.min(MOST_TOKENS))
}

/// Counts of a provider that counts cached tokens within the input's.
pub(crate) struct Share {
    /// The whole input.
    pub(crate) input: Option<u64>,
    pub(crate) cache_read: Option<u64>,
    pub(crate) cache_write: Option<u64>,
    pub(crate) output: Option<u64>,
}

/// Such counts made disjoint. The whole input is believed where it is given: the parts are cut to fit it.
pub(crate) fn split_usage(share: Share) -> Usage {
    let (read, write) = (share.cache_read.unwrap_or(0), share.cache_write.unwrap_or(0));
    let whole = share.input.unwrap_or(read + write);
    let cache_read = read.min(whole);
    let cache_write = write.min(whole - cache_read);
    let input = whole - cache_read - cache_write;
    Usage { input, cache_read, cache_write, output: share.output.unwrap_or(0) }
}

/// The JSON of an event.
pub(crate) fn json(data: &str) -> Result<Value, ProviderError> {
    serde_json::from_str(data).map_err(|error| {
        ProviderError::new(
            ErrorClass::Malformed,
            format!("The stream holds something that is not JSON: {error}."),
        )
    })
}

/// An error for a stream whose events contradict the protocol.
pub(crate) fn malformed(what: impl Into<String>) -> ProviderError {
    ProviderError::new(ErrorClass::Malformed, what)
}

/// An error for a stream that ended too early.
pub(crate) fn cut_off() -> ProviderError {
    ProviderError::new(ErrorClass::CutOff, "The stream ended before the answer did.")
}

/// Whether text holds anything. Providers refuse text blocks of nothing but white space.
pub(crate) fn says_something(text: &str) -> bool {
    !text.trim().is_empty()
}

/// A notice as the model reads it. The text cannot close the wrapper.
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
    wrapped(kind, text)
}

/// The end of commands that ran in the background, as the model reads of it.
pub(crate) fn commands_ended(text: &str) -> String {
    wrapped("commands", text)
}

fn wrapped(kind: &str, text: &str) -> String {
    let text = text.replace("</octo-notice", "&lt;/octo-notice");
    format!("<octo-notice kind=\"{kind}\">\n{text}\n</octo-notice>")
}

/// An attached file as the model reads of it.
pub(crate) fn file(path: &str) -> String {
    format!("Attached file: {path}")
}

/// An attached document as the model reads of it: before its bytes where it takes them, in their place where not.
pub(crate) fn document_words(path: &str) -> String {
    format!("Attached document: {path}")
}

/// A document's bytes in base64; none for a model that takes none, and when they are gone.
pub(crate) fn document(request: &ModelRequest, blob: &BlobHash, media_type: &str) -> Option<String> {
    if !request.documents || media_type != DOCUMENT {
        return None;
    }
    let bytes = request.images.get(blob).filter(|bytes| !bytes.is_empty())?;
    Some(STANDARD.encode(bytes))
}

/// A picture ready to be sent, or the words that stand for it.
pub(crate) enum Picture {
    /// Its bytes in base64.
    Bytes(String),
    /// What is said instead.
    Words(String),
}

/// What is sent of a picture.
pub(crate) fn picture(
    images: &HashMap<BlobHash, Arc<[u8]>>,
    vision: bool,
    blob: &BlobHash,
    media_type: &str,
    name: &str,
) -> Picture {
    if !vision {
        return Picture::Words(format!("[Picture \"{name}\" left out: this model takes no pictures.]"));
    }
    if !PICTURES.contains(&media_type) {
        return Picture::Words(format!("[Picture \"{name}\" left out: {media_type} cannot be sent.]"));
    }
    match images.get(blob) {
        Some(bytes) if !bytes.is_empty() => Picture::Bytes(STANDARD.encode(bytes)),
        _ => Picture::Words(format!("[Picture \"{name}\" left out: its bytes are gone.]")),
    }
}

/// The arguments of a call if they are a JSON object, as objects are all a provider takes back.
pub(crate) fn arguments(text: &str) -> Option<Value> {
    serde_json::from_str::<Value>(text).ok().filter(Value::is_object)
}

/// The name of a called tool as providers take it back: a model may have called a name no provider accepts.
pub(crate) fn tool_name(name: &str) -> String {
    let allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    let name: String = name
        .chars()
        .take(LONGEST_NAME)
        .map(|character| if allowed(character) { character } else { '_' })
        .collect();
    if name.is_empty() { "unknown".to_owned() } else { name }
}

/// The ids calls go under. A provider's own id is kept where it can stand; one that is empty, too long, not
/// plain, or used by an earlier call gives way to ours. What id a call gets depends only on what came before.
#[derive(Default)]
pub(crate) struct CallIds {
    by_call: HashMap<CallId, String>,
    used: HashSet<String>,
}

impl CallIds {
    /// The id of a call, when the call is met.
    pub(crate) fn of_call(&mut self, call: CallId, provider_id: &str) -> String {
        let plain = |id: &str| {
            !id.is_empty()
                && id.len() <= LONGEST_ID
                && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        };
        let id = if plain(provider_id) && !self.used.contains(provider_id) {
            provider_id.to_owned()
        } else {
            format!("octo_{call}")
        };
        self.used.insert(id.clone());
        self.by_call.insert(call, id.clone());
        id
    }

    /// The id of the call a result answers.
    pub(crate) fn of_result(&self, call: CallId, provider_id: &str) -> String {
        self.by_call.get(&call).cloned().unwrap_or_else(|| provider_id.to_owned())
    }
}
