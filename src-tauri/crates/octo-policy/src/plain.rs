//! The plain part of bash's language: simple commands of literal words, joined, and nothing else.
//!
//! This parser is one of the two that must agree on a line. It is strict on purpose: it knows the few constructs whose
//! meaning depends on nothing but the line itself, and rejects the line at the first character it does not know. Bash
//! parses every accepted line in exactly the same way (a test compares the two).

use std::ops::Range;

/// A command line that has only plain constructs.
#[derive(Debug)]
pub(crate) struct PlainLine {
    /// Its simple commands, in order.
    pub commands: Vec<Simple>,
    /// The position and text of each joining operator; without line ends.
    pub operators: Vec<(usize, &'static str)>,
}

/// A simple command.
#[derive(Clone, Debug)]
pub(crate) struct Simple {
    /// How the command is joined to the one before.
    pub join: Join,
    /// The name and the arguments; never empty.
    pub words: Vec<Word>,
    /// The redirections, all of them harmless.
    pub redirects: Vec<Redirect>,
    /// The byte range of the command in the line, including its redirections.
    pub span: Range<usize>,
}

/// A harmless redirection.
#[derive(Clone, Debug)]
pub(crate) struct Redirect {
    /// The target: a file to read, `/dev/null`, or the number of a descriptor.
    pub target: Word,
    /// The effect.
    pub kind: RedirectKind,
}

/// The effect of a redirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RedirectKind {
    /// Reads its target.
    Read,
    /// Drops output, or joins two outputs.
    Discard,
}

/// How a command is joined to the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    /// It is the first command, or runs after the one before in any case.
    Sequence,
    /// It runs if the one before succeeded.
    And,
    /// It runs if the one before failed.
    Or,
    /// It reads the output of the one before.
    Pipe,
}

/// A word of a command.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    /// The text that the command receives, without quotes; for a pattern, the pattern.
    pub text: String,
    /// How bash turns the word into arguments.
    pub form: Form,
    /// The byte range of the word in the line, including its quotes.
    pub span: Range<usize>,
}

/// How bash turns a word into arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// One argument with exactly this text.
    Literal,
    /// The names of the files that match: the word contains an unquoted `*`, `?` or `[`.
    Pattern,
    /// One argument with an unknown value (`"$x"`), which is [`crate::context::UNKNOWN`] in the text.
    Unknown,
    /// Any number of arguments (`$x`).
    Split,
    /// One argument with an unknown number (`$?`).
    Number,
    /// The name of a pipe that bash makes (`<(…)`).
    Pipe,
    /// The name of a file that a command finds; see [`crate::found`].
    Found,
}

/// The error of a line that is not plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotPlain;

/// Parses a line.
pub(crate) fn read(line: &str) -> Result<PlainLine, NotPlain> {
    if line.chars().any(is_treacherous) {
        return Err(NotPlain);
    }
    Reader { chars: line.char_indices().collect(), at: 0, end: line.len() }.line()
}

/// Returns whether a character is invisible or looks like another one.
pub(crate) fn is_treacherous(c: char) -> bool {
    (c.is_control() && !matches!(c, '\t' | '\n'))
        || (!c.is_ascii() && c.is_whitespace())
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{ffff}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns whether the first word of a command is not a name, but an assignment or a reserved word.
fn is_syntax(word: &str) -> bool {
    const RESERVED: &[&str] = &[
        "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if",
        "in", "select", "then", "time", "until", "while",
    ];
    word.contains('=') || RESERVED.contains(&word)
}

struct Reader {
    chars: Vec<(usize, char)>,
    at: usize,
    end: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.ahead(0)
    }

    fn ahead(&self, by: usize) -> Option<char> {
        self.chars.get(self.at + by).map(|(_, c)| *c)
    }

    fn offset(&self) -> usize {
        self.chars.get(self.at).map_or(self.end, |(offset, _)| *offset)
    }

    fn skip(&mut self, chars: &[char]) {
        while self.peek().is_some_and(|c| chars.contains(&c)) {
            self.at += 1;
        }
    }

    fn line(mut self) -> Result<PlainLine, NotPlain> {
        let mut line = PlainLine { commands: Vec::new(), operators: Vec::new() };
        let mut join = Join::Sequence;
        self.skip(&[' ', '\t', '\n']);
        loop {
            line.commands.push(self.simple(join)?);
            let start = self.offset();
            let mut operator = |text: &'static str| line.operators.push((start, text));
            match (self.peek(), self.ahead(1)) {
                (None, _) => return Ok(line),
                (Some('\n'), _) => {
                    self.skip(&[' ', '\t', '\n']);
                    join = Join::Sequence;
                }
                (Some(';'), next) if next != Some(';') && next != Some('&') => {
                    operator(";");
                    self.at += 1;
                    self.skip(&[' ', '\t', '\n']);
                    join = Join::Sequence;
                }
                (Some('&'), Some('&')) => {
                    operator("&&");
                    self.at += 2;
                    self.skip(&[' ', '\t', '\n']);
                    join = Join::And;
                    continue;
                }
                (Some('|'), Some('|')) => {
                    operator("||");
                    self.at += 2;
                    self.skip(&[' ', '\t', '\n']);
                    join = Join::Or;
                    continue;
                }
                (Some('|'), next) if next != Some('&') => {
                    operator("|");
                    self.at += 1;
                    self.skip(&[' ', '\t', '\n']);
                    join = Join::Pipe;
                    continue;
                }
                _ => return Err(NotPlain),
            }
            // The line may end after `;` and after a line end.
            if self.peek().is_none() {
                return Ok(line);
            }
        }
    }

    fn simple(&mut self, join: Join) -> Result<Simple, NotPlain> {
        let start = self.offset();
        let (mut words, mut redirects, mut end) = (Vec::new(), Vec::new(), start);
        loop {
            self.skip(&[' ', '\t']);
            match (self.peek(), self.ahead(1)) {
                (None | Some('\n' | ';' | '|'), _) | (Some('&'), Some('&')) => break,
                _ => {}
            }
            if let Some(redirect) = self.redirect()? {
                // A redirection before the command's name is legal but never needed.
                if words.is_empty() {
                    return Err(NotPlain);
                }
                redirects.push(redirect);
            } else {
                words.push(self.word()?);
            }
            end = self.offset();
        }
        match words.first() {
            Some(name) if !is_syntax(&name.text) => Ok(Simple { join, words, redirects, span: start..end }),
            _ => Err(NotPlain),
        }
    }

    /// Parses the redirection at this position, if there is one.
    fn redirect(&mut self) -> Result<Option<Redirect>, NotPlain> {
        let number = self.peek().filter(char::is_ascii_digit);
        let operator_at = usize::from(number.is_some());
        match (number, self.ahead(operator_at), self.ahead(operator_at + 1)) {
            // `<` alone; not `<<`, `<(`, `<&`, `<>`.
            (None | Some('0'), Some('<'), next) => {
                if matches!(next, Some('<' | '(' | '&' | '>')) {
                    return Err(NotPlain);
                }
                self.at += operator_at + 1;
                let target = self.redirect_target()?;
                Ok(Some(Redirect { target, kind: RedirectKind::Read }))
            }
            (None | Some('1' | '2'), Some('>'), Some('&')) => {
                self.at += operator_at + 2;
                let target = self.word()?;
                let joins = matches!(target.text.as_str(), "1" | "2") && target.span.len() == 1;
                if joins { Ok(Some(Redirect { target, kind: RedirectKind::Discard })) } else { Err(NotPlain) }
            }
            (None | Some('1' | '2'), Some('>'), next) => {
                self.at += operator_at + if next == Some('>') { 2 } else { 1 };
                self.discard_redirect().map(Some)
            }
            (None, Some('&'), Some('>')) => {
                self.at += if self.ahead(2) == Some('>') { 3 } else { 2 };
                self.discard_redirect().map(Some)
            }
            (Some(_), Some('<' | '>'), _) | (None, Some('&'), _) => Err(NotPlain),
            _ => Ok(None),
        }
    }

    fn discard_redirect(&mut self) -> Result<Redirect, NotPlain> {
        let target = self.redirect_target()?;
        // Quotes around it would be harmless but are never needed.
        if target.text == "/dev/null" && target.span.len() == target.text.len() {
            Ok(Redirect { target, kind: RedirectKind::Discard })
        } else {
            Err(NotPlain)
        }
    }

    fn redirect_target(&mut self) -> Result<Word, NotPlain> {
        self.skip(&[' ', '\t']);
        let word = self.word()?;
        if word.form == Form::Pattern || word.text.is_empty() { Err(NotPlain) } else { Ok(word) }
    }

    fn word(&mut self) -> Result<Word, NotPlain> {
        let start = self.offset();
        let first = self.at;
        let mut word = Word { text: String::new(), form: Form::Literal, span: start..start };
        // A word of digits may be the number of a descriptor.
        let mut is_all_digits = true;
        let mut before = None;
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | ';' | '|' | '&' => break,
                '<' | '>' if is_all_digits => return Err(NotPlain),
                '<' | '>' => break,
                '\'' => self.single_quoted(&mut word.text)?,
                '"' => self.double_quoted(&mut word.text)?,
                '\\' => {
                    let escaped =
                        self.ahead(1).filter(|c| c.is_ascii_graphic() || *c == ' ').ok_or(NotPlain)?;
                    word.text.push(escaped);
                    self.at += 2;
                }
                // Expansions, groups, history, braces: never plain.
                '$' | '`' | '(' | ')' | '{' | '}' | '!' => return Err(NotPlain),
                '#' if self.at == first => return Err(NotPlain),
                // `HEAD~1` is a literal; at the start of a word, or after `=` and `:`, it names a home.
                '~' if !matches!(before, Some('a'..='z' | 'A'..='Z' | '0'..='9' | '~' | '^' | '@')) => {
                    return Err(NotPlain);
                }
                '*' | '?' | '[' => {
                    word.form = Form::Pattern;
                    word.text.push(c);
                    self.at += 1;
                }
                _ => {
                    word.text.push(c);
                    self.at += 1;
                }
            }
            is_all_digits &= c.is_ascii_digit();
            before = Some(c);
        }
        word.span.end = self.offset();
        if word.span.is_empty() { Err(NotPlain) } else { Ok(word) }
    }

    fn single_quoted(&mut self, text: &mut String) -> Result<(), NotPlain> {
        self.at += 1;
        loop {
            match self.peek().ok_or(NotPlain)? {
                '\'' => break,
                '\n' => return Err(NotPlain),
                c => text.push(c),
            }
            self.at += 1;
        }
        self.at += 1;
        Ok(())
    }

    fn double_quoted(&mut self, text: &mut String) -> Result<(), NotPlain> {
        self.at += 1;
        loop {
            match (self.peek().ok_or(NotPlain)?, self.ahead(1)) {
                ('"', _) => break,
                ('$' | '`' | '!' | '\n', _) => return Err(NotPlain),
                ('\\', Some(escaped @ ('"' | '\\'))) => {
                    text.push(escaped);
                    self.at += 1;
                }
                ('\\', None | Some('$' | '`' | '!' | '\n')) => return Err(NotPlain),
                (c, _) => text.push(c),
            }
            self.at += 1;
        }
        self.at += 1;
        Ok(())
    }
}
