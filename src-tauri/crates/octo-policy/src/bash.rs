//! Our parser of bash, which covers the language as people write it. The result is data ([`crate::script`]).
//!
//! The parser rejects constructs it does not know, and reports a [`Doubt`] for constructs it knows but does not vouch
//! for. It decides nothing: a line runs unasked only if the second parser ([`crate::tree`]) sees the same commands.

mod compound;
mod document;
mod words;

use crate::script::{
    Assignment, AssignmentForm, Command, Doubt, Execution, Join, List, Negation, Parsed, Pipeline, Redirect,
    RedirectKind, Script, Simple, Word,
};

/// Maximum nesting depth of constructs: deeper than people write, and too shallow to exhaust the thread's stack.
const MAX_DEPTH: usize = 32;

/// The error of a line that the parser rejects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParseFailure;

/// Parses a line.
pub(crate) fn parse(line: &str) -> Result<Parsed, ParseFailure> {
    if line.len() > crate::tree::MAX_LINE || line.contains('\0') {
        return Err(ParseFailure);
    }
    let mut reader = Reader::new(line, 0, line.len());
    if line.chars().any(crate::plain::is_treacherous) {
        reader.doubts.push(Doubt::MisleadingCharacters);
    }
    let script = reader.script(&[])?;
    if reader.peek().is_some() || !reader.pending.is_empty() {
        return Err(ParseFailure);
    }
    let Reader { documents, doubts, .. } = reader;
    Ok(Parsed { script, documents, doubts })
}

/// A here-document whose operator was parsed and whose text was not.
struct PendingDocument {
    /// Index in [`Reader::documents`].
    document: usize,
    delimiter: String,
    quoted: bool,
    strip_tabs: bool,
}

struct Reader {
    chars: Vec<(usize, char)>,
    at: usize,
    end: usize,
    depth: usize,
    pending: Vec<PendingDocument>,
    documents: Vec<crate::script::Document>,
    doubts: Vec<Doubt>,
}

impl Reader {
    /// Creates a reader of `text`. Its first byte is at `offset` in the line, and its end at `end`.
    fn new(text: &str, offset: usize, end: usize) -> Self {
        Self {
            chars: text.char_indices().map(|(at, c)| (at + offset, c)).collect(),
            at: 0,
            end,
            depth: 0,
            pending: Vec::new(),
            documents: Vec::new(),
            doubts: Vec::new(),
        }
    }

    fn peek(&self) -> Option<char> {
        self.ahead(0)
    }

    fn ahead(&self, distance: usize) -> Option<char> {
        self.chars.get(self.at + distance).map(|(_, c)| *c)
    }

    fn offset(&self) -> usize {
        self.chars.get(self.at).map_or(self.end, |(offset, _)| *offset)
    }

    fn starts_with(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(distance, c)| self.ahead(distance) == Some(c))
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.starts_with(text);
        if found {
            self.at += text.chars().count();
        }
        found
    }

    fn expect(&mut self, text: &str) -> Result<(), ParseFailure> {
        if self.eat(text) { Ok(()) } else { Err(ParseFailure) }
    }

    fn doubt(&mut self, doubt: Doubt) {
        self.doubts.push(doubt);
    }

    /// Calls `read` one nesting level deeper, or fails beyond [`MAX_DEPTH`].
    fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, ParseFailure>,
    ) -> Result<T, ParseFailure> {
        if self.depth >= MAX_DEPTH {
            return Err(ParseFailure);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Skips blanks, and line ends after a backslash.
    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t')) || self.starts_with("\\\n") {
            self.at += if self.peek() == Some('\\') { 2 } else { 1 };
        }
    }

    fn skip_comment(&mut self) {
        if self.peek() == Some('#') {
            while self.peek().is_some_and(|c| c != '\n') {
                self.at += 1;
            }
        }
    }

    /// Consumes a line end and the texts of the pending here-documents after it. Returns whether there was one.
    fn eat_line_end(&mut self) -> Result<bool, ParseFailure> {
        if self.peek() != Some('\n') {
            return Ok(false);
        }
        self.at += 1;
        self.read_documents()?;
        Ok(true)
    }

    /// Skips blanks, comments and line ends.
    fn skip_trivia(&mut self) -> Result<(), ParseFailure> {
        loop {
            self.skip_blanks();
            self.skip_comment();
            if !self.eat_line_end()? {
                return Ok(());
            }
        }
    }

    /// Returns the reserved word at this position, if there is one.
    fn reserved_word(&self) -> Option<&'static str> {
        const RESERVED: &[&str] = &[
            "if", "then", "elif", "else", "fi", "while", "until", "for", "select", "case", "esac", "do",
            "done", "in", "function", "time", "coproc", "{", "}", "!", "[[",
        ];
        RESERVED.iter().copied().find(|word| self.is_reserved(word))
    }

    fn is_reserved(&self, word: &str) -> bool {
        self.starts_with(word) && self.ahead(word.chars().count()).is_none_or(is_meta)
    }

    /// Parses commands up to the end, a `)`, `;;` or one of the reserved words `terminators`. Does not consume these.
    fn script(&mut self, terminators: &[&str]) -> Result<Script, ParseFailure> {
        self.nested(|reader| {
            let mut script = Script::default();
            loop {
                reader.skip_trivia()?;
                match reader.peek() {
                    None | Some(')') => return Ok(script),
                    Some(';') if reader.ahead(1) == Some(';') => return Ok(script),
                    _ if reader.reserved_word().is_some_and(|word| terminators.contains(&word)) => {
                        return Ok(script);
                    }
                    _ => {}
                }
                let mut list = reader.list()?;
                reader.skip_blanks();
                match (reader.peek(), reader.ahead(1)) {
                    (Some(';'), Some(';' | '&')) | (None | Some(')' | '\n' | '#'), _) => {}
                    (Some(';'), _) => reader.at += 1,
                    (Some('&'), _) => {
                        reader.at += 1;
                        list.execution = Execution::Background;
                    }
                    // A reserved word may directly follow a compound command.
                    _ if reader.reserved_word().is_some_and(|word| terminators.contains(&word)) => {}
                    _ => return Err(ParseFailure),
                }
                script.lists.push(list);
            }
        })
    }

    fn list(&mut self) -> Result<List, ParseFailure> {
        let mut pipelines = vec![(Join::Sequence, self.pipeline()?)];
        loop {
            self.skip_blanks();
            let join = if self.eat("&&") {
                Join::And
            } else if self.eat("||") {
                Join::Or
            } else {
                return Ok(List { pipelines, execution: Execution::Foreground });
            };
            self.skip_trivia()?;
            pipelines.push((join, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Result<Pipeline, ParseFailure> {
        let mut negation = Negation::No;
        while self.is_reserved("!") {
            self.at += 1;
            self.skip_blanks();
            negation = if negation == Negation::No { Negation::Yes } else { Negation::No };
        }
        let mut stages = vec![self.command()?];
        loop {
            self.skip_blanks();
            if self.starts_with("||") {
                return Ok(Pipeline { stages, negation });
            }
            if self.eat("|&") {
                self.doubt(Doubt::RareForm);
            } else if !self.eat("|") {
                return Ok(Pipeline { stages, negation });
            }
            self.skip_trivia()?;
            stages.push(self.command()?);
        }
    }

    fn command(&mut self) -> Result<Command, ParseFailure> {
        self.nested(|reader| {
            if let Some(compound) = reader.compound()? {
                return Ok(compound);
            }
            reader.simple()
        })
    }

    fn simple(&mut self) -> Result<Command, ParseFailure> {
        let start = self.offset();
        let mut simple =
            Simple { assignments: Vec::new(), words: Vec::new(), redirects: Vec::new(), span: start..start };
        loop {
            self.skip_blanks();
            match (self.peek(), self.ahead(1)) {
                (None | Some('\n' | ';' | '|' | ')'), _) => break,
                (Some('&'), next) if next != Some('>') => break,
                (Some('#'), _) => break,
                (Some('('), _) => {
                    // `name ()` defines a function.
                    let [name] = simple.words.as_slice() else { return Err(ParseFailure) };
                    let name = name.literal().ok_or(ParseFailure)?;
                    if !simple.assignments.is_empty() || !simple.redirects.is_empty() {
                        return Err(ParseFailure);
                    }
                    self.at += 1;
                    self.skip_blanks();
                    self.expect(")")?;
                    return self.function(name);
                }
                _ => {}
            }
            if let Some(redirect) = self.redirect()? {
                simple.redirects.push(redirect);
            } else if let Some(assignment) = if simple.words.is_empty() { self.assignment()? } else { None } {
                simple.assignments.push(assignment);
            } else {
                let word = self.word()?;
                simple.words.push(word);
            }
            simple.span.end = self.offset();
        }
        if simple.span.is_empty() { Err(ParseFailure) } else { Ok(Command::Simple(simple)) }
    }

    fn function(&mut self, name: String) -> Result<Command, ParseFailure> {
        self.doubt(Doubt::Function);
        self.skip_trivia()?;
        let body = self.nested(|reader| reader.compound()?.ok_or(ParseFailure))?;
        Ok(Command::Function { name, body: Box::new(body) })
    }

    /// Parses the assignment at this position, if there is one.
    fn assignment(&mut self) -> Result<Option<Assignment>, ParseFailure> {
        let mut ahead = 0;
        let mut name = String::new();
        while let Some(c) = self.ahead(ahead).filter(|c| c.is_ascii_alphanumeric() || *c == '_') {
            if ahead == 0 && c.is_ascii_digit() {
                return Ok(None);
            }
            name.push(c);
            ahead += 1;
        }
        if name.is_empty() {
            return Ok(None);
        }
        let mut form = AssignmentForm::Plain;
        if self.ahead(ahead) == Some('[') {
            // A subscript is parsed as a word, so that the commands inside it are found.
            let end_distance =
                (ahead..).find(|distance| self.ahead(*distance).is_none_or(|c| c == '\n' || c == '='));
            if end_distance.is_none_or(|distance| self.ahead(distance) != Some('=')) {
                return Ok(None);
            }
            self.doubt(Doubt::Evaluation);
            let value = self.word()?;
            return Ok(Some(Assignment { name, value, form: AssignmentForm::Other }));
        }
        if self.ahead(ahead) == Some('+') && self.ahead(ahead + 1) == Some('=') {
            form = AssignmentForm::Other;
            ahead += 1;
        }
        if self.ahead(ahead) != Some('=') {
            return Ok(None);
        }
        self.at += ahead + 1;
        if self.peek() == Some('(') {
            self.doubt(Doubt::UnfollowedConstruct);
            self.at += 1;
            let mut value = Word { parts: Vec::new(), span: self.offset()..self.offset() };
            loop {
                self.skip_trivia()?;
                if self.eat(")") {
                    value.span.end = self.offset();
                    return Ok(Some(Assignment { name, value, form: AssignmentForm::Other }));
                }
                value.parts.extend(self.word()?.parts);
            }
        }
        let value = match self.peek() {
            None | Some(' ' | '\t' | '\n' | ';' | '|' | '&' | ')' | '<' | '>') => {
                Word { parts: Vec::new(), span: self.offset()..self.offset() }
            }
            _ => self.word()?,
        };
        Ok(Some(Assignment { name, value, form }))
    }

    /// Parses the redirection at this position, if there is one.
    fn redirect(&mut self) -> Result<Option<Redirect>, ParseFailure> {
        let digits =
            (0..).take_while(|distance| self.ahead(*distance).is_some_and(|c| c.is_ascii_digit())).count();
        let operator = self.ahead(digits);
        let after_operator = self.ahead(digits + 1);
        match (operator, after_operator) {
            (Some('<' | '>'), Some('(')) if digits == 0 => return Ok(None),
            (Some('<' | '>'), _) => {}
            (Some('&'), Some('>')) if digits == 0 => {}
            _ => return Ok(None),
        }
        self.at += digits;
        let kind = if self.eat("<<<") {
            RedirectKind::Text
        } else if self.eat("<<-") {
            return self.register_document(true).map(Some);
        } else if self.eat("<<") {
            return self.register_document(false).map(Some);
        } else if self.eat("&>>") || self.eat("&>") || self.eat("<>") || self.eat(">>") || self.eat(">|") {
            RedirectKind::Write
        } else if self.eat("<&") || self.eat(">&") {
            RedirectKind::Duplicate
        } else if self.eat("<") {
            RedirectKind::Read
        } else {
            self.expect(">")?;
            RedirectKind::Write
        };
        self.skip_blanks();
        let target = self.word()?;
        // `>&file` writes to the file.
        let kind = match kind {
            RedirectKind::Duplicate
                if !target.literal().is_some_and(|text| {
                    text == "-" || text.trim_end_matches('-').chars().all(|c| c.is_ascii_digit())
                }) =>
            {
                RedirectKind::Write
            }
            other => other,
        };
        Ok(Some(Redirect { kind, target }))
    }
}

/// Returns whether a character is a metacharacter, which ends a word.
fn is_meta(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
}
