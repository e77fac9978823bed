//! Writes summarised messages as Markdown for people and models, and as JSON lines for programs.

use super::Summary;
use octo_protocol::{Block, Message, Origin};
use std::{fmt::Write as _, path::PathBuf};

/// Files the summarised messages were written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArchivePaths {
    /// The readable file.
    pub path: PathBuf,
    /// The readable files of earlier compactions, newest first.
    pub earlier: Vec<PathBuf>,
}

/// Writes messages as Markdown and as JSON lines. Nothing is shortened; a picture is represented by its name.
pub(crate) fn write_out(
    title: &str,
    time: &str,
    summary: &Summary,
    messages: &[Message],
) -> (String, String) {
    let mut text = format!(
        "---\nsession: {}\narchived_at: {time}\nmessages: {}\ntopics: {}\n---\n\n# Archived messages\n",
        serde_json::Value::from(title),
        messages.len(),
        serde_json::Value::from(summary.topics.as_str()),
    );
    let mut lines = String::new();
    for message in messages {
        if let Ok(line) = serde_json::to_string(message) {
            lines.push_str(&line);
            lines.push('\n');
        }
        let author = match message.meta.origin {
            Origin::Person => "Person",
            Origin::Model => "Model",
            Origin::Octo => "Octo",
        };
        // Writing to a `String` cannot fail.
        let _ = write!(text, "\n## {author}\n");
        message.blocks.iter().for_each(|block| push(&mut text, block));
    }
    (text, lines)
}

fn push(text: &mut String, block: &Block) {
    let _ = match block {
        Block::Text { text: content } => writeln!(text, "\n{content}"),
        Block::Summary { text: content, .. } => {
            writeln!(text, "\n(summary of still earlier messages)\n\n{content}")
        }
        Block::Notice { text: content, .. } | Block::CommandsEnded { text: content, .. } => {
            writeln!(text, "\n(notice) {content}")
        }
        Block::Reasoning { text: content, .. } if content.is_empty() => Ok(()),
        Block::Reasoning { text: content, .. } => writeln!(text, "\n(reasoning) {content}"),
        Block::Image { name, .. } => writeln!(text, "\n(picture) {name}"),
        Block::Document { path, .. } => writeln!(text, "\n(attached document) {path}"),
        Block::File { path } => writeln!(text, "\n(attached file) {path}"),
        Block::ToolCall(call) => {
            writeln!(text, "\n### Call: {}\n\n{}", call.name, fence_text(&call.arguments, "json"))
        }
        Block::ToolResult(result) => writeln!(text, "\n### Result\n\n{}", fence_text(&result.text, "")),
    };
}

/// Wraps text in a fence that nothing in it can close.
fn fence_text(text: &str, language: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}
