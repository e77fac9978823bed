//! The JSON file of an exported session, for another Octo or another program.

use crate::{ExportedSession, redaction::Redaction};
use base64::{Engine, engine::general_purpose::STANDARD};
use octo_protocol::{ApiError, BlobHash, Block, CallView, Message, MessageId, Millis, Source, TurnView};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The format named in the file.
pub(crate) const FORMAT: &str = "octo-session";
/// The newest format version this Octo reads and writes.
pub(crate) const VERSION: u64 = 1;
/// The picture types a model and a page can show.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The session head in a file.
#[derive(Serialize, Deserialize)]
pub(crate) struct SessionHead {
    pub title: String,
    pub folder: String,
    /// A profile's name; read as text, because this Octo may not have it.
    pub profile: String,
    pub source: Value,
    #[serde(default)]
    pub model: Option<String>,
    pub created_at: Millis,
    pub updated_at: Millis,
}

/// A picture in a file.
#[derive(Serialize, Deserialize)]
pub(crate) struct FilePicture {
    pub blob: BlobHash,
    pub base64: String,
}

/// The content of a file, as read.
#[derive(Deserialize)]
pub(crate) struct FileContent {
    pub session: SessionHead,
    pub turns: Vec<TurnView>,
    pub messages: Vec<Message>,
    /// Read individually: a call that cannot be shown is left out.
    #[serde(default)]
    pub calls: Vec<Value>,
    #[serde(default)]
    pub context: Vec<MessageId>,
    #[serde(default)]
    pub pictures: Vec<FilePicture>,
}

/// The content of a file, as written; the pictures are added later.
#[derive(Serialize)]
struct ExportedContent<'a> {
    session: SessionHead,
    turns: &'a [TurnView],
    messages: Vec<Message>,
    calls: &'a [CallView],
    context: &'a [MessageId],
}

/// Builds the file of a session, without secrets.
///
/// # Errors
/// `internal` if a value cannot be written as JSON.
pub(crate) fn to_json(session: &ExportedSession, redaction: &mut Redaction) -> Result<Vec<u8>, ApiError> {
    let info = &session.content.info;
    let broken = |error: serde_json::Error| ApiError::new("internal").detail(error);
    let content = ExportedContent {
        session: SessionHead {
            title: info.title.clone(),
            folder: info.folder.clone(),
            profile: info.profile.to_string(),
            source: serde_json::to_value(info.source).map_err(broken)?,
            model: session.model.clone(),
            created_at: info.created_at,
            updated_at: info.updated_at,
        },
        turns: &session.content.page.turns,
        messages: session.content.page.messages.iter().map(to_portable).collect(),
        calls: &session.content.page.calls,
        context: &session.content.context,
    };
    let mut content = serde_json::to_value(content).map_err(broken)?;
    redaction.redact_value(&mut content);
    let mut file = json!({ "format": FORMAT, "version": VERSION, "octo": env!("CARGO_PKG_VERSION") });
    if let (Value::Object(file), Value::Object(content)) = (&mut file, content) {
        file.extend(content);
        let mut pictures: Vec<FilePicture> = session
            .pictures
            .iter()
            .filter(|(_, bytes)| picture_type(bytes).is_some())
            .map(|(blob, bytes)| FilePicture { blob: blob.clone(), base64: STANDARD.encode(bytes) })
            .collect();
        pictures.sort_by(|a, b| a.blob.cmp(&b.blob));
        file.insert("pictures".to_owned(), serde_json::to_value(pictures).map_err(broken)?);
    }
    serde_json::to_vec_pretty(&file).map_err(broken)
}

/// Returns a message without the parts specific to one provider or one machine.
fn to_portable(message: &Message) -> Message {
    let mut message = message.clone();
    message.meta.model = None;
    for block in &mut message.blocks {
        if let Block::Reasoning { replay, .. } = block {
            *replay = None;
        }
    }
    message
}

/// Returns the media type of bytes that are a picture.
pub(crate) fn picture_type(bytes: &[u8]) -> Option<&'static str> {
    let found = octo_workspace::media_type(bytes);
    PICTURES.into_iter().find(|picture| *picture == found)
}

/// Returns the source of a session in a file, limited to sources of independent sessions.
pub(crate) fn source_of(value: &Value) -> Source {
    match serde_json::from_value(value.clone()) {
        Ok(Source::Demo | Source::SubAgent | Source::Chat) | Err(_) => Source::Window,
        Ok(source) => source,
    }
}
