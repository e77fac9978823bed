//! What `test` and `[` look at.

use crate::{
    grammar::Reads,
    plain::{Form, Word},
};

/// Returns the files a test looks at; `None` if it may evaluate a text: operands of numeric operators are arithmetic
/// to some shells, and `-v` evaluates subscripts.
pub(crate) fn reads(name: &str, arguments: &[Word]) -> Option<Reads> {
    const FILES: &[&str] =
        &["-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h", "-b", "-c", "-p", "-S", "-O", "-G", "-N"];
    const NUMBERS: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
    const TEXTS: &[&str] = &["=", "==", "!=", "-z", "-n", "!", "-a", "-o", "(", ")"];
    let arguments = match (name, arguments) {
        ("[", [all @ .., last]) if last.text == "]" && last.form == Form::Literal => all,
        ("[", _) => return None,
        (_, all) => all,
    };
    let unknown = |at: usize| arguments.get(at).is_some_and(|word| word.form == Form::Unknown);
    let middle = arguments.get(1).map_or("", |word| word.text.as_str());
    // A value in an operator's position could be `-v`, which evaluates the text after it.
    let placed = match arguments.len() {
        1 => true,
        2 => !unknown(0),
        3 => matches!(middle, "=" | "==" | "!=") || NUMBERS.contains(&middle) || !(0..3).any(unknown),
        many => !(0..many).any(unknown),
    };
    if !placed {
        return None;
    }
    let mut reads = Reads::new();
    let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    for (at, word) in arguments.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| texts.get(at)).copied().unwrap_or_default();
        let after = texts.get(at + 1).copied().unwrap_or_default();
        let literal = word.form == Form::Literal;
        if matches!(word.form, Form::Split | Form::Pattern | Form::Pipe) {
            return None;
        }
        if literal
            && (FILES.contains(&word.text.as_str())
                || NUMBERS.contains(&word.text.as_str())
                || TEXTS.contains(&word.text.as_str()))
        {
            continue;
        }
        if NUMBERS.contains(&before) || NUMBERS.contains(&after) {
            let number = word.text.trim_start_matches('-');
            let digits = literal && !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
            if !digits && word.form != Form::Number {
                return None;
            }
        } else if FILES.contains(&before) {
            reads.push(word.text.clone());
        } else if literal && word.text.starts_with('-') {
            return None;
        }
    }
    Some(reads)
}
