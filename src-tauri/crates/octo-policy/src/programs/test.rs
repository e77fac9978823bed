//! The operands of `test` and `[`.

use crate::{
    grammar::Reads,
    plain::{Form, Word},
};

/// Returns the files that a test inspects; `None` if it may evaluate a text: some shells evaluate the operands of
/// numeric operators as arithmetic, and `-v` evaluates subscripts.
pub(crate) fn reads(name: &str, arguments: &[Word]) -> Option<Reads> {
    const FILE_TESTS: &[&str] =
        &["-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h", "-b", "-c", "-p", "-S", "-O", "-G", "-N"];
    const NUMBER_TESTS: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
    const TEXT_TESTS: &[&str] = &["=", "==", "!=", "-z", "-n", "!", "-a", "-o", "(", ")"];
    let arguments = match (name, arguments) {
        ("[", [all @ .., last]) if last.text == "]" && last.form == Form::Literal => all,
        ("[", _) => return None,
        (_, all) => all,
    };
    let is_unknown = |at: usize| arguments.get(at).is_some_and(|word| word.form == Form::Unknown);
    let middle = arguments.get(1).map_or("", |word| word.text.as_str());
    // A value in an operator's position could be `-v`, which evaluates the text after it.
    let operators_are_known = match arguments.len() {
        1 => true,
        2 => !is_unknown(0),
        3 => matches!(middle, "=" | "==" | "!=") || NUMBER_TESTS.contains(&middle) || !(0..3).any(is_unknown),
        many => !(0..many).any(is_unknown),
    };
    if !operators_are_known {
        return None;
    }
    let mut reads = Reads::new();
    let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    for (at, word) in arguments.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| texts.get(at)).copied().unwrap_or_default();
        let after = texts.get(at + 1).copied().unwrap_or_default();
        let is_literal = word.form == Form::Literal;
        if matches!(word.form, Form::Split | Form::Pattern | Form::Pipe) {
            return None;
        }
        if is_literal
            && (FILE_TESTS.contains(&word.text.as_str())
                || NUMBER_TESTS.contains(&word.text.as_str())
                || TEXT_TESTS.contains(&word.text.as_str()))
        {
            continue;
        }
        if NUMBER_TESTS.contains(&before) || NUMBER_TESTS.contains(&after) {
            let number = word.text.trim_start_matches('-');
            let is_number = is_literal && !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
            if !is_number && word.form != Form::Number {
                return None;
            }
        } else if FILE_TESTS.contains(&before) {
            reads.push(word.text.clone());
        } else if is_literal && word.text.starts_with('-') {
            return None;
        }
    }
    Some(reads)
}
