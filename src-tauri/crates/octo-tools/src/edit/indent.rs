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
    /// Records that `quoted` corresponds to `actual`; returns false if it already corresponds to another one.
    pub(super) fn learn(&mut self, quoted: &[u8], actual: &[u8]) -> bool {
        // Indents are ASCII.
        let (quoted, actual) = (String::from_utf8_lossy(quoted), String::from_utf8_lossy(actual));
        match self.pairs.iter().find(|(expected, _)| *expected == quoted) {
            Some((_, expected)) => *expected == actual,
            None => {
                self.pairs.push((quoted.into_owned(), actual.into_owned()));
                true
            }
        }
    }

    /// Returns the text with each line's indent in the file's form.
    pub(super) fn apply(&self, text: &str) -> String {
        if self.pairs.iter().all(|(quoted, actual)| quoted == actual) {
            return text.to_owned();
        }
        let lines: Vec<String> = text
            .split('\n')
            .map(|line| {
                let remaining = line.trim_start_matches([' ', '\t']);
                if remaining.trim_end_matches('\r').is_empty() {
                    return line.to_owned();
                }
                let indent = line.strip_suffix(remaining).unwrap_or_default();
                format!("{}{remaining}", self.actual_indent(indent))
            })
            .collect();
        lines.join("\n")
    }

    fn actual_indent(&self, quoted: &str) -> String {
        let candidates = self.pairs.iter().filter(|(candidates, _)| quoted.starts_with(candidates.as_str()));
        if let Some((candidates, actual)) = candidates.max_by_key(|(candidates, _)| candidates.len()) {
            let deeper = quoted.strip_prefix(candidates.as_str()).unwrap_or_default();
            return format!("{actual}{}", self.convert(deeper));
        }
        // Shallower than any known indent: the difference is removed.
        let candidates = self.pairs.iter().filter(|(candidates, _)| candidates.starts_with(quoted));
        if let Some((candidates, actual)) = candidates.min_by_key(|(candidates, _)| candidates.len()) {
            let missing = self.convert(candidates.strip_prefix(quoted).unwrap_or_default());
            if let Some(actual) = actual.strip_suffix(&missing) {
                return actual.to_owned();
            }
        }
        quoted.to_owned()
    }

    /// Converts the part of an indent after the known one: to the file's tabs or spaces, in its width.
    fn convert(&self, indent: &str) -> String {
        for (quoted, actual) in &self.pairs {
            let (tabs, blanks) = (count(quoted, '\t'), count(actual, ' '));
            if let (Some(tabs), Some(blanks)) = (tabs, blanks)
                && blanks.is_multiple_of(tabs)
            {
                return indent.replace('\t', &" ".repeat(blanks / tabs));
            }
            let (blanks, tabs) = (count(quoted, ' '), count(actual, '\t'));
            if let (Some(blanks), Some(tabs)) = (blanks, tabs)
                && blanks.is_multiple_of(tabs)
            {
                return indent.replace(&" ".repeat(blanks / tabs), "\t");
            }
        }
        let only_blanks = |text: &str| text.bytes().all(|byte| byte == b' ');
        let widths = || self.pairs.iter().filter(|(a, b)| only_blanks(a) && only_blanks(b));
        let narrow = widths().min_by_key(|(quoted, _)| quoted.len());
        let wide = widths().max_by_key(|(quoted, _)| quoted.len());
        if let (Some((quoted, actual)), Some((more_quoted, more_real))) = (narrow, wide)
            && let Some(per) = (more_quoted.len() - quoted.len()).checked_sub(1).map(|less| less + 1)
            && let Some(gained) = more_real.len().checked_sub(actual.len())
            && only_blanks(indent)
            && gained > 0
            && (indent.len() * gained).is_multiple_of(per)
        {
            return " ".repeat(indent.len() * gained / per);
        }
        indent.to_owned()
    }
}

/// Returns the number of `kind` that a text consists of; `None` if it is empty or contains other characters.
fn count(text: &str, kind: char) -> Option<usize> {
    (!text.is_empty() && text.chars().all(|c| c == kind)).then_some(text.len())
}
