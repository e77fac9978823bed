//! Finds a text in a file, first exactly, then with increasing tolerance for models' quoting errors. Works on
//! bytes: unmatched bytes are never touched.
//!
//! Every span has its own replacement, with the line ends at its location, so a CRLF file keeps its CRLF and
//! the same edit fits locations with different indents.

use super::indent::{Indents, split_indent};
use memchr::memmem;
use std::collections::BTreeSet;

/// A location in the file and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EditSpan {
    pub start: usize,
    pub end: usize,
    pub replacement: Vec<u8>,
}

/// How the text was matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatchMethod {
    Exact,
    Trimmed,
    Unescaped,
    UnescapedTrimmed,
    Lines,
    UnescapedLines,
}

/// Matches of the first method that found any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MatchSet {
    pub spans: Vec<EditSpan>,
    pub method: MatchMethod,
}

/// Result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MatchResult {
    Found(MatchSet),
    /// Found, but the replacement is ambiguous.
    Refused(String),
    Nothing,
}

const BLANK: [char; 4] = [' ', '\t', '\r', '\n'];

/// Searches for `old` with increasing tolerance; the first method with a match decides.
pub(super) fn find(content: &[u8], old: &str, new: &str) -> MatchResult {
    let found = |spans, method| MatchResult::Found(MatchSet { spans, method });
    let spans = literal(content, old, new);
    if !spans.is_empty() {
        return found(spans, MatchMethod::Exact);
    }
    let spans = trimmed(content, old, new);
    if !spans.is_empty() {
        return found(spans, MatchMethod::Trimmed);
    }
    let (unescaped, interpreted) = unescape(old);
    if !interpreted.is_empty() {
        let spans = literal(content, &unescaped, new);
        if !spans.is_empty() {
            return ambiguity(&interpreted, new).unwrap_or_else(|| found(spans, MatchMethod::Unescaped));
        }
        let spans = trimmed(content, &unescaped, new);
        if !spans.is_empty() {
            return ambiguity(&interpreted, new)
                .unwrap_or_else(|| found(spans, MatchMethod::UnescapedTrimmed));
        }
    }
    let stripped = (without_outer_blank_lines(old), without_outer_blank_lines(new));
    for (escapes, method) in
        [(EscapeHandling::Kept, MatchMethod::Lines), (EscapeHandling::Undone, MatchMethod::UnescapedLines)]
    {
        for (old, new) in [(old, new), stripped] {
            let (spans, interpreted) = matching_windows(content, old, new, escapes);
            if !spans.is_empty() {
                return ambiguity(&interpreted, new).unwrap_or_else(|| found(spans, method));
            }
        }
    }
    MatchResult::Nothing
}

/// Returns the refusal if the replacement contains an escape that matched only when interpreted: it is unclear
/// whether it is meant literally.
fn ambiguity(interpreted: &InterpretedEscapes, new: &str) -> Option<MatchResult> {
    let both: Vec<String> = interpreted
        .iter()
        .map(|character| format!("\\{character}"))
        .filter(|escape| new.contains(escape))
        .collect();
    if both.is_empty() {
        return None;
    }
    let breaks = if both.iter().any(|escape| escape == "\\n") { " with real line breaks" } else { "" };
    Some(MatchResult::Refused(format!(
        "old_string only matches when its {escapes} is taken as what it stands for, and new_string has {escapes} too. \
         Send both{breaks} exactly as they stand in the file, without escaping. Nothing was changed.",
        escapes = both.join(" and ")
    )))
}

/// Returns the content with every span replaced; spans are in order and do not overlap.
pub(super) fn replace(content: &[u8], spans: &[EditSpan]) -> Vec<u8> {
    let mut after = Vec::with_capacity(content.len());
    let mut position = 0;
    for span in spans {
        after.extend_from_slice(content.get(position..span.start).unwrap_or_default());
        after.extend_from_slice(&span.replacement);
        position = span.end;
    }
    after.extend_from_slice(content.get(position..).unwrap_or_default());
    after
}

fn literal(content: &[u8], old: &str, new: &str) -> Vec<EditSpan> {
    positions(content, old)
        .into_iter()
        .map(|(start, end)| EditSpan { start, end, replacement: with_line_ends(new, content, start, end) })
        .collect()
}

/// Returns the positions of the text, without overlaps: exactly, otherwise with its line breaks as CRLF.
fn positions(content: &[u8], text: &str) -> Vec<(usize, usize)> {
    let find_all = |text: &[u8]| -> Vec<(usize, usize)> {
        memmem::find_iter(content, text).map(|start| (start, start + text.len())).collect()
    };
    if text.is_empty() {
        return Vec::new();
    }
    let positions = find_all(text.as_bytes());
    if positions.is_empty() && text.contains('\n') { find_all(&as_crlf(text)) } else { positions }
}

fn as_crlf(text: &str) -> Vec<u8> {
    text.replace("\r\n", "\n").replace('\n', "\r\n").into_bytes()
}

/// Returns `new` with the line ends at its location: those within the span, otherwise of its line, otherwise of
/// the previous line.
fn with_line_ends(new: &str, content: &[u8], start: usize, end: usize) -> Vec<u8> {
    if !new.contains('\n') {
        return new.as_bytes().to_vec();
    }
    let break_in = |start_of: usize, end_of: usize| {
        let bytes = content.get(start_of..end_of).unwrap_or_default();
        memchr::memchr(b'\n', bytes).map(|index| start_of + index)
    };
    let before = || memchr::memrchr(b'\n', content.get(..start).unwrap_or_default());
    let line_end = break_in(start, end).or_else(|| break_in(end, content.len())).or_else(before);
    let is_crlf = line_end
        .and_then(|index| index.checked_sub(1))
        .is_some_and(|index| content.get(index) == Some(&b'\r'));
    if is_crlf { as_crlf(new) } else { new.as_bytes().to_vec() }
}

/// Matches `old` without its outer white space, if the file also has only white space there: up to the start of
/// the line for the trimmed beginning, up to its end for the trimmed end. So a trimmed text never matches
/// inside a longer word. The trimmed white space stays unchanged in the file, and `new` is trimmed likewise.
fn trimmed(content: &[u8], old: &str, new: &str) -> Vec<EditSpan> {
    let core = old.trim_matches(BLANK);
    if core.is_empty() || core.len() == old.len() {
        return Vec::new();
    }
    let lead = old.len() - old.trim_start_matches(BLANK).len();
    let trail = old.len() - old.trim_end_matches(BLANK).len();
    let mut new = new;
    if lead > 0 {
        let indent = |text: &str| {
            let blank = text.len() - text.trim_start_matches(BLANK).len();
            let blank = text.get(..blank).unwrap_or_default();
            blank.rsplit('\n').next().unwrap_or_default().to_owned()
        };
        let new_core = new.trim_start_matches(BLANK);
        // A different indent is an intended change: the comparison by lines handles it.
        if !new_core.is_empty() && indent(new) != indent(old) {
            return Vec::new();
        }
        new = new_core;
    }
    if trail > 0 {
        new = new.trim_end_matches(BLANK);
    }
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r');
    let starts_line = |index: usize| {
        let before = content.get(..index).unwrap_or_default();
        before.iter().rev().find(|byte| !is_blank(byte)).is_none_or(|byte| *byte == b'\n')
    };
    let ends_line = |index: usize| {
        let after = content.get(index..).unwrap_or_default();
        after.iter().find(|byte| !is_blank(byte)).is_none_or(|byte| *byte == b'\n')
    };
    positions(content, core)
        .into_iter()
        .filter(|(start, end)| (lead == 0 || starts_line(*start)) && (trail == 0 || ends_line(*end)))
        .map(|(start, end)| EditSpan { start, end, replacement: with_line_ends(new, content, start, end) })
        .collect()
}

/// Letters of the escapes that were interpreted.
type InterpretedEscapes = BTreeSet<char>;

/// Whether to interpret escapes in a quote that do not match literally.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EscapeHandling {
    Kept,
    Undone,
}

/// Interprets escapes that a model may have escaped once too often, and returns the text and their letters.
fn unescape(text: &str) -> (String, InterpretedEscapes) {
    let mut unescaped = String::with_capacity(text.len());
    let mut interpreted = InterpretedEscapes::new();
    let mut remaining = text;
    while let Some((before, after)) = remaining.split_once('\\') {
        unescaped.push_str(before);
        let mut chars = after.chars();
        let escaped = chars.next();
        let character = match escaped {
            Some('n') => Some('\n'),
            Some('t') => Some('\t'),
            Some('r') => Some('\r'),
            Some('f') => Some('\u{c}'),
            Some('b') => Some('\u{8}'),
            Some('v') => Some('\u{b}'),
            Some('"') => Some('"'),
            Some('\\') => Some('\\'),
            Some('u') => {
                let digits: String = chars.by_ref().take(4).collect();
                let is_hex = digits.len() == 4 && digits.chars().all(|c| c.is_ascii_hexdigit());
                if is_hex { u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32) } else { None }
            }
            _ => None,
        };
        match character {
            Some(character) => {
                unescaped.push(character);
                interpreted.extend(escaped);
                remaining = chars.as_str();
            }
            None => {
                unescaped.push('\\');
                remaining = after;
            }
        }
    }
    unescaped.push_str(remaining);
    (unescaped, interpreted)
}

fn without_outer_blank_lines(text: &str) -> &str {
    let mut text = text.trim_end_matches(BLANK);
    while let Some((line, rest)) = text.split_once('\n')
        && line.trim_matches(BLANK).is_empty()
    {
        text = rest;
    }
    text
}

/// A line of the file.
struct FileLine<'a> {
    start: usize,
    /// Its text without the line end.
    text: &'a [u8],
    /// Position of the next line.
    next: usize,
}

fn lines(content: &[u8]) -> Vec<FileLine<'_>> {
    let mut start = 0;
    content
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| {
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            let line =
                FileLine { start, text: text.strip_suffix(b"\r").unwrap_or(text), next: start + line.len() };
            start = line.next;
            line
        })
        .collect()
}

/// Finds runs of whole lines that equal those of `old` except for white space at either end of each line, if a
/// single rule converts one set of indents to the other. `new` is indented by that rule. Also returns the
/// interpreted escapes.
fn matching_windows(
    content: &[u8],
    old: &str,
    new: &str,
    escapes: EscapeHandling,
) -> (Vec<EditSpan>, InterpretedEscapes) {
    let (whole_lines, new) = match old.strip_suffix('\n') {
        // Deletes the lines, including their last line end.
        Some(_) if new.is_empty() => (true, new),
        // The file's own line end stays, even if `new` has none: whole lines replace whole lines.
        Some(_) => (false, new.strip_suffix('\n').unwrap_or(new)),
        None => (false, new),
    };
    let wanted_lines: Vec<&str> =
        old.strip_suffix('\n').unwrap_or(old).split('\n').map(|line| line.trim_end_matches('\r')).collect();
    let (mut spans, mut interpreted) = (Vec::new(), InterpretedEscapes::new());
    if wanted_lines.iter().all(|line| line.trim_matches(BLANK).is_empty()) {
        return (spans, interpreted);
    }
    let lines = lines(content);
    let mut index = 0;
    while let Some(window) = lines.get(index..index + wanted_lines.len()) {
        let (Some((indents, more)), Some(first_line), Some(last)) =
            (match_window(window, &wanted_lines, escapes), window.first(), window.last())
        else {
            index += 1;
            continue;
        };
        interpreted.extend(more);
        let (start, end) =
            (first_line.start, if whole_lines { last.next } else { last.start + last.text.len() });
        let indented = indents.apply(new);
        spans.push(EditSpan { start, end, replacement: with_line_ends(&indented, content, start, end) });
        index += wanted_lines.len();
    }
    (spans, interpreted)
}

/// Returns the rule that converts the indents of `wanted_lines` to those of the window, and the interpreted escapes;
/// `None` if the lines differ in more than outer white space, or no single rule fits.
fn match_window(
    window: &[FileLine<'_>],
    wanted_lines: &[&str],
    escapes: EscapeHandling,
) -> Option<(Indents, InterpretedEscapes)> {
    let (mut indents, mut interpreted) = (Indents::default(), InterpretedEscapes::new());
    for (line, wanted_lines) in window.iter().zip(wanted_lines) {
        let (file_indent, file_text) = split_indent(line.text);
        let (wanted_indent, wanted_text) = split_indent(wanted_lines.as_bytes());
        let file_text = file_text.trim_ascii_end();
        let wanted_text = wanted_text.trim_ascii_end();
        if file_text != wanted_text {
            if escapes == EscapeHandling::Kept {
                return None;
            }
            let (unescaped, more) = unescape(std::str::from_utf8(wanted_text).ok()?);
            if unescaped.as_bytes() != file_text {
                return None;
            }
            interpreted.extend(more);
        }
        if !file_text.is_empty() && !indents.learn(wanted_indent, file_indent) {
            return None;
        }
    }
    Some((indents, interpreted))
}
