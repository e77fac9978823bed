//! Our reader of bash's language: the whole of it that people write, as data ([`crate::script`]).
//!
//! It refuses what it does not know. What it knows but does not vouch for becomes a [`Doubt`]. It never decides;
//! for a line to run unasked the second reader ([`crate::tree`]) must see the same commands in it.

mod compound;
mod document;
mod words;

use crate::script::{
    Assignment, Command, Doubt, GroundKind, Joint, List, Negated, Parsed, Pipeline, Plain, Redirect,
    RedirectKind, Script, Simple, Word,
};

/// How deep constructs may stand in each other. Deeper than people write, and far from the thread's stack.
const MAX_DEPTH: usize = 32;

/// Why a line was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParseFailure;

/// Reads a line.
pub(crate) fn parse(line: &str) -> Result<Parsed, ParseFailure> {
    if line.len() > crate::tree::MAX_LINE || line.contains('\0') {
        return Err(ParseFailure);
    }
    let mut reader = Reader::new(line, 0, line.len());
    if line.chars().any(crate::plain::is_treacherous) {
        reader.doubts.push(Doubt::Characters);
    }
    let script = reader.script(&[])?;
    if reader.peek().is_some() || !reader.pending.is_empty() {
        return Err(ParseFailure);
    }
    let Reader { documents, doubts, .. } = reader;
    Ok(Parsed { script, documents, doubts })
}

/// A here-document that was announced and not read yet.
struct Pending {
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
    pending: Vec<Pending>,
    documents: Vec<crate::script::Document>,
    doubts: Vec<Doubt>,
}

impl Reader {
    /// Creates a reader of `text`, whose first byte is at `offset` in the line.
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

    fn ahead(&self, by: usize) -> Option<char> {
        self.chars.get(self.at + by).map(|(_, c)| *c)
    }

    fn offset(&self) -> usize {
        self.chars.get(self.at).map_or(self.end, |(offset, _)| *offset)
    }

    fn starts_with(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(by, c)| self.ahead(by) == Some(c))
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

    /// Goes one construct deeper.
    fn deeper<T>(
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

    /// Blanks, and line ends after a backslash.
    fn blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t')) || self.starts_with("\\\n") {
            self.at += if self.peek() == Some('\\') { 2 } else { 1 };
        }
    }

    fn comment(&mut self) {
        if self.peek() == Some('#') {
            while self.peek().is_some_and(|c| c != '\n') {
                self.at += 1;
            }
        }
    }

    /// A line end, and the here-documents that begin behind it.
    fn line_end(&mut self) -> Result<bool, ParseFailure> {
        if self.peek() != Some('\n') {
            return Ok(false);
        }
        self.at += 1;
        self.read_documents()?;
        Ok(true)
    }

    /// Blanks, comments and line ends.
    fn gap(&mut self) -> Result<(), ParseFailure> {
        loop {
            self.blanks();
            self.comment();
            if !self.line_end()? {
                return Ok(());
            }
        }
    }

    /// The word of the language that begins here, if one does and it ends as a word.
    fn reserved(&self) -> Option<&'static str> {
        const RESERVED: &[&str] = &[
            "if", "then", "elif", "else", "fi", "while", "until", "for", "select", "case", "esac", "do",
            "done", "in", "function", "time", "coproc", "{", "}", "!", "[[",
        ];
        RESERVED.iter().copied().find(|word| self.is_reserved(word))
    }

    fn is_reserved(&self, word: &str) -> bool {
        self.starts_with(word) && self.ahead(word.chars().count()).is_none_or(is_meta)
    }

    /// Commands up to the end, a `)`, `;;` or one of these words of the language, which are left standing.
    fn script(&mut self, stop: &[&str]) -> Result<Script, ParseFailure> {
        self.deeper(|reader| {
            let mut script = Script::default();
            loop {
                reader.gap()?;
                match reader.peek() {
                    None | Some(')') => return Ok(script),
                    Some(';') if reader.ahead(1) == Some(';') => return Ok(script),
                    _ if reader.reserved().is_some_and(|word| stop.contains(&word)) => return Ok(script),
                    _ => {}
                }
                let mut list = reader.list()?;
                reader.blanks();
                match (reader.peek(), reader.ahead(1)) {
                    (Some(';'), Some(';' | '&')) | (None | Some(')' | '\n' | '#'), _) => {}
                    (Some(';'), _) => reader.at += 1,
                    (Some('&'), _) => {
                        reader.at += 1;
                        list.ground = GroundKind::Back;
                    }
                    // After a compound command a word of the language may follow at once.
                    _ if reader.reserved().is_some_and(|word| stop.contains(&word)) => {}
                    _ => return Err(ParseFailure),
                }
                script.lists.push(list);
            }
        })
    }

    fn list(&mut self) -> Result<List, ParseFailure> {
        let mut pipelines = vec![(Joint::Sequence, self.pipeline()?)];
        loop {
            self.blanks();
            let joint = if self.eat("&&") {
                Joint::And
            } else if self.eat("||") {
                Joint::Or
            } else {
                return Ok(List { pipelines, ground: GroundKind::Fore });
            };
            self.gap()?;
            pipelines.push((joint, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Result<Pipeline, ParseFailure> {
        let mut negated = Negated::No;
        while self.is_reserved("!") {
            self.at += 1;
            self.blanks();
            negated = if negated == Negated::No { Negated::Yes } else { Negated::No };
        }
        let mut stages = vec![self.command()?];
        loop {
            self.blanks();
            if self.starts_with("||") {
                return Ok(Pipeline { stages, negated });
            }
            if self.eat("|&") {
                self.doubt(Doubt::Form);
            } else if !self.eat("|") {
                return Ok(Pipeline { stages, negated });
            }
            self.gap()?;
            stages.push(self.command()?);
        }
    }

    fn command(&mut self) -> Result<Command, ParseFailure> {
        self.deeper(|reader| {
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
            self.blanks();
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
                    self.blanks();
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
        self.gap()?;
        let body = self.deeper(|reader| reader.compound()?.ok_or(ParseFailure))?;
        Ok(Command::Function { name, body: Box::new(body) })
    }

    /// An assignment, if one begins here.
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
        let mut plain = Plain::Yes;
        if self.ahead(ahead) == Some('[') {
            // A subscript: read as the word it looks like, with the commands in it.
            let close = (ahead..).find(|by| self.ahead(*by).is_none_or(|c| c == '\n' || c == '='));
            if close.is_none_or(|by| self.ahead(by) != Some('=')) {
                return Ok(None);
            }
            self.doubt(Doubt::Evaluates);
            let value = self.word()?;
            return Ok(Some(Assignment { name, value, plain: Plain::No }));
        }
        if self.ahead(ahead) == Some('+') && self.ahead(ahead + 1) == Some('=') {
            plain = Plain::No;
            ahead += 1;
        }
        if self.ahead(ahead) != Some('=') {
            return Ok(None);
        }
        self.at += ahead + 1;
        if self.peek() == Some('(') {
            self.doubt(Doubt::Construct);
            self.at += 1;
            let mut value = Word { parts: Vec::new(), span: self.offset()..self.offset() };
            loop {
                self.gap()?;
                if self.eat(")") {
                    value.span.end = self.offset();
                    return Ok(Some(Assignment { name, value, plain: Plain::No }));
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
        Ok(Some(Assignment { name, value, plain }))
    }

    /// A redirection, if one begins here.
    fn redirect(&mut self) -> Result<Option<Redirect>, ParseFailure> {
        let digits = (0..).take_while(|by| self.ahead(*by).is_some_and(|c| c.is_ascii_digit())).count();
        let first = self.ahead(digits);
        let second = self.ahead(digits + 1);
        match (first, second) {
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
        self.blanks();
        let target = self.word()?;
        // `>&file` writes the file.
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

/// Whether a character ends a word.
fn is_meta(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
}
