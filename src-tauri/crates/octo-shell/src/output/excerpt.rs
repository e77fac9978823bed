//! Head and tail of a text that may be very long.

/// The share of the head, in percent. Errors are usually at the end; the command and its first error are at the
/// start.
const HEAD_PERCENT: usize = 30;

/// Collects a text, keeping only its head and tail.
#[derive(Debug)]
pub(super) struct Excerpt {
    head: String,
    tail: String,
    head_limit: usize,
    tail_limit: usize,
    /// The total number of bytes added.
    total: u64,
}

/// A text, or an excerpt of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ExcerptText {
    /// The text, or its head and tail.
    pub text: String,
    /// Whether part of it was left out.
    pub cut: bool,
}

impl Excerpt {
    pub(super) fn new(limit: usize) -> Self {
        let head_limit = limit * HEAD_PERCENT / 100;
        Self {
            head: String::new(),
            tail: String::new(),
            head_limit,
            tail_limit: limit - head_limit,
            total: 0,
        }
    }

    pub(super) fn push(&mut self, text: &str) {
        self.total += text.len() as u64;
        let remaining = if self.tail.is_empty() && self.head.len() < self.head_limit {
            let (head, remaining) = text.split_at(floor(text, self.head_limit - self.head.len()));
            self.head.push_str(head);
            // A character across the border must not leave space for the characters after it.
            if !remaining.is_empty() {
                self.head_limit = self.head.len();
            }
            remaining
        } else {
            text
        };
        self.tail.push_str(remaining);
        if self.tail.len() > 2 * self.tail_limit {
            let start = ceil(&self.tail, self.tail.len() - self.tail_limit);
            self.tail.drain(..start);
        }
    }

    /// Returns the total number of bytes added.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Returns the excerpt, in which `left_out` formats the number of missing bytes.
    pub(super) fn show(&self, left_out: impl FnOnce(u64) -> String) -> ExcerptText {
        let shown_bytes = self.head.len() as u64 + self.tail.len() as u64;
        if shown_bytes == self.total && self.tail.len() <= self.tail_limit {
            return ExcerptText { text: format!("{}{}", self.head, self.tail), cut: false };
        }
        // Whole lines, if that costs little.
        let head = match self.head.rfind('\n') {
            Some(at) if at >= self.head.len() / 2 => self.head.get(..=at).unwrap_or(&self.head),
            _ => &self.head,
        };
        let start = ceil(&self.tail, self.tail.len().saturating_sub(self.tail_limit));
        let tail = self.tail.get(start..).unwrap_or_default();
        let tail = match tail.find('\n') {
            Some(at) if at <= tail.len() / 2 => tail.get(at + 1..).unwrap_or_default(),
            _ => tail,
        };
        let notice = left_out(self.total - head.len() as u64 - tail.len() as u64);
        let gap = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
        ExcerptText { text: format!("{head}{gap}{notice}\n{tail}"), cut: true }
    }
}

/// Returns the last character boundary at or before `index`.
fn floor(text: &str, index: usize) -> usize {
    (0..=index.min(text.len())).rev().find(|index| text.is_char_boundary(*index)).unwrap_or(0)
}

/// Returns the first character boundary at or after `index`.
fn ceil(text: &str, index: usize) -> usize {
    (index..text.len()).find(|index| text.is_char_boundary(*index)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(limit: usize, chunks: &[&str]) -> ExcerptText {
        let mut excerpt = Excerpt::new(limit);
        chunks.iter().for_each(|chunk| excerpt.push(chunk));
        excerpt.show(|left_out| format!("[{left_out} left out]"))
    }

    #[test]
    fn text_within_the_limit_is_complete() {
        assert_eq!(shown(10, &["01234", "56789"]), ExcerptText { text: "0123456789".into(), cut: false });
    }

    #[test]
    fn head_and_tail_are_whole_lines_and_the_rest_is_counted() {
        let lines: Vec<String> = (0..100).map(|n| format!("line {n:02}\n")).collect();
        let chunks: Vec<&str> = lines.iter().map(String::as_str).collect();
        let ExcerptText { text, cut } = shown(100, &chunks);
        assert!(cut);
        assert_eq!(
            text,
            "line 00\nline 01\nline 02\n[712 left out]\nline 92\nline 93\nline 94\nline 95\nline 96\nline 97\nline 98\nline 99\n"
        );
    }

    proptest! {
        #[test]
        fn any_chunks_yield_a_bounded_text(chunks in prop::collection::vec("[a-zé中\n]{0,40}", 0..60), limit in 20usize..200) {
            let chunks: Vec<&str> = chunks.iter().map(String::as_str).collect();
            let full = chunks.concat();
            let ExcerptText { text, cut } = shown(limit, &chunks);
            if full.len() <= limit - 8 {
                prop_assert!(!cut);
            }
            if cut {
                prop_assert!(text.len() <= limit + 30);
                let (head, tail) = text.split_once('[').unwrap();
                prop_assert!(full.starts_with(head.trim_end_matches('\n')));
                prop_assert!(full.ends_with(tail.split_once("]\n").unwrap().1));
            } else {
                prop_assert_eq!(text, full);
            }
        }
    }
}
