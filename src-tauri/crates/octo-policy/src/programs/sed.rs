//! The language of `sed`: the part that only prints.
//!
//! Versions of `sed` find the end of a pattern at different places (see [`delimiter`]); a program in which they
//! differ is refused. Refused too: the commands `e`, `r`, `R`, `w`, `W` and the flags `e` and `w` of `s`, which
//! start programs or name files, `-f`, which takes a program from a file, and text that a backslash continues.

mod delimiter;

pub(crate) use delimiter::skip_pattern;

use crate::{
    context::UNKNOWN,
    grammar::{OptionGrammar, Options, Reads},
    plain::{Form, Word},
};

/// Options of a `sed` that prints.
pub(crate) const OPTIONS: &str = "-nErsuz -e=SCRIPT --quiet --silent --regexp-extended --separate --null-data \
    --zero-terminated --unbuffered --expression=SCRIPT --posix --sandbox !-i[SUFFIX] !--in-place[=SUFFIX] !-f=FILE \
    !--file=FILE !--follow-symlinks !-l=NUM !--line-length=NUM !-b !--binary !--debug !--help !--version";

/// Options of a `sed` that changes its files.
pub(crate) const IN_PLACE_OPTIONS: &str = "-nErsuz -e=SCRIPT -i[SUFFIX] --quiet --silent --regexp-extended \
    --separate --null-data --zero-terminated --unbuffered --expression=SCRIPT --posix --sandbox --in-place[=SUFFIX] \
    !-f=FILE !--file=FILE !--follow-symlinks !-l=NUM !--line-length=NUM !-b !--binary !--debug";

/// Returns the files `sed` would print; `None` if its program may do more than print.
pub(crate) fn reads(grammar: &OptionGrammar, arguments: &[Word]) -> Option<Reads> {
    let options = grammar.read(&arguments.iter().collect::<Vec<_>>())?;
    files(&options)
}

/// Returns the files behind a program that only prints.
pub(crate) fn files(options: &Options<'_>) -> Option<Reads> {
    // A `sed` that stops at its first operand takes a late `-e` for a file, and that operand for the program.
    if options.late || !options.patterns.is_empty() {
        return None;
    }
    let mut operands = options.operands.iter();
    let mut parts: Vec<&str> = options.of(&["e", "expression"]).collect();
    if parts.is_empty() {
        let program = operands.next().filter(|word| word.form == Form::Literal)?;
        parts.push(&program.text);
    }
    if !only_prints(&parts.join("\n")) {
        return None;
    }
    Some(operands.filter(|word| word.form != Form::Pipe).map(|word| word.text.clone()).collect())
}

/// Whether a program only prints.
pub(crate) fn only_prints(program: &str) -> bool {
    let mut reader = ScriptReader { rest: program.chars().rev().collect() };
    !program.contains([UNKNOWN, '\r']) && reader.script().is_some()
}

/// A program that is read from its beginning; the next character is the last of `rest`.
struct ScriptReader {
    rest: Vec<char>,
}

impl ScriptReader {
    fn peek(&self) -> Option<char> {
        self.rest.last().copied()
    }

    fn skip(&mut self, skipped: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&skipped) {
            self.rest.pop();
        }
    }

    fn digits(&mut self) {
        self.skip(|c| c.is_ascii_digit());
    }

    fn script(&mut self) -> Option<()> {
        loop {
            self.skip(|c| matches!(c, ' ' | '\t' | ';' | '\n' | '}'));
            if self.peek().is_none() {
                return Some(());
            }
            self.command()?;
        }
    }

    fn command(&mut self) -> Option<()> {
        if self.address()? {
            self.skip(|c| c == ' ');
            if self.peek() == Some(',') {
                self.rest.pop();
                self.skip(|c| c == ' ');
                if matches!(self.peek(), Some('+' | '~')) {
                    self.rest.pop();
                }
                self.address()?;
            }
        }
        self.skip(|c| matches!(c, ' ' | '\t' | '!'));
        match self.rest.pop()? {
            '{' => Some(()),
            '#' => {
                self.skip(|c| c != '\n');
                Some(())
            }
            'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' | '=' => self.end(),
            'l' | 'q' | 'Q' => {
                self.skip(|c| c == ' ');
                self.digits();
                self.end()
            }
            ':' | 'b' | 't' | 'T' => {
                self.skip(|c| c == ' ');
                self.skip(|c| c.is_ascii_alphanumeric() || c == '_');
                self.end()
            }
            'a' | 'i' | 'c' => self.text(),
            's' => {
                let sign = self.sign()?;
                delimiter::skip_pattern(&mut self.rest, sign)?;
                delimiter::skip_text(&mut self.rest, sign)?;
                self.skip(|c| c.is_ascii_digit() || "gpiImM".contains(c));
                self.end()
            }
            'y' => {
                let sign = self.sign()?;
                delimiter::skip_pattern(&mut self.rest, sign)?;
                delimiter::skip_text(&mut self.rest, sign)?;
                self.end()
            }
            _ => None,
        }
    }

    /// Reads an address if one begins here; returns whether one did.
    fn address(&mut self) -> Option<bool> {
        match self.peek() {
            Some('0'..='9') => self.skip(|c| c.is_ascii_digit() || c == '~'),
            Some('$') => {
                self.rest.pop();
            }
            Some('/') => {
                self.rest.pop();
                delimiter::skip_pattern(&mut self.rest, '/')?;
                self.skip(|c| matches!(c, 'I' | 'M'));
            }
            Some('\\') => {
                self.rest.pop();
                let sign = self.sign()?;
                delimiter::skip_pattern(&mut self.rest, sign)?;
                self.skip(|c| matches!(c, 'I' | 'M'));
            }
            _ => return Some(false),
        }
        Some(true)
    }

    /// The sign that delimits a pattern. A letter, a blank or a bracket would be read in more than one way.
    fn sign(&mut self) -> Option<char> {
        self.rest
            .pop()
            .filter(|c| c.is_ascii_punctuation() && !matches!(c, '\\' | '[' | ']' | ';' | '{' | '}'))
    }

    /// Text of `a`, `i` and `c`, up to the line's end, or the next line behind `a\`. Another backslash may continue it.
    fn text(&mut self) -> Option<()> {
        self.skip(|c| c == ' ');
        if let [rest @ .., '\n', '\\'] = self.rest.as_slice() {
            self.rest.truncate(rest.len());
        }
        let from = self.rest.len();
        while let Some(c) = self.peek().filter(|c| *c != '\n') {
            if c == '\\' {
                return None;
            }
            self.rest.pop();
        }
        // Without text, some versions take the next line for it.
        (from > self.rest.len()).then_some(())
    }

    /// What may follow a command.
    fn end(&mut self) -> Option<()> {
        self.skip(|c| c == ' ');
        matches!(self.peek(), None | Some(';' | '\n' | '}' | '#')).then_some(())
    }
}
