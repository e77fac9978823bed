//! Here-documents.

use super::{ParseFailure, Pending, Reader};
use crate::script::{Document, Doubt, Part, Redirect, RedirectKind, Word};

impl Reader {
    /// The delimiter behind `<<`; the text follows behind the next line end.
    pub(super) fn register_document(&mut self, strip_tabs: bool) -> Result<Redirect, ParseFailure> {
        self.blanks();
        let doubts = self.doubts.len();
        let target = self.word()?;
        // Bash expands nothing in a delimiter; an apparent expansion there is not supported.
        let delimiter = target.literal().ok_or(ParseFailure)?;
        if delimiter.is_empty() || delimiter.contains('\n') || self.doubts.len() > doubts {
            self.doubt(Doubt::Form);
        }
        let raw = self.chars.iter().filter(|(at, _)| target.span.contains(at)).count();
        let quoted = raw != delimiter.chars().count();
        let document = self.documents.len();
        self.documents.push(Document::default());
        self.pending.push(Pending { document, delimiter, quoted, strip_tabs });
        Ok(Redirect { kind: RedirectKind::Document(document), target })
    }

    /// The texts of the documents that were announced in the line that ended.
    pub(super) fn read_documents(&mut self) -> Result<(), ParseFailure> {
        for pending in std::mem::take(&mut self.pending) {
            let (text, from) = self.document_text(&pending)?;
            let mut parts = Vec::new();
            if !pending.quoted {
                let mut inner = Self::new(&text, from, from + text.len());
                inner.depth = self.depth;
                while inner.peek().is_some() {
                    inner.quoted_part(&mut parts)?;
                }
                self.doubts.append(&mut inner.doubts);
                if parts.iter().any(|part| matches!(part, Part::Command(..) | Part::Opaque(..))) {
                    self.doubt(Doubt::Hidden);
                }
            }
            if let Some(document) = self.documents.get_mut(pending.document) {
                *document = Document { text, parts };
            }
        }
        Ok(())
    }

    fn document_text(&mut self, pending: &Pending) -> Result<(String, usize), ParseFailure> {
        let from = self.offset();
        let mut text = String::new();
        loop {
            // A document without its delimiter extends to the end; bash only prints a warning.
            if self.peek().is_none() {
                self.doubt(Doubt::Form);
                return Ok((text, from));
            }
            let mut line = String::new();
            while let Some(c) = self.peek() {
                self.at += 1;
                if c == '\n' {
                    break;
                }
                line.push(c);
            }
            let shown = if pending.strip_tabs { line.trim_start_matches('\t') } else { line.as_str() };
            if shown == pending.delimiter {
                return Ok((text, from));
            }
            // Bash joins such lines before it looks for the delimiter.
            if !pending.quoted && line.ends_with('\\') {
                self.doubt(Doubt::SplitWord);
            }
            text.push_str(&line);
            text.push('\n');
        }
    }

    /// A word of nothing, here.
    pub(super) fn nothing(&self) -> Word {
        Word { parts: Vec::new(), span: self.offset()..self.offset() }
    }
}
