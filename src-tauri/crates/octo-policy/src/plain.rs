//! The plain part of bash's language: simple commands of literal words, joined, and nothing else.
//!
//! This reader is one of the two a line must satisfy. It is strict on purpose: it knows the few constructs
//! whose meaning does not depend on anything but the line itself, and refuses the line at the first character
//! it does not know. What it accepts, bash reads in exactly the same way (a test compares the two).

use std::ops::Range;

/// A command line that has only the constructs this reader knows.
#[derive(Debug)]
pub(crate) struct PlainLine {
    /// Its simple commands, in order.
    pub commands: Vec<Simple>,
    /// Its joining operators: where each starts and what it is. Line ends are not in it.
    pub operators: Vec<(usize, &'static str)>,
}

/// A simple command.
#[derive(Clone, Debug)]
pub(crate) struct Simple {
    /// How it is joined to the one before.
    pub join: Join,
    /// Its name and arguments; never empty.
    pub words: Vec<Word>,
    /// Its redirections, all harmless.
    pub redirects: Vec<Redirect>,
    /// Its range in the line, including redirections.
    pub span: Range<usize>,
}

/// A harmless redirection.
#[derive(Clone, Debug)]
pub(crate) struct Redirect {
    /// Its target; a file that is read, `/dev/null`, or the number of a descriptor.
    pub target: Word,
    /// What it does.
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
    /// It is the first one, or runs after the one before whatever came of it.
    Sequence,
    /// It runs if what came before succeeded.
    And,
    /// It runs if what came before failed.
    Or,
    /// It reads the output of the one before.
    Pipe,
}

/// A word: the text the command receives, unless it is a pattern.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    /// Its value, quotes taken away.
    pub text: String,
    /// Whether bash replaces it with the names of files that match.
    pub form: Form,
    /// Its range in the line, including quotes.
    pub span: Range<usize>,
}

/// Whether bash leaves a word alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// It does.
    Literal,
    /// It holds an unquoted `*`, `?` or `[`.
    Pattern,
    /// It is one word whose value is not known (`"$x"`); its text is [`crate::context::UNKNOWN`] there.
    Unknown,
    /// It may be any number of words (`$x`).
    Split,
    /// It is one word that holds a number which is not known (`$?`).
    Number,
    /// It is the name of a pipe that bash makes (`<(…)`).
    Pipe,
    /// It is the name of a file that a command finds; see [`crate::found`].
    Found,
}

/// Why a line is not plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotPlain;

/// Reads a line.
pub(crate) fn read(line: &str) -> Result<PlainLine, NotPlain> {
    if line.chars().any(is_treacherous) {
        return Err(NotPlain);
    }
    Reader { chars: line.char_indices().collect(), at: 0, end: line.len() }.line()
}

/// Characters that show as something else than they are, or as nothing.
pub(crate) fn is_treacherous(c: char) -> bool {
    (c.is_control() && !matches!(c, '\t' | '\n'))
        || (!c.is_ascii() && c.is_whitespace())
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{ffff}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a first word is no command's name: an assignment, or a word of the language.
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

    fn skip(&mut self, what: &[char]) {
        while self.peek().is_some_and(|c| what.contains(&c)) {
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
            // After `;` and a line end the line may be over.
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
                // Before the command's name a redirection is legal and never needed.
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

    /// A redirection, if one begins here.
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
                let target = self.target()?;
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
                self.discard().map(Some)
            }
            (None, Some('&'), Some('>')) => {
                self.at += if self.ahead(2) == Some('>') { 3 } else { 2 };
                self.discard().map(Some)
            }
            (Some(_), Some('<' | '>'), _) | (None, Some('&'), _) => Err(NotPlain),
            _ => Ok(None),
        }
    }

    fn discard(&mut self) -> Result<Redirect, NotPlain> {
        let target = self.target()?;
        // Written out: quotes around it would be harmless and are never needed.
        if target.text == "/dev/null" && target.span.len() == target.text.len() {
            Ok(Redirect { target, kind: RedirectKind::Discard })
        } else {
            Err(NotPlain)
        }
    }

    fn target(&mut self) -> Result<Word, NotPlain> {
        self.skip(&[' ', '\t']);
        let word = self.word()?;
        if word.form == Form::Pattern || word.text.is_empty() { Err(NotPlain) } else { Ok(word) }
    }

    fn word(&mut self) -> Result<Word, NotPlain> {
        let start = self.offset();
        let first = self.at;
        let mut word = Word { text: String::new(), form: Form::Literal, span: start..start };
        // All-digits words may turn out to be the number of a descriptor.
        let mut digits = true;
        let mut before = None;
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | ';' | '|' | '&' => break,
                '<' | '>' if digits => return Err(NotPlain),
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
            digits &= c.is_ascii_digit();
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
