//! Page text without invisible characters.

use crate::safety::is_invisible;
use std::borrow::Cow;

/// Removes characters that are invisible or change the reading direction: controls (except tab and line feed),
/// zero-width characters, bidirectional controls, fillers, the tags block, private-use glyphs, and variation
/// selectors and joiners that belong to no emoji and no script that uses joiners. Such characters hide
/// instructions from a person, and words from a filter.
pub fn clean_text(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte == b'\n' || byte == b'\t' || (0x20..0x7f).contains(&byte);
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let before = out.chars().next_back();
        let is_kept = match char {
            '\u{fe0e}' | '\u{fe0f}' => before.is_some_and(takes_selector),
            '\u{200d}' => {
                let next = chars.peek().copied();
                let follows_emoji = before.is_some_and(|before| before == '\u{fe0f}' || is_emoji(before));
                follows_emoji && next.is_some_and(is_emoji) || fits_joiner(before, next)
            }
            '\u{200c}' => fits_joiner(before, chars.peek().copied()),
            _ => !is_unseen(char),
        };
        if is_kept {
            out.push(char);
        }
    }
    if out.len() == text.len() { Cow::Borrowed(text) } else { Cow::Owned(out) }
}

/// Returns clean text as one line: white space is collapsed and trimmed, private characters of icon fonts are
/// removed.
pub(super) fn clean_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_clean_line(&mut out, text);
    let end = out.trim_end().len();
    out.truncate(end);
    out
}

/// Appends clean text to a line: white space is collapsed, and dropped at the line's start.
pub(super) fn push_clean_line(out: &mut String, text: &str) {
    for char in clean_text(text).chars() {
        if char.is_whitespace() {
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
        } else {
            out.push(char);
        }
    }
}

/// Truncates to a number of characters, with an ellipsis if something was cut.
pub(super) fn truncate(text: &str, chars: usize) -> Cow<'_, str> {
    if text.len() <= chars {
        return Cow::Borrowed(text);
    }
    match text.char_indices().nth(chars) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default().trim_end())),
    }
}

/// Returns whether a character is invisible, or ends a line without being a line feed.
fn is_unseen(char: char) -> bool {
    is_invisible(char) || matches!(char, '\u{2028}' | '\u{2029}')
}

/// Returns whether a text or emoji selector may follow a character.
fn takes_selector(char: char) -> bool {
    is_emoji(char) || matches!(char, '#' | '*' | '0'..='9' | '©' | '®')
}

/// Returns whether a character is in a block with emoji, including arrows and symbols.
fn is_emoji(char: char) -> bool {
    matches!(char, '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}'
        | '\u{2300}'..='\u{27bf}' | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}'
        | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

/// Returns whether a joiner fits between these characters: scripts from Arabic to Malayalam, and neighbouring
/// ones, use joiners between letters.
fn fits_joiner(before: Option<char>, next: Option<char>) -> bool {
    let uses_joiners =
        |char: char| matches!(char, '\u{600}'..='\u{7ff}' | '\u{8a0}'..='\u{dff}' | '\u{1000}'..='\u{109f}');
    before.is_some_and(uses_joiners) && next.is_some_and(uses_joiners)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_removed_and_visible_ones_kept() {
        let cases = [
            ("plain\ttext\n", "plain\ttext\n"),
            ("pass\u{200b}word\u{feff}", "password"),
            ("a\u{202e}b\u{2066}c\u{2069}\u{200f}\u{61c}", "abc"),
            ("tag\u{e0041}\u{e0020}\u{e007f}s", "tags"),
            ("x\u{fe0f}\u{e0101}\u{fe03}y", "xy"),
            ("❤\u{fe0f} 1\u{fe0f}\u{20e3}", "❤\u{fe0f} 1\u{fe0f}\u{20e3}"),
            ("👩\u{200d}💻 a\u{200d}b", "👩\u{200d}💻 ab"),
            ("می\u{200c}خواهم \u{200c}\u{200c}x", "می\u{200c}خواهم x"),
            ("क\u{94d}\u{200d}ष", "क\u{94d}\u{200d}ष"),
            ("bell\u{7}\u{1b}[31m\u{9b}", "bell[31m"),
            ("한국어 中文 ไทย", "한국어 中文 ไทย"),
            ("soft\u{ad}hyphen\u{2800}\u{3164}", "softhyphen"),
        ];
        for (input, expected) in cases {
            assert_eq!(clean_text(input), expected, "{input:?}");
            assert_eq!(clean_text(expected), expected);
        }
    }

    #[test]
    fn lines_are_single_and_cut_between_characters() {
        assert_eq!(clean_line("  a\n\n b\u{a0}\u{f101} c "), "a b c");
        assert_eq!(truncate("héllo wörld", 5), "héllo…");
        assert_eq!(truncate("日本語", 3), "日本語");
    }
}
