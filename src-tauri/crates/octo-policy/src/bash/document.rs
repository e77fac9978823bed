//! Here-documents.

use super::{ParseFailure, PendingDocument, Reader};
use crate::script::{Document, Doubt, Part, Redirect, RedirectKind, Word};

impl Reader {
    /// Parses the delimiter after `<<`. The text of the document begins after the next line end.
    pub(super) fn register_document(&mut self, strip_tabs: bool) -> Result<Redirect, ParseFailure> {
        self.skip_blanks();
        let doubt_count = self.doubts.len();
        let target = self.word()?;
        // Bash expands nothing in a delimiter. The parser rejects a delimiter that looks like an expansion.
        let delimiter = target.literal().ok_or(ParseFailure)?;
        if delimiter.is_empty() || delimiter.contains('\n') || self.doubts.len() > doubt_count {
            self.doubt(Doubt::RareForm);
        }
        let written_length = self.chars.iter().filter(|(at, _)| target.span.contains(at)).count();
        let quoted = written_length != delimiter.chars().count();
        let document = self.documents.len();
        self.documents.push(Document::default());
        self.pending.push(PendingDocument { document, delimiter, quoted, strip_tabs });
        Ok(Redirect { kind: RedirectKind::Document(document), target })
    }

    /// Reads the texts of the pending documents, which begin here.
    pub(super) fn read_documents(&mut self) -> Result<(), ParseFailure> {
        for pending in std::mem::take(&mut self.pending) {
            let (text, start) = self.document_text(&pending)?;
            let mut parts = Vec::new();
            if !pending.quoted {
                let mut inner = Self::new(&text, start, start + text.len());
                inner.depth = self.depth;
                while inner.peek().is_some() {
                    inner.quoted_part(&mut parts)?;
                }
                self.doubts.append(&mut inner.doubts);
                if parts.iter().any(|part| matches!(part, Part::Command(..) | Part::Opaque(..))) {
                    self.doubt(Doubt::HiddenCommand);
                }
            }
            if let Some(document) = self.documents.get_mut(pending.document) {
                *document = Document { text, parts };
            }
        }
        Ok(())
    }

    fn document_text(&mut self, pending: &PendingDocument) -> Result<(String, usize), ParseFailure> {
        let start = self.offset();
        let mut text = String::new();
        loop {
            // A document without its delimiter extends to the end; bash only prints a warning.
            if self.peek().is_none() {
                self.doubt(Doubt::RareForm);
                return Ok((text, start));
            }
            let mut line = String::new();
            while let Some(c) = self.peek() {
                self.at += 1;
                if c == '\n' {
                    break;
                }
                line.push(c);
            }
            let candidate = if pending.strip_tabs { line.trim_start_matches('\t') } else { line.as_str() };
            if candidate == pending.delimiter {
                return Ok((text, start));
            }
            // Bash joins such lines before it looks for the delimiter.
            if !pending.quoted && line.ends_with('\\') {
                self.doubt(Doubt::SplitWord);
            }
            text.push_str(&line);
            text.push('\n');
        }
    }

    /// Returns a word without parts at this position.
    pub(super) fn empty_word(&self) -> Word {
        Word { parts: Vec::new(), span: self.offset()..self.offset() }
    }
}
