//! Indents: learnt from lines that match, applied to lines that replace them.

/// A line's leading blanks and tabs, and the rest.
pub(super) fn split_indent(line: &[u8]) -> (&[u8], &[u8]) {
    let end = line.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(line.len());
    line.split_at(end)
}

/// Which indent of the model's text stands for which indent of the file.
#[derive(Debug, Default)]
pub(super) struct Indents {
    pairs: Vec<(String, String)>,
}

impl Indents {
    /// Takes over that `quoted` stands for `real`; false where it was known to stand for another one.
    pub(super) fn learn(&mut self, quoted: &[u8], real: &[u8]) -> bool {
        // Indents are ASCII.
        let (quoted, real) = (String::from_utf8_lossy(quoted), String::from_utf8_lossy(real));
        match self.pairs.iter().find(|(known, _)| *known == quoted) {
            Some((_, known)) => *known == real,
            None => {
                self.pairs.push((quoted.into_owned(), real.into_owned()));
                true
            }
        }
    }

    /// The text with each line's indent as the file would have it.
    pub(super) fn apply(&self, text: &str) -> String {
        if self.pairs.iter().all(|(quoted, real)| quoted == real) {
            return text.to_owned();
        }
        let lines: Vec<String> = text
            .split('\n')
            .map(|line| {
                let rest = line.trim_start_matches([' ', '\t']);
                if rest.trim_end_matches('\r').is_empty() {
                    return line.to_owned();
                }
                let indent = line.strip_suffix(rest).unwrap_or_default();
                format!("{}{rest}", self.real(indent))
            })
            .collect();
        lines.join("\n")
    }

    fn real(&self, quoted: &str) -> String {
        let known = self.pairs.iter().filter(|(known, _)| quoted.starts_with(known.as_str()));
        if let Some((known, real)) = known.max_by_key(|(known, _)| known.len()) {
            let deeper = quoted.strip_prefix(known.as_str()).unwrap_or_default();
            return format!("{real}{}", self.convert(deeper));
        }
        // Shallower than all that is known: what is missing is taken away.
        let known = self.pairs.iter().filter(|(known, _)| known.starts_with(quoted));
        if let Some((known, real)) = known.min_by_key(|(known, _)| known.len()) {
            let missing = self.convert(known.strip_prefix(quoted).unwrap_or_default());
            if let Some(real) = real.strip_suffix(&missing) {
                return real.to_owned();
            }
        }
        quoted.to_owned()
    }

    /// A piece of indent beyond what is known: tabs and blanks in the file's kind, blanks in its width.
    fn convert(&self, piece: &str) -> String {
        for (quoted, real) in &self.pairs {
            let (tabs, blanks) = (count(quoted, '\t'), count(real, ' '));
            if let (Some(tabs), Some(blanks)) = (tabs, blanks)
                && blanks.is_multiple_of(tabs)
            {
                return piece.replace('\t', &" ".repeat(blanks / tabs));
            }
            let (blanks, tabs) = (count(quoted, ' '), count(real, '\t'));
            if let (Some(blanks), Some(tabs)) = (blanks, tabs)
                && blanks.is_multiple_of(tabs)
            {
                return piece.replace(&" ".repeat(blanks / tabs), "\t");
            }
        }
        let only_blanks = |text: &str| text.bytes().all(|byte| byte == b' ');
        let widths = || self.pairs.iter().filter(|(a, b)| only_blanks(a) && only_blanks(b));
        let narrow = widths().min_by_key(|(quoted, _)| quoted.len());
        let wide = widths().max_by_key(|(quoted, _)| quoted.len());
        if let (Some((quoted, real)), Some((more_quoted, more_real))) = (narrow, wide)
            && let Some(per) = (more_quoted.len() - quoted.len()).checked_sub(1).map(|less| less + 1)
            && let Some(gained) = more_real.len().checked_sub(real.len())
            && only_blanks(piece)
            && gained > 0
            && (piece.len() * gained).is_multiple_of(per)
        {
            return " ".repeat(piece.len() * gained / per);
        }
        piece.to_owned()
    }
}

/// How many of `kind` a text is made of; none for an empty text or another one.
fn count(text: &str, kind: char) -> Option<usize> {
    (!text.is_empty() && text.chars().all(|c| c == kind)).then_some(text.len())
}
