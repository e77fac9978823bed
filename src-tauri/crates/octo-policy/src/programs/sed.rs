//! The language of `sed`: the part that only prints.
//!
//! Versions of `sed` find the end of a pattern at different positions (see [`delimiter`]). The reader refuses a program
//! in which they differ, the commands `e`, `r`, `R`, `w`, `W` and the flags `e` and `w` of `s`, which start programs or
//! name files, `-f`, which takes a program from a file, and text with a backslash.

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

/// Returns the files after a program that only prints; `None` if the program may do more.
pub(crate) fn files(options: &Options<'_>) -> Option<Reads> {
    // To a `sed` that stops parsing at its first operand, that operand is the program and a later `-e` is a file.
    if options.late || !options.patterns.is_empty() {
        return None;
    }
    let mut operands = options.operands.iter();
    let mut parts: Vec<&str> = options.values_of(&["e", "expression"]).collect();
    if parts.is_empty() {
        let program = operands.next().filter(|word| word.form == Form::Literal)?;
        parts.push(&program.text);
    }
    if !only_prints(&parts.join("\n")) {
        return None;
    }
    Some(operands.filter(|word| word.form != Form::Pipe).map(|word| word.text.clone()).collect())
}

/// Returns whether a program only prints.
pub(crate) fn only_prints(program: &str) -> bool {
    let mut reader = ScriptReader { rest: program.chars().rev().collect() };
    !program.contains([UNKNOWN, '\r']) && reader.script().is_some()
}

/// A reader of a program. `rest` is reversed: its last character is the next one.
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
                let delimiter = self.delimiter()?;
                delimiter::skip_pattern(&mut self.rest, delimiter)?;
                delimiter::skip_text(&mut self.rest, delimiter)?;
                self.skip(|c| c.is_ascii_digit() || "gpiImM".contains(c));
                self.end()
            }
            'y' => {
                let delimiter = self.delimiter()?;
                delimiter::skip_pattern(&mut self.rest, delimiter)?;
                delimiter::skip_text(&mut self.rest, delimiter)?;
                self.end()
            }
            _ => None,
        }
    }

    /// Reads the address at this position. Returns whether there is one.
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
                let delimiter = self.delimiter()?;
                delimiter::skip_pattern(&mut self.rest, delimiter)?;
                self.skip(|c| matches!(c, 'I' | 'M'));
            }
            _ => return Some(false),
        }
        Some(true)
    }

    /// Reads the delimiter of a pattern. Versions differ about a letter, a blank or a bracket.
    fn delimiter(&mut self) -> Option<char> {
        self.rest
            .pop()
            .filter(|c| c.is_ascii_punctuation() && !matches!(c, '\\' | '[' | ']' | ';' | '{' | '}'))
    }

    /// Reads the text of `a`, `i` and `c`: the rest of the line, or the next line after `a\`. Refuses another
    /// backslash, which may continue the text.
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
        // Without a text, some versions use the next line.
        (from > self.rest.len()).then_some(())
    }

    /// Checks that a command ends here.
    fn end(&mut self) -> Option<()> {
        self.skip(|c| c == ' ');
        matches!(self.peek(), None | Some(';' | '\n' | '}' | '#')).then_some(())
    }
}
