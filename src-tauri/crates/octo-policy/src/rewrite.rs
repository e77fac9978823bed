//! Rewrites removals that would bypass the trash.
//!
//! Every command runs with Octo's `rm` first on its `PATH`, which moves files to the trash. A line that names
//! the system's own (`/bin/rm`), clears the `PATH` (`env -i rm`, `command -p rm`) or removes files in another
//! way (`find … -delete`, `unlink`) is rewritten to call that `rm`, if its meaning stays the same.

use crate::{
    scan::{Call, Guess},
    script::Parsed,
};
use std::ops::Range;

/// Programs whose path is taken away.
const REMOVERS: &[&str] = &["rm", "rmdir", "unlink"];

/// The line with its removals sent through the trash; none when there is nothing to change.
pub(crate) fn rewrite(line: &str, parsed: &Parsed, calls: &[Call]) -> Option<String> {
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for call in calls {
        let name = call.name();
        if REMOVERS.contains(&name.as_str()) {
            remover(line, &name, call, &mut edits);
        } else if name == "find" && call.through.is_empty() {
            find(line, call, &mut edits);
        }
    }
    edits.sort_by_key(|(span, _)| (span.start, span.end));
    edits.dedup();
    // Edits that overlap mean the line was not understood well enough to be changed.
    if edits.is_empty() || edits.windows(2).any(|pair| matches!(pair, [a, b] if a.0.end > b.0.start)) {
        return None;
    }
    let mut made = String::new();
    let mut at = 0;
    for (span, text) in &edits {
        made.push_str(line.get(at..span.start)?);
        made.push_str(text);
        at = span.end;
    }
    made.push_str(line.get(at..)?);
    // The result must be a line of the same shape.
    let again = crate::bash::parse(&made).ok()?;
    (again.simples().len() == parsed.simples().len()).then_some(made)
}

fn remover(line: &str, name: &str, call: &Call, edits: &mut Vec<(Range<usize>, String)>) {
    let Some(word) = call.words.first() else { return };
    let Some(span) = &word.span else { return };
    // `unlink x` takes one name and no option.
    let replacement = match (name, call.operands().len()) {
        ("unlink", 1) => "rm --",
        ("unlink", _) => return,
        _ => name,
    };
    let begin = bypass(line, call, word).unwrap_or(span.start);
    let text = line.get(begin..span.end).unwrap_or_default();
    let has_path = word.text.contains('/');
    if has_path || begin != span.start || name == "unlink" || text.starts_with('\\') {
        // Only the places programs are installed in: `./rm` is another program.
        const FOLDERS: &[&str] =
            &["/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/"];
        if has_path && !FOLDERS.iter().any(|folder| word.text == format!("{folder}{name}")) {
            return;
        }
        let dash =
            if replacement == "rm --" && call.arguments().next() == Some("--") { "rm" } else { replacement };
        edits.push((begin..span.end, dash.to_owned()));
    }
}

/// Where a wrapper begins that would clear the `PATH`: `command -p`, `env -i`.
fn bypass(line: &str, call: &Call, word: &Guess) -> Option<usize> {
    let span = call.span.as_ref()?;
    let begin = word.span.as_ref()?.start;
    let before: Vec<&str> = line.get(span.start..begin)?.split_whitespace().collect();
    match (call.through.as_slice(), before.as_slice()) {
        ([through], ["command", "-p"]) if through == "command" => Some(span.start),
        ([through], ["env", "-i" | "-" | "--ignore-environment"]) if through == "env" => Some(span.start),
        _ => None,
    }
}

/// `find … -delete` at its end: `-delete` works depth first, takes files and empty folders, and so does this.
fn find(line: &str, call: &Call, edits: &mut Vec<(Range<usize>, String)>) {
    let words: Vec<&Guess> = call.words.iter().collect();
    let deletes = words.iter().filter(|word| word.text == "-delete").count();
    let Some(last) = words.last().filter(|word| word.text == "-delete" && deletes == 1) else { return };
    let Some(span) = &last.span else { return };
    // Alternatives and turns change what the last action is done to, but not this one's place.
    let Some(first) = words.iter().skip(1).find(|word| word.text.starts_with(['-', '(', '!'])) else {
        return;
    };
    let Some(begin) = first.span.as_ref().map(|span| span.start) else { return };
    if line.get(span.clone()) != Some("-delete")
        || matches!(first.text.as_str(), "-H" | "-L" | "-P" | "-O" | "-D")
    {
        return;
    }
    if begin == span.start {
        edits.push((span.clone(), "-depth -exec rm -d -f -- {} +".to_owned()));
    } else {
        edits.push((begin..begin, "-depth ".to_owned()));
        edits.push((span.clone(), "-exec rm -d -f -- {} +".to_owned()));
    }
}
