//! Rewrites removals that would bypass the trash.
//!
//! Every command runs with Octo's `rm`, which moves files to the trash, first on its `PATH`. A line that names the
//! system's `rm` (`/bin/rm`), clears the `PATH` (`env -i rm`, `command -p rm`) or removes files in another way
//! (`find … -delete`, `unlink`) is rewritten to call Octo's `rm`, if its meaning stays the same.

use crate::{
    scan::{Call, CallWord},
    script::Parsed,
};
use std::ops::Range;

/// Programs that are called without their path after the rewrite.
const REMOVERS: &[&str] = &["rm", "rmdir", "unlink"];

/// Returns the line with its removals sent through the trash, or `None` if nothing needs to change.
pub(crate) fn rewrite(line: &str, parsed: &Parsed, calls: &[Call]) -> Option<String> {
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for call in calls {
        let name = call.name();
        if REMOVERS.contains(&name.as_str()) {
            rewrite_remover(line, &name, call, &mut edits);
        } else if name == "find" && call.wrappers.is_empty() {
            rewrite_find(line, call, &mut edits);
        }
    }
    edits.sort_by_key(|(span, _)| (span.start, span.end));
    edits.dedup();
    // Edits that overlap mean the line was not understood well enough to be changed.
    if edits.is_empty() || edits.windows(2).any(|pair| matches!(pair, [a, b] if a.0.end > b.0.start)) {
        return None;
    }
    let mut rewritten = String::new();
    let mut at = 0;
    for (span, text) in &edits {
        rewritten.push_str(line.get(at..span.start)?);
        rewritten.push_str(text);
        at = span.end;
    }
    rewritten.push_str(line.get(at..)?);
    // The result must be a line of the same shape.
    let reparsed = crate::bash::parse(&rewritten).ok()?;
    (reparsed.simple_commands().len() == parsed.simple_commands().len()).then_some(rewritten)
}

fn rewrite_remover(line: &str, name: &str, call: &Call, edits: &mut Vec<(Range<usize>, String)>) {
    let Some(word) = call.words.first() else { return };
    let Some(span) = &word.span else { return };
    // `unlink x` takes one name and no option.
    let replacement = match (name, call.operands().len()) {
        ("unlink", 1) => "rm --",
        ("unlink", _) => return,
        _ => name,
    };
    let start = bypass_start(line, call, word).unwrap_or(span.start);
    let text = line.get(start..span.end).unwrap_or_default();
    let has_path = word.text.contains('/');
    if has_path || start != span.start || name == "unlink" || text.starts_with('\\') {
        // Only folders in which programs are installed: `./rm` is another program.
        const FOLDERS: &[&str] =
            &["/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/"];
        if has_path && !FOLDERS.iter().any(|folder| word.text == format!("{folder}{name}")) {
            return;
        }
        let dash =
            if replacement == "rm --" && call.arguments().next() == Some("--") { "rm" } else { replacement };
        edits.push((start..span.end, dash.to_owned()));
    }
}

/// Returns the position of a wrapper that would clear the `PATH`: `command -p`, `env -i`.
fn bypass_start(line: &str, call: &Call, word: &CallWord) -> Option<usize> {
    let span = call.span.as_ref()?;
    let start = word.span.as_ref()?.start;
    let before: Vec<&str> = line.get(span.start..start)?.split_whitespace().collect();
    match (call.wrappers.as_slice(), before.as_slice()) {
        ([through], ["command", "-p"]) if through == "command" => Some(span.start),
        ([through], ["env", "-i" | "-" | "--ignore-environment"]) if through == "env" => Some(span.start),
        _ => None,
    }
}

/// Replaces `-delete` at the end of a `find`. Like `-delete`, the replacement works depth first and removes files and
/// empty folders.
fn rewrite_find(line: &str, call: &Call, edits: &mut Vec<(Range<usize>, String)>) {
    let words: Vec<&CallWord> = call.words.iter().collect();
    let delete_count = words.iter().filter(|word| word.text == "-delete").count();
    let Some(last) = words.last().filter(|word| word.text == "-delete" && delete_count == 1) else { return };
    let Some(span) = &last.span else { return };
    // Alternatives and negations change which files the last action applies to, but not its position.
    let Some(first) = words.iter().skip(1).find(|word| word.text.starts_with(['-', '(', '!'])) else {
        return;
    };
    let Some(start) = first.span.as_ref().map(|span| span.start) else { return };
    if line.get(span.clone()) != Some("-delete")
        || matches!(first.text.as_str(), "-H" | "-L" | "-P" | "-O" | "-D")
    {
        return;
    }
    if start == span.start {
        edits.push((span.clone(), "-depth -exec rm -d -f -- {} +".to_owned()));
    } else {
        edits.push((start..start, "-depth ".to_owned()));
        edits.push((span.clone(), "-exec rm -d -f -- {} +".to_owned()));
    }
}
