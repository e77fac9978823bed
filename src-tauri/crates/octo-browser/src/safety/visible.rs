//! Visible page text: removes characters that a person does not see but a model reads.

/// Maximum number of marks kept on one letter: more serve to hide text or to fill the screen.
const MAX_COMBINING_MARKS: usize = 4;

/// Returns a text without invisible characters: controls, zero-width and direction characters, tags, variation
/// selectors, fillers. Line breaks and tabs stay; joiners stay only in scripts that need them.
pub(crate) fn visible(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    let mut mark_count = 0;
    let mut previous = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let character = match character {
            '\r' if characters.peek() == Some(&'\n') => continue,
            '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => '\n',
            '\u{200c}' | '\u{200d}' => {
                let keeps_joiner = previous.is_some_and(uses_joiners)
                    && characters.peek().copied().is_some_and(uses_joiners);
                if keeps_joiner {
                    output.push(character);
                    previous = None;
                }
                continue;
            }
            other => other,
        };
        if is_invisible(character) {
            continue;
        }
        mark_count = if is_mark(character) { mark_count + 1 } else { 0 };
        if mark_count > MAX_COMBINING_MARKS {
            continue;
        }
        output.push(character);
        previous = Some(character);
    }
    output
}

/// Returns one line of [`visible`] text: breaks become spaces, and at most `limit` characters are kept.
pub(crate) fn line(text: &str, limit: usize) -> String {
    let cleaned = visible(text);
    let words: Vec<&str> = cleaned.split_whitespace().collect();
    let joined = words.join(" ");
    let mut characters = joined.chars();
    let mut shortened: String = characters.by_ref().take(limit).collect();
    if characters.next().is_some() {
        shortened.push('\u{2026}');
    }
    shortened
}

/// Returns whether a character is invisible, or changes the display of its neighbours.
pub(crate) fn is_invisible(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // Controls; soft hyphen; combining grapheme joiner; Arabic and Hangul fillers.
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' => true,
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => true,
        // Khmer inherent vowels; Mongolian selectors.
        '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' => true,
        // Zero width, joiners, directions; word joiner, invisible operators, isolates, old shapings.
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        // The empty Braille pattern; variation selectors; byte order mark; annotations, object replacement.
        '\u{2800}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffc}' => true,
        // Shorthand and musical formatting; tags, selectors and adjacent characters.
        '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' => true,
        // Private use: no meaning outside one font.
        '\u{e000}'..='\u{f8ff}' | '\u{f0000}'.. => true,
        _ => false,
    }
}

/// Returns whether a character is a combining mark, in scripts that put one or two on a letter.
pub(crate) fn is_mark(character: char) -> bool {
    matches!(
        character,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{610}'..='\u{61a}'
            | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6dc}' | '\u{6df}'..='\u{6e4}'
            | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}'
            | '\u{fe20}'..='\u{fe2f}'
    )
}

/// Returns whether a letter's script uses joiners to change how a word is read: Arabic, and those of India and
/// its neighbours.
fn uses_joiners(character: char) -> bool {
    matches!(character, '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{fb50}'..='\u{fdff}' | '\u{1000}'..='\u{109f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_removed() {
        for (text, expected) in [
            ("plain, \u{e9}\u{4e2d}\u{6587} \u{1f600}", "plain, \u{e9}\u{4e2d}\u{6587} \u{1f600}"),
            ("a\r\nb\rc\u{2028}d\te", "a\nb\nc\nd\te"),
            ("i\u{200b}g\u{2060}n\u{feff}o\u{ad}re", "ignore"),
            ("\u{202e}txt.exe", "txt.exe"),
            ("x\u{e0049}\u{e0067}\u{e006e}y", "xy"),
            ("a\u{fe01}\u{e0101}b", "ab"),
            ("\u{1b}[31mred\u{1b}[0m\0", "[31mred[0m"),
            ("\u{2800}\u{3164}\u{115f}x", "x"),
            // A joiner stays in Persian and in Hindi, but only one.
            ("\u{645}\u{6cc}\u{200c}\u{62e}", "\u{645}\u{6cc}\u{200c}\u{62e}"),
            ("\u{645}\u{200c}\u{200c}\u{62e}", "\u{645}\u{200c}\u{62e}"),
            ("a\u{200d}b", "ab"),
            ("Z\u{300}\u{301}\u{302}\u{303}\u{304}\u{305}o", "Z\u{300}\u{301}\u{302}\u{303}o"),
        ] {
            assert_eq!(visible(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_line_is_single_and_bounded() {
        assert_eq!(line(" a\n\n b\u{200b}c ", 10), "a bc");
        assert_eq!(line("\u{4e2d}\u{6587}\u{5b57}", 2), "\u{4e2d}\u{6587}\u{2026}");
    }
}
