//! The `edit` tool: changes part of a file.

mod indent;
mod matching;
mod nearest;

use crate::{
    Effects, Outcome, Tool, ToolContext, ToolError, ToolOutput, blocking::blocking, encoding::Encoding,
};
use matching::{MatchMethod, MatchResult, MatchSet};
use octo_protocol::ToolView;
use octo_workspace::{diff, display_path, resolve};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;

/// Maximum file size. Larger files are unsuitable for line edits, and files are read whole.
const MAX_FILE: u64 = 64 << 20;
/// Maximum line numbers listed when a text occurs too often.
const MAX_NAMED: usize = 10;

pub(crate) struct EditTool;

#[derive(Clone, Deserialize, JsonSchema)]
pub(crate) struct EditInput {
    /// File to change.
    path: String,
    /// Text to replace, exactly as in the file, without line numbers.
    old_string: String,
    /// Text to put in its place, used literally.
    new_string: String,
    /// Replace every occurrence. Default false.
    replace_all: Option<bool>,
}

impl Tool for EditTool {
    const NAME: &'static str = "edit";
    const DESCRIPTION: &'static str = "Replaces text in a file. old_string must occur exactly once unless \
        replace_all is true; include enough surrounding lines. Read the file first.";
    type Input = EditInput;

    fn effects(&self, input: &EditInput, cwd: &Path) -> Effects {
        resolve(&input.path, cwd).map_or_else(|_| Effects::none(), |path| Effects::writes(vec![path]))
    }

    async fn preview(&self, input: &EditInput, context: &ToolContext) -> Result<ToolView, ToolError> {
        let (input, context) = (input.clone(), context.clone());
        blocking(move || {
            let path = resolve(&input.path, &context.cwd)?;
            let may_read = context.files.check_read(&path).is_ok();
            let content = context.files.for_person().read_to_change(&path, MAX_FILE).map_err(ToolError::from);
            let view = content.and_then(|content| {
                let name = display_path(&path, &context.cwd);
                let text = Encoding::detect(&content).decode(content, &name)?;
                let after = apply_edit(&text, &input, &name)?.content;
                Ok(diff(&path, Some(&text), &after))
            });
            match view {
                Ok(view) => Ok(ToolView::Diff(view)),
                // The error would reveal content of a file the model may not read yet: the question shows the
                // person the requested change, and the run reports the error.
                Err(_) if !may_read => Ok(ToolView::Diff(diff(
                    &path,
                    Some(input.old_string.as_bytes()),
                    input.new_string.as_bytes(),
                ))),
                Err(error) => Err(error),
            }
        })
        .await
    }

    async fn run(&self, input: EditInput, context: ToolContext) -> Result<ToolOutput, ToolError> {
        blocking(move || {
            let path = resolve(&input.path, &context.cwd)?;
            context.files.check_write(&path)?;
            let content = context.files.read_to_change(&path, MAX_FILE)?;
            let name = display_path(&path, &context.cwd);
            let encoding = Encoding::detect(&content);
            let before = encoding.decode(content, &name)?;
            let change = apply_edit(&before, &input, &name)?;
            let view = ToolView::Diff(diff(&path, Some(&before), &change.content));
            context.files.write(&path, &encoding.encode(change.content))?;
            let method = match change.method {
                MatchMethod::Exact => "",
                MatchMethod::Trimmed => " (matched without its outer white space)",
                MatchMethod::Unescaped => " (matched after undoing its escapes; new_string was used as it is)",
                MatchMethod::UnescapedTrimmed => {
                    " (matched after undoing its escapes, without its outer white space; new_string was used \
                     without its own)"
                }
                MatchMethod::Lines => " (matched ignoring white space; new_string was indented like the file)",
                MatchMethod::UnescapedLines => {
                    " (matched after undoing its escapes, ignoring white space; new_string was indented like the file)"
                }
            };
            let text = match change.lines.as_slice() {
                [line] => format!("Replaced 1 occurrence in {name}, line {line}{method}."),
                lines => {
                    format!("Replaced {} occurrences in {name}, lines {}{method}.", lines.len(), list_lines(lines))
                }
            };
            Ok(ToolOutput { text, images: Vec::new(), view, outcome: Outcome::Done })
        })
        .await
    }
}

struct AppliedEdit {
    content: Vec<u8>,
    lines: Vec<usize>,
    method: MatchMethod,
}

/// Applies the edit to the content, or explains why that is impossible.
fn apply_edit(content: &[u8], input: &EditInput, name: &str) -> Result<AppliedEdit, ToolError> {
    let (old, new) = (&input.old_string, &input.new_string);
    if old.is_empty() {
        return Err(ToolError::new(
            "old_string is empty: say which text to replace. To create a file or replace all of it use write.",
        ));
    }
    if old == new {
        return Err(ToolError::new("old_string and new_string are identical: nothing would change."));
    }
    let MatchSet { spans, method } = match matching::find(content, old, new) {
        MatchResult::Found(found) => found,
        MatchResult::Refused(reason) => return Err(ToolError::new(reason)),
        MatchResult::Nothing => return Err(ToolError::new(nearest::explain(content, old, name))),
    };
    let lines: Vec<usize> = spans.iter().map(|span| line_of(content, span.start)).collect();
    if spans.len() > 1 && input.replace_all != Some(true) {
        return Err(ToolError::new(format!(
            "old_string appears {} times in {name}, on lines {}. Add surrounding lines to make it unique, or set \
             replace_all to true. Nothing was changed.",
            spans.len(),
            list_lines(&lines)
        )));
    }
    let after = matching::replace(content, &spans);
    if after == content {
        return Err(ToolError::new(format!(
            "The edit would leave {name} exactly as it is. Nothing was changed."
        )));
    }
    Ok(AppliedEdit { content: after, lines, method })
}

fn line_of(content: &[u8], position: usize) -> usize {
    1 + content.iter().take(position).filter(|byte| **byte == b'\n').count()
}

fn list_lines(lines: &[usize]) -> String {
    let numbers: Vec<String> = lines.iter().take(MAX_NAMED).map(usize::to_string).collect();
    let more = if lines.len() > MAX_NAMED { ", …" } else { "" };
    format!("{}{more}", numbers.join(", "))
}

#[cfg(test)]
mod tests;
