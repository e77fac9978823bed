//! The tokens of an `awk` program.

use crate::programs::sed::skip_pattern;

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A name or a keyword.
    Name(&'a str),
    /// A number.
    Number,
    /// The text of a string, as written.
    Text(&'a str),
    /// A regular expression.
    Pattern,
    /// Anything else: an operator, a bracket, a line end.
    Sign(&'a str),
}

/// Signs of several characters, longer ones first.
const SIGNS: &[&str] = &[
    "**=", "&&", "||", "|&", ">>", ">=", "<=", "==", "!=", "!~", "++", "--", "+=", "-=", "*=", "/=", "%=",
    "^=", "**",
];

/// Returns a program's tokens; `None` where versions of `awk` could read it differently.
pub(super) fn tokens(program: &str) -> Option<Vec<Token<'_>>> {
    let mut found: Vec<Token<'_>> = Vec::new();
    // Whether each open parenthesis contains a condition, after which a statement follows.
    let mut parentheses: Vec<bool> = Vec::new();
    let mut after_condition = false;
    let mut rest = program;
    while let Some(c) = rest.chars().next() {
        let (token, length) = match c {
            ' ' | '\t' => (None, 1),
            '#' => (None, rest.find('\n').unwrap_or(rest.len())),
            '"' => {
                let length = string_length(rest)?;
                (Some(Token::Text(rest.get(1..length - 1)?)), length)
            }
            '/' if after_condition || expects_operand(found.last()) => {
                (Some(Token::Pattern), pattern_length(rest)?)
            }
            _ if c.is_ascii_alphabetic() || c == '_' => {
                let length = word_length(rest);
                (Some(Token::Name(rest.get(..length)?)), length)
            }
            _ if c.is_ascii_digit() => (Some(Token::Number), number_length(rest)),
            _ if c.is_ascii_graphic() || c == '\n' => {
                let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign)).copied();
                let sign = sign.unwrap_or(rest.get(..1)?);
                (Some(Token::Sign(sign)), sign.len())
            }
            _ => return None,
        };
        if let Some(token) = token {
            let condition = matches!(found.last(), Some(Token::Name("if" | "while" | "for")));
            after_condition = false;
            match token {
                Token::Sign("(") => parentheses.push(condition),
                Token::Sign(")") => after_condition = parentheses.pop()?,
                _ => {}
            }
            found.push(token);
        }
        rest = rest.get(length..)?;
    }
    Some(found)
}

/// Returns whether a `/` after this token begins a regular expression, because the token is no operand of a division.
fn expects_operand(before: Option<&Token<'_>>) -> bool {
    match before {
        Some(Token::Name(name)) => {
            matches!(*name, "print" | "printf" | "return" | "in" | "do" | "else" | "case" | "exit" | "delete")
        }
        Some(Token::Number | Token::Text(_) | Token::Pattern) => false,
        Some(Token::Sign(sign)) => !matches!(*sign, ")" | "]" | "$" | "++" | "--"),
        None => true,
    }
}

/// Returns the length of a string with its quotes; `None` if it contains a line end, which versions read differently.
fn string_length(rest: &str) -> Option<usize> {
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some(at + 1),
            '\\' => {
                chars.next().filter(|(_, escaped)| *escaped != '\n')?;
            }
            '\n' => return None,
            _ => {}
        }
    }
    None
}

/// Returns the length of a regular expression with its slashes.
fn pattern_length(rest: &str) -> Option<usize> {
    let mut reversed: Vec<char> = rest.chars().skip(1).collect();
    let all = reversed.len();
    reversed.reverse();
    skip_pattern(&mut reversed, '/')?;
    Some(rest.chars().take(1 + all - reversed.len()).map(char::len_utf8).sum())
}

fn word_length(rest: &str) -> usize {
    rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len())
}

fn number_length(rest: &str) -> usize {
    rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len())
}
