//! Finds the end of a pattern of `sed`.
//!
//! A delimiter means itself in a bracket expression, and versions of `sed` parse brackets differently. All versions
//! must find the same end.

/// Skips a pattern and its closing delimiter; the last character of `rest` is the next one. Returns `None` if versions
/// of `sed` would find the delimiter at different positions.
pub(crate) fn skip_pattern(rest: &mut Vec<char>, delimiter: char) -> Option<()> {
    let [first, others @ ..] = Brackets::ALL.map(|brackets| brackets.end(rest, delimiter));
    let left = first?;
    if others != [first; 3] {
        return None;
    }
    rest.truncate(left);
    Some(())
}

/// Skips a replacement and its closing delimiter. No version has brackets in a replacement.
pub(super) fn skip_text(rest: &mut Vec<char>, delimiter: char) -> Option<()> {
    let left = Brackets::Ignored.end(rest, delimiter)?;
    rest.truncate(left);
    Some(())
}

/// How a version of `sed` treats brackets while it looks for a delimiter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Brackets {
    /// Brackets hide no delimiter.
    Ignored,
    /// A bracket ends at the first `]` that is not its first character.
    Simple,
    /// As in POSIX: the `]` of `[.x.]`, `[=x=]` and `[:name:]` ends no bracket.
    Posix,
    /// As in POSIX, but a `]` after a backslash ends no bracket.
    Escaped,
}

impl Brackets {
    const ALL: [Self; 4] = [Self::Ignored, Self::Simple, Self::Posix, Self::Escaped];

    /// Returns the length of a reversed text that is left after the next delimiter; `None` without one on the line.
    fn end(self, rest: &[char], delimiter: char) -> Option<usize> {
        let mut left = rest;
        loop {
            left = match left {
                [left @ .., c] if *c == delimiter => return Some(left.len()),
                [left @ .., _, '\\'] => left,
                [left @ .., '['] if self != Self::Ignored => self.close(left)?,
                [] | [.., '\n' | '\\'] => return None,
                [left @ .., _] => left,
            };
        }
    }

    /// Returns the part of a reversed text after the end of the current bracket.
    fn close(self, rest: &[char]) -> Option<&[char]> {
        let rest = rest.strip_suffix(&['^']).unwrap_or(rest);
        let mut left = rest.strip_suffix(&[']']).unwrap_or(rest);
        loop {
            left = match left {
                [left @ .., ']'] => return Some(left),
                [left @ .., _, '\\'] if self == Self::Escaped => left,
                [left @ .., kind @ ('.' | '=' | ':'), '['] if self != Self::Simple => class(left, *kind)?,
                [] | [.., '\n'] => return None,
                [left @ .., _] => left,
            };
        }
    }
}

/// Returns the part of a reversed text after the end of a bracket's class; `None` if it contains other characters than
/// a name, because versions differ about these: to GNU `sed`, `[...]` does not end.
fn class(rest: &[char], kind: char) -> Option<&[char]> {
    let name = rest.iter().rev().take_while(|c| c.is_ascii_alphanumeric() || **c == '-').count();
    let left = rest.get(..rest.len() - name)?;
    left.strip_suffix(&[']', kind])
}
