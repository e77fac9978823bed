//! How many tokens a text takes, estimated without a vocabulary.

/// An estimate that leans to the high side: a word of up to six letters is a token, as are three digits, two
/// signs, a line's indentation, an ideograph or syllable, three letters of another alphabet. Four bytes a token
/// would count a page of refs and a page of Chinese a third too low. A space counts with the word after it.
pub fn estimate_tokens(text: &str) -> usize {
    let mut count = Count::default();
    text.chars().for_each(|char| count.add(char));
    count.tokens
}

#[derive(Default)]
struct Count {
    tokens: usize,
    kind: Kind,
    length: usize,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Space,
    Line,
    Word,
    Digits,
    Signs,
    Other,
    Ideograph,
    Symbol,
}

impl Kind {
    fn of(char: char) -> Self {
        match char {
            '\n' => Self::Line,
            'a'..='z' | 'A'..='Z' => Self::Word,
            '0'..='9' => Self::Digits,
            '\0'..='\u{7f}' if char.is_ascii_punctuation() => Self::Signs,
            _ if char.is_whitespace() => Self::Space,
            '\u{1100}'..='\u{11ff}'
            | '\u{2e80}'..='\u{d7ff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{ff00}'..='\u{ffef}'
            | '\u{20000}'..='\u{3ffff}' => Self::Ideograph,
            _ if char.is_alphabetic() => Self::Other,
            _ => Self::Symbol,
        }
    }

    /// So many characters of a run are one token.
    fn span(self) -> usize {
        match self {
            Self::Word => 6,
            Self::Digits | Self::Other => 3,
            Self::Signs => 2,
            Self::Space => 16,
            Self::Line | Self::Ideograph | Self::Symbol => 1,
        }
    }
}

impl Count {
    fn add(&mut self, char: char) {
        let kind = Kind::of(char);
        if kind != self.kind {
            (self.kind, self.length) = (kind, 0);
        }
        // The first space of a run belongs to the word that follows.
        let first = if kind == Kind::Space { 1 } else { 0 };
        if self.length % kind.span() == first {
            self.tokens += 1;
        }
        self.length += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_several_kinds() {
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
