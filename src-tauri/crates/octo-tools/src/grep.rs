//! The `grep` tool: finds lines by content.

use crate::{Effects, Outcome, Tool, ToolContext, ToolError, ToolOutput, blocking::blocking};
use octo_protocol::{FileMatches, ToolView};
use octo_workspace::{
    CaseSensitivity, GrepMatches, GrepQuery, ReachedLimit, SkippedFiles, display_path, grep, resolve,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::{
    fmt::Write,
    path::{Path, PathBuf},
};

const MAX_CONTEXT: u32 = 10;
const DEFAULT_MAX_FILES: u32 = 50;
const DEFAULT_MAX_PER_FILE: u32 = 50;
const DEFAULT_MAX_MATCHES: u32 = 200;
/// Maximum bytes of lines in one result, about 6,000 tokens.
const MAX_BYTES: usize = 24_000;
/// Maximum bytes of one line.
const MAX_LINE: usize = 500;

pub(crate) struct GrepTool;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GrepInput {
    /// Regular expression (Rust syntax), applied line by line.
    pattern: String,
    /// File or folder. Default: the working folder.
    path: Option<String>,
    /// Only files matching this glob, such as "*.rs".
    file_pattern: Option<String>,
    /// Default false.
    case_insensitive: Option<bool>,
    /// Lines around each match, 0-10. Default 0.
    context_lines: Option<u32>,
    /// Default 50.
    max_files: Option<u32>,
    /// Default 50.
    max_matches_per_file: Option<u32>,
    /// Default 200.
    max_total_matches: Option<u32>,
    /// Skip larger files (bytes). Default: no limit.
    max_file_size: Option<u64>,
}

impl Tool for GrepTool {
    const NAME: &'static str = "grep";
    const DESCRIPTION: &'static str = "Searches file contents. Returns path:line:text, context lines as \
        path-line-text. Ignored, binary and secret files are left out; a file named by path is always searched.";
    type Input = GrepInput;

    fn effects(&self, input: &GrepInput, cwd: &Path) -> Effects {
        base(input, cwd).map_or_else(|_| Effects::reads(Vec::new()), |base| Effects::reads(vec![base]))
    }

    async fn preview(&self, input: &GrepInput, context: &ToolContext) -> Result<ToolView, ToolError> {
        let base = base(input, &context.cwd)?;
        Ok(ToolView::Plain { text: format!("{} in {}", input.pattern, base.display()) })
    }

    async fn run(&self, input: GrepInput, context: ToolContext) -> Result<ToolOutput, ToolError> {
        blocking(move || {
            let limit = |value: Option<u32>, default: u32| value.unwrap_or(default).max(1) as usize;
            let query = GrepQuery {
                base: base(&input, &context.cwd)?,
                file_pattern: input.file_pattern,
                case: if input.case_insensitive == Some(true) {
                    CaseSensitivity::Insensitive
                } else {
                    CaseSensitivity::Sensitive
                },
                context: input.context_lines.unwrap_or(0).min(MAX_CONTEXT) as usize,
                max_files: limit(input.max_files, DEFAULT_MAX_FILES),
                max_matches_per_file: limit(input.max_matches_per_file, DEFAULT_MAX_PER_FILE),
                max_matches: limit(input.max_total_matches, DEFAULT_MAX_MATCHES),
                max_file_size: input.max_file_size,
                max_bytes: MAX_BYTES,
                max_line: MAX_LINE,
                pattern: input.pattern,
            };
            let found = grep(&context.files, &query, &context.cancel)?;
            let text = render(&found, &context.cwd);
            let view = ToolView::Matches {
                pattern: query.pattern,
                total: u32::try_from(found.total_matches).unwrap_or(u32::MAX),
                truncated: found.cut_short.is_some(),
                files: found
                    .files
                    .into_iter()
                    .map(|file_matches| FileMatches {
                        path: display_path(&file_matches.path, &context.cwd),
                        lines: file_matches.lines,
                    })
                    .collect(),
            };
            Ok(ToolOutput { text, images: Vec::new(), view, outcome: Outcome::Done })
        })
        .await
    }
}

fn base(input: &GrepInput, cwd: &Path) -> Result<PathBuf, ToolError> {
    Ok(resolve(input.path.as_deref().unwrap_or("."), cwd)?)
}

fn render(found: &GrepMatches, cwd: &Path) -> String {
    let mut text = String::new();
    let has_context =
        found.files.iter().flat_map(|file_matches| &file_matches.lines).any(|line| !line.is_match);
    for (index, file_matches) in found.files.iter().enumerate() {
        let path = display_path(&file_matches.path, cwd);
        let mut before = None;
        for line in &file_matches.lines {
            let is_gap = before.is_some_and(|before: u64| before + 1 != line.number);
            if has_context && (is_gap || (before.is_none() && index > 0)) {
                text.push_str("--\n");
            }
            before = Some(line.number);
            let separator = if line.is_match { ':' } else { '-' };
            // Writing to a string does not fail.
            let _ = writeln!(text, "{path}{separator}{}{separator}{}", line.number, line.text);
        }
        let match_count = file_matches.lines.iter().filter(|line| line.is_match).count() as u64;
        if match_count < file_matches.matches {
            let _ =
                writeln!(text, "({path}: {match_count} of {} matching lines shown)", file_matches.matches);
        }
    }
    let _ = match found.total_matches {
        0 => write!(text, "No matches in {} files.", found.searched),
        total => write!(text, "{total} matching lines in {} of {} files.", found.total_files, found.searched),
    };
    if let Some(limit) = found.cut_short {
        let name = match limit {
            ReachedLimit::Files => "max_files",
            ReachedLimit::MatchesPerFile => "max_matches_per_file",
            ReachedLimit::Matches => "max_total_matches",
            ReachedLimit::Bytes => "the size of a result",
        };
        let _ = write!(text, " Not all are shown (limit: {name}); narrow the search.");
    }
    text.push_str(&describe_skipped(&found.skipped));
    text
}

/// Describes the files a search skipped, for the model; empty if none.
pub(crate) fn describe_skipped(skipped: &SkippedFiles) -> String {
    let kinds = [
        (skipped.binary, "binary"),
        (skipped.too_large, "too large"),
        (skipped.secret, "that usually hold secrets"),
        (skipped.closed, "closed by the person's rules"),
        (skipped.unreadable, "unreadable"),
    ];
    let parts: Vec<String> =
        kinds.iter().filter(|(count, _)| *count > 0).map(|(count, kind)| format!("{count} {kind}")).collect();
    if parts.is_empty() { String::new() } else { format!("\n(Files left out: {}.)", parts.join(", ")) }
}

#[cfg(test)]
mod tests;
