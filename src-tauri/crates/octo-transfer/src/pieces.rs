//! A conversation as readable pieces, without secrets.

use crate::{ExportWords, redaction::Redaction};
use octo_protocol::{
    BlobHash, Block, CallStatus, ExportForm, ExportKind, ExportPart, Message, Millis, Origin, TranscriptPage,
    TurnId,
};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

/// One piece of a conversation.
pub(crate) struct ExportPiece {
    pub kind: ExportKind,
    /// Its heading, in the person's language.
    pub heading: String,
    /// When its message was added.
    pub at: Millis,
    pub text: String,
    /// Pictures by hash, with their names.
    pub pictures: Vec<(BlobHash, String)>,
    /// Whether the turn was undone.
    pub undone: bool,
    /// Whether it counts as an item of its kind, as opposed to a further part of one.
    counts: bool,
}

impl ExportPiece {
    /// Whether a form contains it: Octo's notices to the model are for programs only.
    pub(crate) fn is_in(&self, form: ExportForm) -> bool {
        form == ExportForm::Json || self.kind != ExportKind::Notices
    }
}

/// Returns the pieces of a conversation, in order.
pub(crate) fn export_pieces(
    page: &TranscriptPage,
    words: &ExportWords,
    redaction: &mut Redaction,
) -> Vec<ExportPiece> {
    let undone: HashSet<TurnId> = page.turns.iter().filter(|turn| turn.undone).map(|turn| turn.id).collect();
    let mut pieces = Vec::new();
    for message in &page.messages {
        let undone = undone.contains(&message.turn);
        for block in &message.blocks {
            if let Some(mut piece) = export_piece(message, block, words) {
                piece.heading = redaction.redact_text(&piece.heading);
                piece.text = redaction.redact_text(&piece.text);
                for (_, name) in &mut piece.pictures {
                    *name = redaction.redact_text(name);
                }
                pieces.push(ExportPiece { undone, ..piece });
            }
        }
    }
    pieces
}

fn export_piece(message: &Message, block: &Block, words: &ExportWords) -> Option<ExportPiece> {
    let time = message.meta.at;
    let text_piece = |kind, key: &str, text: &str| {
        Some(ExportPiece {
            kind,
            heading: words.say(key),
            at: time,
            text: text.to_owned(),
            pictures: Vec::new(),
            undone: false,
            counts: true,
        })
    };
    match block {
        Block::Text { text } => match message.meta.origin {
            Origin::Person => text_piece(ExportKind::Asked, "export.you", text),
            Origin::Model => text_piece(ExportKind::Answers, "export.answer", text),
            Origin::Octo => text_piece(ExportKind::Notices, "export.notice", text),
        },
        Block::Reasoning { text, .. } if text.trim().is_empty() => None,
        Block::Reasoning { text, .. } => text_piece(ExportKind::Reasoning, "export.thought", text),
        Block::Image { blob, name, .. } => {
            let piece = text_piece(ExportKind::Pictures, "export.picture", "")?;
            Some(ExportPiece { pictures: vec![(blob.clone(), name.clone())], ..piece })
        }
        Block::Document { path, .. } | Block::File { path } => {
            text_piece(ExportKind::Files, "export.file", path)
        }
        Block::ToolCall(call) => {
            let piece = text_piece(ExportKind::Calls, "export.call", &format_arguments(&call.arguments))?;
            Some(ExportPiece { heading: format!("{}: {}", piece.heading, call.name), ..piece })
        }
        Block::ToolResult(result) => {
            let key = match result.status {
                CallStatus::Done => "export.result",
                CallStatus::Failed => "export.result.failed",
                CallStatus::Denied => "export.result.denied",
                CallStatus::Stopped | CallStatus::Interrupted => "export.result.stopped",
            };
            let piece = text_piece(ExportKind::Calls, key, &result.text)?;
            let pictures =
                result.images.iter().map(|image| (image.blob.clone(), image.name.clone())).collect();
            Some(ExportPiece { pictures, counts: false, ..piece })
        }
        Block::Summary { text, .. } => text_piece(ExportKind::Summaries, "export.summary", text),
        Block::Notice { text, .. } | Block::CommandsEnded { text, .. } => {
            text_piece(ExportKind::Notices, "export.notice", text)
        }
    }
}

/// Formats arguments over several lines if they are JSON.
fn format_arguments(arguments: &str) -> String {
    match serde_json::from_str::<serde_json::Value>(arguments) {
        Ok(value) => serde_json::to_string_pretty(&value).unwrap_or_else(|_| arguments.to_owned()),
        Err(_) => arguments.to_owned(),
    }
}

/// Counts the pieces of each kind. A picture counts with its bytes if the form contains them, otherwise with
/// zero.
pub(crate) fn count_parts(
    pieces: &[ExportPiece],
    form: ExportForm,
    pictures: &HashMap<BlobHash, Arc<[u8]>>,
) -> Vec<ExportPart> {
    let mut kinds: BTreeMap<ExportKind, (u32, u64)> = BTreeMap::new();
    let mut counted: HashSet<&BlobHash> = HashSet::new();
    for piece in pieces {
        if piece.kind != ExportKind::Pictures {
            let (count, bytes) = kinds.entry(piece.kind).or_default();
            *count += u32::from(piece.counts);
            *bytes += piece.text.len() as u64;
        }
        for (blob, _) in piece.pictures.iter().filter(|(blob, _)| counted.insert(blob)) {
            let (count, bytes) = kinds.entry(ExportKind::Pictures).or_default();
            *count += 1;
            if form != ExportForm::Markdown {
                *bytes += pictures.get(blob).map_or(0, |picture| picture.len()) as u64;
            }
        }
    }
    kinds.into_iter().map(|(kind, (count, bytes))| ExportPart { kind, count, bytes }).collect()
}
