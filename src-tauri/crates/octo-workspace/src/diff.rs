//! The change to a file, line by line, for a person to read.

use octo_protocol::{DiffLine, DiffPart, DiffView, FileChange, Hunk};
use similar::{ChangeTag, InlineChange, InlineChangeMode, InlineChangeOptions, TextDiff};
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// The number of unchanged lines shown around a change, as in most diff tools.
const CONTEXT: usize = 3;
/// The maximum number of lines in a view. More does not help a person decide, and views are stored.
const MAX_LINES: usize = 600;
/// The number of bytes of a line that are shown and compared for changes within the line.
const MAX_LINE_BYTES: usize = 2_000;
/// The time limit of the comparison. After it, the rest counts as replaced as a whole, which is correct but
/// coarse.
const TIME_LIMIT: Duration = Duration::from_millis(400);

/// Returns the change from `before` (`None` if the file did not exist) to `after`. Compares and counts bytes;
/// bytes that are not text are shown as replacement characters. Lines end at `\n` only.
pub fn diff(path: &Path, before: Option<&[u8]>, after: &[u8]) -> DiffView {
    let old: Vec<&[u8]> = lines(before.unwrap_or_default());
    let new: Vec<&[u8]> = lines(after);
    let deadline = Instant::now() + TIME_LIMIT;
    let compared = TextDiff::configure().deadline(deadline).diff_slices(&old, &new);
    let (mut added, mut removed) = (0, 0);
    for op in compared.ops() {
        if op.tag() != similar::DiffTag::Equal {
            removed += op.old_range().len();
            added += op.new_range().len();
        }
    }
    let mut view = DiffView {
        path: path.to_string_lossy().into_owned(),
        change: if before.is_some() { FileChange::Edited } else { FileChange::Created },
        added: count(added),
        removed: count(removed),
        hunks: Vec::new(),
        truncated: false,
    };
    let mut options = InlineChangeOptions::new();
    options.mode(InlineChangeMode::Words).semantic_cleanup(true);
    let mut remaining = MAX_LINES;
    'hunks: for group in compared.grouped_ops(CONTEXT) {
        let mut hunk = Hunk { lines: Vec::new() };
        for op in &group {
            // Long lines make the comparison within lines slow and unreadable.
            let has_long_line = |lines: &[&[u8]]| lines.iter().any(|line| line.len() > MAX_LINE_BYTES);
            let is_long = old.get(op.old_range()).is_some_and(has_long_line)
                || new.get(op.new_range()).is_some_and(has_long_line);
            let changes: Box<dyn Iterator<Item = InlineChange<'_, [u8]>>> =
                if is_long || op.old_range().len().max(op.new_range().len()) > remaining {
                    Box::new(compared.iter_changes(op).map(InlineChange::from))
                } else {
                    Box::new(compared.iter_inline_changes_with_options_deadline(op, options, Some(deadline)))
                };
            for change in changes {
                if remaining == 0 {
                    view.truncated = true;
                    view.hunks.push(hunk);
                    break 'hunks;
                }
                remaining -= 1;
                hunk.lines.push(line(&change));
            }
        }
        view.hunks.push(hunk);
    }
    view.hunks.retain(|hunk| !hunk.lines.is_empty());
    view
}

fn lines(content: &[u8]) -> Vec<&[u8]> {
    content.split_inclusive(|byte| *byte == b'\n').collect()
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn line(change: &InlineChange<'_, [u8]>) -> DiffLine {
    let number = |index: Option<usize>| index.map(|index| count(index + 1));
    let mut parts: Vec<DiffPart> = Vec::new();
    let mut remaining = MAX_LINE_BYTES;
    for (emphasis, bytes) in change.values() {
        let shown = bytes.get(..remaining).unwrap_or(bytes);
        remaining -= shown.len();
        let text = String::from_utf8_lossy(shown);
        match parts.last_mut() {
            Some(last) if last.emphasis == *emphasis => last.text.push_str(&text),
            _ => parts.push(DiffPart { text: text.into_owned(), emphasis: *emphasis }),
        }
        if shown.len() < bytes.len() {
            parts.push(DiffPart { text: "…".to_owned(), emphasis: false });
            break;
        }
    }
    // Strip the line ending, which may be a separate part.
    while let Some(last) = parts.last_mut() {
        last.text.truncate(last.text.trim_end_matches(['\r', '\n']).len());
        if !last.text.is_empty() {
            break;
        }
        parts.pop();
    }
    let (old, new) = match change.tag() {
        ChangeTag::Equal => (number(change.old_index()), number(change.new_index())),
        ChangeTag::Delete => (number(change.old_index()), None),
        ChangeTag::Insert => (None, number(change.new_index())),
    };
    DiffLine { old, new, parts }
}

#[cfg(test)]
mod tests;
