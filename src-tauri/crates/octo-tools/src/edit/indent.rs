//! Indents: learned from matching lines, applied to their replacements.

/// Splits a line into its leading spaces and tabs, and the rest.
pub(super) fn split_indent(line: &[u8]) -> (&[u8], &[u8]) {
    let end = line.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(line.len());
    line.split_at(end)
}

/// Mapping from the indents of the model's text to those of the file.
#[derive(Debug, Default)]
pub(super) struct Indents {
    pairs: Vec<(String, String)>,
}

impl Indents {
    /// Records that `quoted` corresponds to `real`; returns false if it already corresponds to another one.
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

    /// Returns the text with each line's indent in the file's form.
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
        // Shallower than any known indent: the difference is removed.
        let known = self.pairs.iter().filter(|(known, _)| known.starts_with(quoted));
        if let Some((known, real)) = known.min_by_key(|(known, _)| known.len()) {
            let missing = self.convert(known.strip_prefix(quoted).unwrap_or_default());
            if let Some(real) = real.strip_suffix(&missing) {
                return real.to_owned();
            }
        }
        quoted.to_owned()
    }

    /// Converts the part of an indent after the known one: to the file's tabs or spaces, in its width.
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

/// Returns the number of `kind` that a text consists of; `None` if it is empty or contains other characters.
fn count(text: &str, kind: char) -> Option<usize> {
    (!text.is_empty() && text.chars().all(|c| c == kind)).then_some(text.len())
}
