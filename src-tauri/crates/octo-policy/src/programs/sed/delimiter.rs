//! Where a pattern of `sed` ends.
//!
//! A delimiter stands for itself in a bracket, and versions of `sed` read brackets differently. All of them must
//! find the same end.

/// Goes behind the delimiter that ends a pattern; the next character is the last of `rest`. `None` where versions
/// of `sed` would find it at different places.
pub(crate) fn skip_pattern(rest: &mut Vec<char>, delimiter: char) -> Option<()> {
    let [first, others @ ..] = Brackets::ALL.map(|brackets| brackets.end(rest, delimiter));
    let left = first?;
    if others != [first; 3] {
        return None;
    }
    rest.truncate(left);
    Some(())
}

/// Goes behind the delimiter that ends a replacement, in which no version knows brackets.
pub(super) fn skip_text(rest: &mut Vec<char>, delimiter: char) -> Option<()> {
    let left = Brackets::Ignored.end(rest, delimiter)?;
    rest.truncate(left);
    Some(())
}

/// How a version of `sed` reads brackets while it looks for a delimiter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Brackets {
    /// They hide no delimiter.
    Ignored,
    /// They end at the first `]` that is not their first character.
    Simple,
    /// As in POSIX: the `]` of `[.x.]`, `[=x=]` and `[:name:]` ends none.
    Posix,
    /// As in POSIX, but a backslash keeps the next character from ending them.
    Escaped,
}

impl Brackets {
    const ALL: [Self; 4] = [Self::Ignored, Self::Simple, Self::Posix, Self::Escaped];

    /// Returns how much of a reversed text is left behind the next delimiter; `None` without one on the line.
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

    /// Returns what is left of a reversed text behind the end of the bracket it begins in.
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

/// Returns what is left of a reversed text behind the end of a bracket's class. Other signs than those of names are
/// read differently: for GNU `sed`, `[...]` does not end.
fn class(rest: &[char], kind: char) -> Option<&[char]> {
    let name = rest.iter().rev().take_while(|c| c.is_ascii_alphanumeric() || **c == '-').count();
    let left = rest.get(..rest.len() - name)?;
    left.strip_suffix(&[']', kind])
}
