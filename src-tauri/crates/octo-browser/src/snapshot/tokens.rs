//! Estimates the number of tokens of a text, without a vocabulary.

/// Returns a slightly high estimate: one token is a word of up to six letters, three digits, two symbols, a
/// line's indentation, an ideograph or syllable, or three letters of another alphabet. Four bytes per token
/// would undercount a page of refs and a page of Chinese by a third. A space counts with the following word.
pub fn estimate_tokens(text: &str) -> usize {
    let mut count = TokenCount::default();
    text.chars().for_each(|char| count.add(char));
    count.tokens
}

#[derive(Default)]
struct TokenCount {
    tokens: usize,
    kind: CharKind,
    length: usize,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum CharKind {
    #[default]
    Space,
    Line,
    Word,
    Digits,
    Punctuation,
    OtherLetter,
    Ideograph,
    Symbol,
}

impl CharKind {
    fn of(char: char) -> Self {
        match char {
            '\n' => Self::Line,
            'a'..='z' | 'A'..='Z' => Self::Word,
            '0'..='9' => Self::Digits,
            '\0'..='\u{7f}' if char.is_ascii_punctuation() => Self::Punctuation,
            _ if char.is_whitespace() => Self::Space,
            '\u{1100}'..='\u{11ff}'
            | '\u{2e80}'..='\u{d7ff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{ff00}'..='\u{ffef}'
            | '\u{20000}'..='\u{3ffff}' => Self::Ideograph,
            _ if char.is_alphabetic() => Self::OtherLetter,
            _ => Self::Symbol,
        }
    }

    /// Returns the number of characters of a run that make one token.
    fn chars_per_token(self) -> usize {
        match self {
            Self::Word => 6,
            Self::Digits | Self::OtherLetter => 3,
            Self::Punctuation => 2,
            Self::Space => 16,
            Self::Line | Self::Ideograph | Self::Symbol => 1,
        }
    }
}

impl TokenCount {
    fn add(&mut self, char: char) {
        let kind = CharKind::of(char);
        if kind != self.kind {
            (self.kind, self.length) = (kind, 0);
        }
        // The first space of a run belongs to the following word.
        let token_start = if kind == CharKind::Space { 1 } else { 0 };
        if self.length % kind.chars_per_token() == token_start {
            self.tokens += 1;
        }
        self.length += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_several_kinds_of_text_are_estimated() {
        let cases = [
            ("", 0..=0),
            ("button \"Add to cart\" [30]", 8..=12),
            ("The quick brown fox jumps over the lazy dog.", 9..=12),
            ("把商品加入购物车", 6..=9),
            ("Добавить в корзину", 4..=8),
            ("3 | Customer 3 | 39.00 | link Open [57] | button Delete [58]", 20..=28),
        ];
        for (text, range) in cases {
            assert!(range.contains(&estimate_tokens(text)), "{text}: {}", estimate_tokens(text));
        }
    }
}
