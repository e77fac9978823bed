//! The format of `printf`.

use crate::{
    grammar::{Reads, patterns},
    plain::{Form, Word},
};

/// Returns the patterns among the arguments; `None` if the format may do more than print: `%n` and `-v` assign a
/// variable.
pub(crate) fn reads(arguments: &[Word]) -> Option<Reads> {
    let (format, rest) = arguments.split_first()?;
    if format.form != Form::Literal || format.text.starts_with('-') {
        return None;
    }
    let mut parts = format.text.split('%').skip(1).peekable();
    while let Some(part) = parts.next() {
        let conversion = part.trim_start_matches(|c: char| {
            c.is_ascii_digit() || matches!(c, '-' | '+' | ' ' | '#' | '.' | '*' | '\'')
        });
        match conversion.chars().next() {
            Some(
                's' | 'd' | 'i' | 'o' | 'u' | 'x' | 'X' | 'c' | 'b' | 'q' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G',
            ) => {}
            // After `%%` comes text.
            None if part.is_empty() => {
                parts.next();
            }
            _ => return None,
        }
    }
    Some(patterns(rest))
}
