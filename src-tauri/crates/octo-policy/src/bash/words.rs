//! Words: quotes, expansions, substitutions, patterns, braces.

use super::{ParseFailure, Reader, is_meta};
use crate::script::{Doubt, Part, Quoting, Script, Word};

/// Maximum number of words of a brace expansion. A larger one raises a doubt.
const MAX_BRACES: usize = 64;

impl Reader {
    /// Parses the word at this position, which is never empty.
    pub(super) fn word(&mut self) -> Result<Word, ParseFailure> {
        let start = self.offset();
        let mut word = self.empty_word();
        let mut before = None;
        while let Some(c) = self.peek() {
            match c {
                '<' | '>' if self.ahead(1) == Some('(') => {
                    self.at += 2;
                    let script = self.closed_script(")")?;
                    // The policy does not follow data written to a command.
                    word.parts.push(match c {
                        '<' => Part::Process(script),
                        _ => Part::Opaque(vec![script], Quoting::Unquoted),
                    });
                }
                _ if is_meta(c) => break,
                '\'' => {
                    self.at += 1;
                    let text = self.single_quoted()?;
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
                    let part = self.dollar_expansion(Quoting::Unquoted)?;
                    word.parts.push(part);
                }
                '`' => {
                    let part = self.backtick_substitution(Quoting::Unquoted)?;
                    word.parts.push(part);
                }
                // `[` alone is the name of a command.
                '[' if word.parts.is_empty() && self.ahead(1).is_none_or(is_meta) => {
                    self.at += 1;
                    push_char(&mut word.parts, c, Quoting::Unquoted);
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
                            self.doubt(Doubt::RareForm);
                            break;
                        }
                        user.push(c);
                        self.at += 1;
                    }
                    word.parts.push(Part::Home(user));
                }
                '{' => {
                    let part = self.brace_expansion();
                    word.parts.push(part);
                }
                _ => {
                    self.at += 1;
                    push_char(&mut word.parts, c, Quoting::Unquoted);
                }
            }
            before = Some(c);
        }
        // `{fd}>file` names a variable.
        if before == Some('}') && matches!(self.peek(), Some('<' | '>')) {
            self.doubt(Doubt::RareForm);
        }
        word.span = start..self.offset();
        if word.span.is_empty() { Err(ParseFailure) } else { Ok(word) }
    }

    fn single_quoted(&mut self) -> Result<String, ParseFailure> {
        let mut text = String::new();
        loop {
            let c = self.peek().ok_or(ParseFailure)?;
            self.at += 1;
            match c {
                '\'' => return Ok(text),
                '\n' if !self.pending.is_empty() => {
                    self.doubt(Doubt::RareForm);
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
                    push_char(parts, '"', Quoting::Quoted);
                }
                _ => self.quoted_part(parts)?,
            }
        }
    }

    /// Parses an element inside double quotes or a here-document: a character or an expansion.
    pub(super) fn quoted_part(&mut self, parts: &mut Vec<Part>) -> Result<(), ParseFailure> {
        match (self.peek().ok_or(ParseFailure)?, self.ahead(1)) {
            ('$', _) => {
                let part = self.dollar_expansion(Quoting::Quoted)?;
                parts.push(part);
            }
            ('`', _) => {
                let part = self.backtick_substitution(Quoting::Quoted)?;
                parts.push(part);
            }
            ('\\', Some('\n')) => {
                self.at += 2;
                self.doubt(Doubt::SplitWord);
            }
            ('\\', Some(c @ ('$' | '`' | '\\'))) => {
                self.at += 2;
                push_char(parts, c, Quoting::Quoted);
            }
            (c, _) => {
                if c == '\n' && !self.pending.is_empty() {
                    self.doubt(Doubt::RareForm);
                }
                self.at += 1;
                push_char(parts, c, Quoting::Quoted);
            }
        }
        Ok(())
    }

    /// Parses commands up to the closing character, and consumes it.
    pub(super) fn closed_script(&mut self, close: &str) -> Result<Script, ParseFailure> {
        let pending = self.pending.len();
        let script = self.script(&[])?;
        if self.pending.len() != pending {
            self.doubt(Doubt::RareForm);
        }
        self.expect(close)?;
        Ok(script)
    }

    fn dollar_expansion(&mut self, quoting: Quoting) -> Result<Part, ParseFailure> {
        self.at += 1;
        match self.peek() {
            Some('(') if self.ahead(1) == Some('(') => self.arithmetic(quoting),
            Some('(') => {
                self.at += 1;
                Ok(Part::Command(self.closed_script(")")?, quoting))
            }
            Some('{') => {
                self.at += 1;
                self.parameter_expansion(quoting)
            }
            Some('[') => {
                self.doubt(Doubt::Evaluation);
                Ok(Part::Opaque(Vec::new(), quoting))
            }
            Some('\'') if quoting == Quoting::Unquoted => {
                self.at += 1;
                self.ansi_quoted()
            }
            Some('"') if quoting == Quoting::Unquoted => {
                self.doubt(Doubt::RareForm);
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

    /// Parses a parameter expansion after its `${`.
    fn parameter_expansion(&mut self, quoting: Quoting) -> Result<Part, ParseFailure> {
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
            self.doubt(Doubt::Evaluation);
        }
        // The expansion may assign the variable a value that the policy does not track.
        if self.peek() == Some('=') || (self.peek() == Some(':') && self.ahead(1) == Some('=')) {
            self.doubt(Doubt::Evaluation);
        }
        // Offsets and lengths are arithmetic, and bash evaluates them.
        if self.peek() == Some(':') && !matches!(self.ahead(1), Some('-' | '+' | '=' | '?')) {
            self.doubt(Doubt::Evaluation);
        }
        let doubt_count = self.doubts.len();
        let mut parts = Vec::new();
        self.nested(|reader| {
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
                        // Inside double quotes a single quote is literal here; outside, it quotes.
                        reader.doubt(Doubt::RareForm);
                        reader.at += 1;
                    }
                    '\\' => {
                        reader.doubt(Doubt::RareForm);
                        reader.at += 2;
                    }
                    _ => reader.quoted_part(&mut parts)?,
                }
            }
        })?;
        let scripts: Vec<Script> = parts.iter().flat_map(Part::scripts).cloned().collect();
        if !scripts.is_empty() {
            self.doubt(Doubt::HiddenCommand);
        } else if doubt_count == self.doubts.len() && parts.iter().all(|part| matches!(part, Part::Text(..)))
        {
            return Ok(Part::Derived(name, quoting));
        }
        Ok(Part::Opaque(scripts, quoting))
    }

    /// Parses an arithmetic expansion, at the first `(` of `$((`.
    fn arithmetic(&mut self, quoting: Quoting) -> Result<Part, ParseFailure> {
        let start = self.at;
        let mut by = 2;
        while self.ahead(by).is_some_and(|c| c.is_ascii_digit() || " +-*/%<>=".contains(c)) {
            by += 1;
        }
        if self.ahead(by) == Some(')') && self.ahead(by + 1) == Some(')') {
            self.at += by + 2;
            return Ok(Part::Number);
        }
        self.doubt(Doubt::Evaluation);
        // It may be a substitution that begins with a subshell, and is parsed as one if possible.
        self.at = start + 1;
        let (documents, pending) = (self.documents.len(), self.pending.len());
        if let Ok(script) = self.closed_script(")") {
            return Ok(Part::Opaque(vec![script], quoting));
        }
        self.documents.truncate(documents);
        self.pending.truncate(pending);
        self.at = start + 2;
        let mut parts = Vec::new();
        let mut depth = 2_usize;
        self.nested(|reader| {
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

    /// Parses a substitution at its opening backtick.
    fn backtick_substitution(&mut self, quoting: Quoting) -> Result<Part, ParseFailure> {
        self.at += 1;
        let start = self.offset();
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
        // Shells differ about quotes inside backticks.
        if escaped || quoting == Quoting::Quoted || text.contains('\\') {
            self.doubt(Doubt::RareForm);
        }
        self.nested(|reader| {
            let mut inner = Self::new(&text, start, end);
            inner.depth = reader.depth;
            let script = inner.script(&[])?;
            if inner.peek().is_some() || !inner.documents.is_empty() {
                return Err(ParseFailure);
            }
            reader.doubts.append(&mut inner.doubts);
            Ok(Part::Command(script, quoting))
        })
    }

    /// Parses a `$'…'` string after its opening quote.
    fn ansi_quoted(&mut self) -> Result<Part, ParseFailure> {
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
                        'x' => self.character_code(&mut text, 16, 2),
                        'u' => self.character_code(&mut text, 16, 4),
                        'U' => self.character_code(&mut text, 16, 8),
                        '0'..='7' => {
                            self.at -= 1;
                            self.character_code(&mut text, 8, 3);
                        }
                        _ => self.doubt(Doubt::RareForm),
                    }
                }
                _ => text.push(c),
            }
        }
    }

    fn character_code(&mut self, text: &mut String, radix: u32, max_digits: usize) {
        // A character written as a number hides its identity.
        self.doubt(Doubt::RareForm);
        let mut value = 0;
        for _ in 0..max_digits {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else { break };
            value = value * radix + digit;
            self.at += 1;
        }
        text.extend(char::from_u32(value));
    }

    /// Parses a `{` in a word: a brace expansion, or literal text.
    fn brace_expansion(&mut self) -> Part {
        let content: String =
            (1..).map_while(|by| self.ahead(by).filter(|c| *c != '}' && !is_meta(*c))).collect();
        let length = content.chars().count();
        let closed = self.ahead(length + 1) == Some('}');
        let is_plain = |c: char| c.is_alphanumeric() || "_-./,+@%".contains(c);
        let expands = content.contains(',') || content.contains("..");
        if !closed || (!expands && content.chars().all(is_plain)) {
            self.at += 1;
            // The text before the closing brace may contain quotes and expansions.
            if content.contains(['{', '\'', '"', '\\', '$', '`']) {
                self.doubt(Doubt::RareForm);
            }
            return Part::Text("{".to_owned(), Quoting::Unquoted);
        }
        let words = if content.chars().all(is_plain) { alternatives(&content) } else { None };
        match words {
            Some(words) => {
                self.at += length + 2;
                Part::Braces(words)
            }
            None => {
                self.doubt(Doubt::RareForm);
                self.at += 1;
                Part::Text("{".to_owned(), Quoting::Unquoted)
            }
        }
    }
}

/// Returns the words that `{content}` expands to, or `None` for a form that is not followed.
fn alternatives(content: &str) -> Option<Vec<String>> {
    if content.contains(',') {
        let words: Vec<String> = content.split(',').map(str::to_owned).collect();
        return (words.len() <= MAX_BRACES).then_some(words);
    }
    let (from, to) = content.split_once("..")?;
    // Bash pads every number to the width of one that begins with a zero: `{1..01}` is `01`.
    let is_number =
        |text: &str| text.chars().all(|c| c.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if !is_number(from) || !is_number(to) {
        return None;
    }
    let (from, to): (i64, i64) = (from.parse().ok()?, to.parse().ok()?);
    if to < from {
        return None;
    }
    let count = usize::try_from(to - from).ok()?;
    (count < MAX_BRACES).then(|| (from..=to).map(|number| number.to_string()).collect())
}

fn push_char(parts: &mut Vec<Part>, c: char, quoting: Quoting) {
    match parts.last_mut() {
        Some(Part::Text(text, before)) if *before == quoting => text.push(c),
        _ => parts.push(Part::Text(c.to_string(), quoting)),
    }
}
