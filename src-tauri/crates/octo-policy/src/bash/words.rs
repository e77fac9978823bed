//! Words: quotes, expansions, substitutions, patterns, braces.

use super::{ParseFailure, Reader, is_meta};
use crate::script::{Doubt, Part, Quoting, Script, Word};

/// Words a brace expansion may make before it counts as a trick.
const MAX_BRACES: usize = 64;

impl Reader {
    /// The word that begins here; never empty.
    pub(super) fn word(&mut self) -> Result<Word, ParseFailure> {
        let start = self.offset();
        let mut word = self.nothing();
        let mut before = None;
        while let Some(c) = self.peek() {
            match c {
                '<' | '>' if self.ahead(1) == Some('(') => {
                    self.at += 2;
                    let script = self.closed_script(")")?;
                    // The policy does not follow data that is written to a command.
                    word.parts.push(match c {
                        '<' => Part::Process(script),
                        _ => Part::Opaque(vec![script], Quoting::Bare),
                    });
                }
                _ if is_meta(c) => break,
                '\'' => {
                    self.at += 1;
                    let text = self.until_quote()?;
                    word.parts.push(Part::Text(text, Quoting::Quoted));
                }
                '"' => {
                    self.at += 1;
                    self.double_quoted(&mut word.parts)?;
                }
                '\\' => {
                    let escaped = self.ahead(1).ok_or(ParseFailure)?;
                    self.at += 2;
                    if escaped == '\n' {
                        self.doubt(Doubt::SplitWord);
                    } else {
                        word.parts.push(Part::Text(escaped.to_string(), Quoting::Quoted));
                    }
                }
                '$' => {
                    let part = self.dollar(Quoting::Bare)?;
                    word.parts.push(part);
                }
                '`' => {
                    let part = self.backtick(Quoting::Bare)?;
                    word.parts.push(part);
                }
                // A command's name of its own.
                '[' if word.parts.is_empty() && self.ahead(1).is_none_or(is_meta) => {
                    self.at += 1;
                    push(&mut word.parts, c, Quoting::Bare);
                }
                '*' | '?' | '[' => {
                    self.at += 1;
                    word.parts.push(Part::Pattern(c));
                }
                '~' if word.parts.is_empty() || matches!(before, Some('=' | ':')) => {
                    self.at += 1;
                    let mut user = String::new();
                    while let Some(c) = self.peek().filter(|c| *c != '/' && *c != ':' && !is_meta(*c)) {
                        if matches!(c, '\'' | '"' | '\\' | '$' | '`') {
                            self.doubt(Doubt::Form);
                            break;
                        }
                        user.push(c);
                        self.at += 1;
                    }
                    word.parts.push(Part::Home(user));
                }
                '{' => {
                    let part = self.braces();
                    word.parts.push(part);
                }
                _ => {
                    self.at += 1;
                    push(&mut word.parts, c, Quoting::Bare);
                }
            }
            before = Some(c);
        }
        // `{fd}>file` names a variable.
        if before == Some('}') && matches!(self.peek(), Some('<' | '>')) {
            self.doubt(Doubt::Form);
        }
        word.span = start..self.offset();
        if word.span.is_empty() { Err(ParseFailure) } else { Ok(word) }
    }

    fn until_quote(&mut self) -> Result<String, ParseFailure> {
        let mut text = String::new();
        loop {
            let c = self.peek().ok_or(ParseFailure)?;
            self.at += 1;
            match c {
                '\'' => return Ok(text),
                '\n' if !self.pending.is_empty() => {
                    self.doubt(Doubt::Form);
                    text.push(c);
                }
                _ => text.push(c),
            }
        }
    }

    fn double_quoted(&mut self, parts: &mut Vec<Part>) -> Result<(), ParseFailure> {
        // An empty pair of quotes is a word too.
        parts.push(Part::Text(String::new(), Quoting::Quoted));
        loop {
            match self.peek().ok_or(ParseFailure)? {
                '"' => {
                    self.at += 1;
                    return Ok(());
                }
                '\\' if self.ahead(1) == Some('"') => {
                    self.at += 2;
                    push(parts, '"', Quoting::Quoted);
                }
                _ => self.quoted_part(parts)?,
            }
        }
    }

    /// Parses an element inside double quotes or a here-document: a character or an expansion.
    pub(super) fn quoted_part(&mut self, parts: &mut Vec<Part>) -> Result<(), ParseFailure> {
        match (self.peek().ok_or(ParseFailure)?, self.ahead(1)) {
            ('$', _) => {
                let part = self.dollar(Quoting::Quoted)?;
                parts.push(part);
            }
            ('`', _) => {
                let part = self.backtick(Quoting::Quoted)?;
                parts.push(part);
            }
            ('\\', Some('\n')) => {
                self.at += 2;
                self.doubt(Doubt::SplitWord);
            }
            ('\\', Some(c @ ('$' | '`' | '\\'))) => {
                self.at += 2;
                push(parts, c, Quoting::Quoted);
            }
            (c, _) => {
                if c == '\n' && !self.pending.is_empty() {
                    self.doubt(Doubt::Form);
                }
                self.at += 1;
                push(parts, c, Quoting::Quoted);
            }
        }
        Ok(())
    }

    /// Commands up to this closing character.
    pub(super) fn closed_script(&mut self, close: &str) -> Result<Script, ParseFailure> {
        let pending = self.pending.len();
        let script = self.script(&[])?;
        if self.pending.len() != pending {
            self.doubt(Doubt::Form);
        }
        self.expect(close)?;
        Ok(script)
    }

    fn dollar(&mut self, quoting: Quoting) -> Result<Part, ParseFailure> {
        self.at += 1;
        match self.peek() {
            Some('(') if self.ahead(1) == Some('(') => self.arithmetic(quoting),
            Some('(') => {
                self.at += 1;
                Ok(Part::Command(self.closed_script(")")?, quoting))
            }
            Some('{') => {
                self.at += 1;
                self.braced(quoting)
            }
            Some('[') => {
                self.doubt(Doubt::Evaluates);
                Ok(Part::Opaque(Vec::new(), quoting))
            }
            Some('\'') if quoting == Quoting::Bare => {
                self.at += 1;
                self.ansi()
            }
            Some('"') if quoting == Quoting::Bare => {
                self.doubt(Doubt::Form);
                self.at += 1;
                let mut parts = Vec::new();
                self.double_quoted(&mut parts)?;
                let word = Word { parts, span: 0..0 };
                Ok(match word.literal() {
                    Some(text) => Part::Text(text, Quoting::Quoted),
                    None => Part::Opaque(word.scripts().cloned().collect(), Quoting::Quoted),
                })
            }
            Some('?' | '#' | '$' | '!') => {
                self.at += 1;
                Ok(Part::Number)
            }
            Some(c @ ('@' | '*' | '-' | '0'..='9')) => {
                self.at += 1;
                Ok(Part::Variable(c.to_string(), quoting))
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => Ok(Part::Variable(self.name(), quoting)),
            _ => Ok(Part::Text("$".to_owned(), Quoting::Quoted)),
        }
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(c) = self.peek().filter(|c| c.is_ascii_alphanumeric() || *c == '_') {
            name.push(c);
            self.at += 1;
        }
        name
    }

    /// Behind `${`.
    fn braced(&mut self, quoting: Quoting) -> Result<Part, ParseFailure> {
        if self.peek() == Some('#') && self.ahead(1).is_some_and(|c| c.is_ascii_alphabetic() || c == '_') {
            self.at += 1;
            self.name();
            if self.eat("}") {
                return Ok(Part::Number);
            }
        }
        let name = self.name();
        if !name.is_empty() && self.eat("}") {
            return Ok(Part::Variable(name, quoting));
        }
        if name.is_empty() || matches!(self.peek(), Some('@' | '[' | '!')) {
            self.doubt(Doubt::Evaluates);
        }
        // It may assign a value other than the one being tracked.
        if self.peek() == Some('=') || (self.peek() == Some(':') && self.ahead(1) == Some('=')) {
            self.doubt(Doubt::Evaluates);
        }
        // Offsets and lengths are arithmetic; values of a substitution may be too.
        if self.peek() == Some(':') && !matches!(self.ahead(1), Some('-' | '+' | '=' | '?')) {
            self.doubt(Doubt::Evaluates);
        }
        let doubts = self.doubts.len();
        let mut parts = Vec::new();
        self.deeper(|reader| {
            loop {
                match reader.peek().ok_or(ParseFailure)? {
                    '}' => {
                        reader.at += 1;
                        return Ok(());
                    }
                    '"' => {
                        reader.at += 1;
                        reader.double_quoted(&mut parts)?;
                    }
                    '\'' => {
                        // Inside double quotes a single quote is a letter here, outside it is a quote.
                        reader.doubt(Doubt::Form);
                        reader.at += 1;
                    }
                    '\\' => {
                        reader.doubt(Doubt::Form);
                        reader.at += 2;
                    }
                    _ => reader.quoted_part(&mut parts)?,
                }
            }
        })?;
        let scripts: Vec<Script> = parts.iter().flat_map(Part::scripts).cloned().collect();
        if !scripts.is_empty() {
            self.doubt(Doubt::Hidden);
        } else if doubts == self.doubts.len() && parts.iter().all(|part| matches!(part, Part::Text(..))) {
            return Ok(Part::Derived(name, quoting));
        }
        Ok(Part::Opaque(scripts, quoting))
    }

    /// At the first `(` of `$((`.
    fn arithmetic(&mut self, quoting: Quoting) -> Result<Part, ParseFailure> {
        let begin = self.at;
        let mut by = 2;
        while self.ahead(by).is_some_and(|c| c.is_ascii_digit() || " +-*/%<>=".contains(c)) {
            by += 1;
        }
        if self.ahead(by) == Some(')') && self.ahead(by + 1) == Some(')') {
            self.at += by + 2;
            return Ok(Part::Number);
        }
        self.doubt(Doubt::Evaluates);
        // It may be a substitution that begins with a subshell: read as one where that is possible.
        self.at = begin + 1;
        let (documents, pending) = (self.documents.len(), self.pending.len());
        if let Ok(script) = self.closed_script(")") {
            return Ok(Part::Opaque(vec![script], quoting));
        }
        self.documents.truncate(documents);
        self.pending.truncate(pending);
        self.at = begin + 2;
        let mut parts = Vec::new();
        let mut depth = 2_usize;
        self.deeper(|reader| {
            while depth > 0 {
                match reader.peek().ok_or(ParseFailure)? {
                    '(' => depth += 1,
                    ')' => depth -= 1,
                    _ => {
                        reader.quoted_part(&mut parts)?;
                        continue;
                    }
                }
                reader.at += 1;
            }
            Ok(())
        })?;
        Ok(Part::Opaque(parts.iter().flat_map(Part::scripts).cloned().collect(), quoting))
    }

    /// At a backtick.
    fn backtick(&mut self, quoting: Quoting) -> Result<Part, ParseFailure> {
        self.at += 1;
        let from = self.offset();
        let (mut text, mut escaped) = (String::new(), false);
        loop {
            match (self.peek().ok_or(ParseFailure)?, self.ahead(1)) {
                ('`', _) => break,
                ('\\', Some(c @ ('\\' | '`' | '$'))) => {
                    escaped = true;
                    text.push(c);
                    self.at += 2;
                }
                (c, _) => {
                    text.push(c);
                    self.at += 1;
                }
            }
        }
        let end = self.offset();
        self.at += 1;
        // Quotes inside quotes are read in two ways by two shells.
        if escaped || quoting == Quoting::Quoted || text.contains('\\') {
            self.doubt(Doubt::Form);
        }
        self.deeper(|reader| {
            let mut inner = Self::new(&text, from, end);
            inner.depth = reader.depth;
            let script = inner.script(&[])?;
            if inner.peek().is_some() || !inner.documents.is_empty() {
                return Err(ParseFailure);
            }
            reader.doubts.append(&mut inner.doubts);
            Ok(Part::Command(script, quoting))
        })
    }

    /// Behind `$'`.
    fn ansi(&mut self) -> Result<Part, ParseFailure> {
        let mut text = String::new();
        loop {
            let c = self.peek().ok_or(ParseFailure)?;
            self.at += 1;
            match c {
                '\'' => return Ok(Part::Text(text, Quoting::Quoted)),
                '\\' => {
                    let escaped = self.peek().ok_or(ParseFailure)?;
                    self.at += 1;
                    match escaped {
                        'n' => text.push('\n'),
                        't' => text.push('\t'),
                        '\\' | '\'' | '"' => text.push(escaped),
                        'x' => self.coded(&mut text, 16, 2),
                        'u' => self.coded(&mut text, 16, 4),
                        'U' => self.coded(&mut text, 16, 8),
                        '0'..='7' => {
                            self.at -= 1;
                            self.coded(&mut text, 8, 3);
                        }
                        _ => self.doubt(Doubt::Form),
                    }
                }
                _ => text.push(c),
            }
        }
    }

    fn coded(&mut self, text: &mut String, radix: u32, most: usize) {
        // A character written as a number hides what it is.
        self.doubt(Doubt::Form);
        let mut value = 0;
        for _ in 0..most {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else { break };
            value = value * radix + digit;
            self.at += 1;
        }
        text.extend(char::from_u32(value));
    }

    /// At a `{` in a word.
    fn braces(&mut self) -> Part {
        let content: String =
            (1..).map_while(|by| self.ahead(by).filter(|c| *c != '}' && !is_meta(*c))).collect();
        let length = content.chars().count();
        let closed = self.ahead(length + 1) == Some('}');
        let simple = |c: char| c.is_alphanumeric() || "_-./,+@%".contains(c);
        let expands = content.contains(',') || content.contains("..");
        if !closed || (!expands && content.chars().all(simple)) {
            self.at += 1;
            // The text before its closing brace may still contain quotes and expansions.
            if content.contains(['{', '\'', '"', '\\', '$', '`']) {
                self.doubt(Doubt::Form);
            }
            return Part::Text("{".to_owned(), Quoting::Bare);
        }
        let words = if content.chars().all(simple) { alternatives(&content) } else { None };
        match words {
            Some(words) => {
                self.at += length + 2;
                Part::Braces(words)
            }
            None => {
                self.doubt(Doubt::Form);
                self.at += 1;
                Part::Text("{".to_owned(), Quoting::Bare)
            }
        }
    }
}

/// Returns the expansion of `{content}`; `None` if it is not plain.
fn alternatives(content: &str) -> Option<Vec<String>> {
    if content.contains(',') {
        let words: Vec<String> = content.split(',').map(str::to_owned).collect();
        return (words.len() <= MAX_BRACES).then_some(words);
    }
    let (from, to) = content.split_once("..")?;
    // Bash pads every number to the width of one that begins with a zero: `{1..01}` is `01`.
    let digits =
        |text: &str| text.chars().all(|c| c.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if !digits(from) || !digits(to) {
        return None;
    }
    let (from, to): (i64, i64) = (from.parse().ok()?, to.parse().ok()?);
    if to < from {
        return None;
    }
    let count = usize::try_from(to - from).ok()?;
    (count < MAX_BRACES).then(|| (from..=to).map(|number| number.to_string()).collect())
}

fn push(parts: &mut Vec<Part>, c: char, quoting: Quoting) {
    match parts.last_mut() {
        Some(Part::Text(text, before)) if *before == quoting => text.push(c),
        _ => parts.push(Part::Text(c.to_string(), quoting)),
    }
}
