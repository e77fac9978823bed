//! Filters with their own language: the print-only part of `sed`, `awk` and `jq`, and `test`.
//!
//! All three can read other files, and two of them can write files and start programs. Only a small part is
//! known here: a program with anything else in it asks.

use crate::{
    context::UNKNOWN,
    options::{Options, Reads},
    plain::{Form, Word},
    table::Tool,
};

/// Returns the files a filter would read; `None` if its program may do more than print.
pub(crate) fn reads(tool: &Tool, arguments: &[Word]) -> Option<Reads> {
    let words: Vec<&Word> = arguments.iter().collect();
    let options = match tool.name {
        "jq" => jq_options(tool, &words)?,
        _ => Options::read(tool, &words)?,
    };
    program_reads(tool.name, options)
}

fn program_reads(name: &str, options: Options<'_>) -> Option<Reads> {
    let mut operands = options.operands.iter();
    let given: Vec<&str> = match name {
        "sed" => options
            .values
            .iter()
            .filter(|(option, _)| matches!(*option, "e" | "expression"))
            .map(|(_, script)| *script)
            .collect(),
        _ => Vec::new(),
    };
    let programs = if given.is_empty() {
        let program = operands.next()?;
        if program.form != Form::Literal {
            return None;
        }
        vec![program.text.as_str()]
    } else {
        given
    };
    let harmless = programs.iter().all(|program| {
        !program.contains(UNKNOWN)
            && match name {
                "sed" => sed(program),
                "jq" => jq(program),
                _ => awk(program),
            }
    });
    let values = options
        .values
        .iter()
        .filter(|(option, _)| name != "sed" && *option == "v")
        .all(|(_, value)| !value.contains(UNKNOWN) && is_assignment(value));
    if !harmless || !values || !options.patterns.is_empty() {
        return None;
    }
    Some(operands.map(|word| word.text.clone()).collect())
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
}

/// `--arg name value` takes two words, but not behind `--`: there both are files.
fn jq_options<'a>(tool: &Tool, words: &[&'a Word]) -> Option<Options<'a>> {
    let mut rest: Vec<&'a Word> = Vec::new();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        if matches!(word.text.as_str(), "--arg" | "--argjson") && word.form == Form::Literal {
            let name = words.next()?;
            let value = words.next()?;
            if name.form != Form::Literal || matches!(value.form, Form::Split | Form::Pattern) {
                return None;
            }
        } else {
            rest.push(word);
            if word.text == "--" {
                rest.extend(words.by_ref());
            }
        }
    }
    Options::read(tool, &rest)
}

/// Whether a `sed` program only prints: addresses and `p d q n N D P g G h H x = l`, `s///` and `y///`.
/// Left out: `w`, `W`, `r`, `R` name files, `e` and the flags `w` and `e` of `s` too, and text of `a`, `i`, `c` and
/// labels are rare.
pub(crate) fn sed(program: &str) -> bool {
    let mut rest: Vec<char> = program.chars().rev().collect();
    loop {
        while rest.last().is_some_and(|c| matches!(c, ' ' | '\t' | ';' | '\n' | '{' | '}')) {
            rest.pop();
        }
        if rest.is_empty() {
            return true;
        }
        if sed_command(&mut rest).is_none() {
            return false;
        }
    }
}

fn sed_command(rest: &mut Vec<char>) -> Option<()> {
    sed_address(rest)?;
    if rest.last() == Some(&',') {
        rest.pop();
        if matches!(rest.last(), Some('+' | '~')) {
            rest.pop();
        }
        sed_address(rest)?;
    }
    while rest.last().is_some_and(|c| matches!(c, ' ' | '!')) {
        rest.pop();
    }
    match rest.pop()? {
        '{' => Some(()),
        'p' | 'd' | 'q' | 'n' | 'N' | 'D' | 'P' | 'g' | 'G' | 'h' | 'H' | 'x' | '=' => {
            while rest.last() == Some(&' ') {
                rest.pop();
            }
            matches!(rest.last(), None | Some(';' | '\n' | '}')).then_some(())
        }
        command @ ('s' | 'y') => {
            let delimiter = rest.pop().filter(|c| !c.is_alphanumeric() && !matches!(c, '\\' | '\n' | ' '))?;
            sed_until(rest, delimiter)?;
            sed_until(rest, delimiter)?;
            while let Some(flag) = rest.last() {
                match flag {
                    'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' if command == 's' => {
                        rest.pop();
                    }
                    ' ' => {
                        rest.pop();
                    }
                    ';' | '\n' | '}' => break,
                    _ => return None,
                }
            }
            Some(())
        }
        _ => None,
    }
}

fn sed_address(rest: &mut Vec<char>) -> Option<()> {
    match rest.last() {
        Some('0'..='9') => {
            while rest.last().is_some_and(|c| c.is_ascii_digit() || *c == '~') {
                rest.pop();
            }
        }
        Some('$') => {
            rest.pop();
        }
        Some('/') => {
            rest.pop();
            sed_until(rest, '/')?;
            while matches!(rest.last(), Some('I' | 'M')) {
                rest.pop();
            }
        }
        _ => {}
    }
    Some(())
}

/// Goes behind the next delimiter; none where versions of `sed` would find it at different places.
fn sed_until(rest: &mut Vec<char>, delimiter: char) -> Option<()> {
    let [first, others @ ..] = Brackets::ALL.map(|brackets| brackets.delimiter(rest, delimiter));
    let left = first?;
    if others != [first; 3] {
        return None;
    }
    rest.truncate(left);
    Some(())
}

/// How a version of `sed` reads brackets while it looks for a delimiter, which stands for itself inside them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Brackets {
    /// They hide no delimiter, as in a replacement.
    Nothing,
    /// They end at the first `]` that is not their first character.
    Plain,
    /// As in POSIX: the `]` of `[.x.]`, `[=x=]` and `[:name:]` ends none.
    Posix,
    /// As in POSIX, but a backslash keeps the next character from ending them.
    Escaped,
}

impl Brackets {
    const ALL: [Self; 4] = [Self::Nothing, Self::Plain, Self::Posix, Self::Escaped];

    /// How much of a reversed text is left behind the next delimiter; none without one on the line.
    fn delimiter(self, rest: &[char], delimiter: char) -> Option<usize> {
        let mut left = rest;
        loop {
            left = match left {
                [left @ .., c] if *c == delimiter => return Some(left.len()),
                [left @ .., _, '\\'] => left,
                [left @ .., '['] if self != Self::Nothing => self.close(left)?,
                [] | [.., '\n' | '\\'] => return None,
                [left @ .., _] => left,
            };
        }
    }

    /// What is left of a reversed text behind the end of the bracket it begins in.
    fn close(self, rest: &[char]) -> Option<&[char]> {
        let rest = rest.strip_suffix(&['^']).unwrap_or(rest);
        let mut left = rest.strip_suffix(&[']']).unwrap_or(rest);
        loop {
            left = match left {
                [left @ .., ']'] => return Some(left),
                [left @ .., _, '\\'] if self == Self::Escaped => left,
                [left @ .., kind @ ('.' | '=' | ':'), '['] if self != Self::Plain => named(left, *kind)?,
                [] | [.., '\n'] => return None,
                [left @ .., _] => left,
            };
        }
    }
}

/// What is left of a reversed text behind the end of a bracket's class. Other signs than those of names are read
/// differently: for GNU `sed`, `[...]` does not end.
fn named(rest: &[char], kind: char) -> Option<&[char]> {
    let name = rest.iter().rev().take_while(|c| c.is_ascii_alphanumeric() || **c == '-').count();
    let left = rest.get(..rest.len() - name)?;
    left.strip_suffix(&[']', kind])
}

/// Whether an `awk` program only prints. Left out: `>` and `|` write and start programs, `getline` and the
/// argument list read other files, `system` starts programs, `@` loads and calls by name, the environment is no
/// matter of a file.
fn awk(program: &str) -> bool {
    const WORDS: &[&str] = &[
        "getline",
        "system",
        "ARG",
        "ENVIRON",
        "PROCINFO",
        "SYMTAB",
        "FUNCTAB",
        "extension",
        "close",
        "fflush",
    ];
    !program.contains(['>', '|', '@', '\\', '`']) && !WORDS.iter().any(|word| program.contains(word))
}

/// Whether a `jq` program looks at nothing but its input.
fn jq(program: &str) -> bool {
    let names = program.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
    !names.into_iter().any(|name| {
        matches!(
            name,
            "env"
                | "$ENV"
                | "import"
                | "include"
                | "input_filename"
                | "modulemeta"
                | "get_search_list"
                | "$__prog_args"
                | "debug"
                | "stderr"
                | "halt_error"
        )
    })
}

/// What `test` and `[` look at. Operands of numeric operators are arithmetic, and so is `-v`.
pub(crate) fn test(name: &str, arguments: &[Word]) -> Option<Reads> {
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
        if word.form == Form::Split || word.form == Form::Pattern {
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
            if !literal || number.is_empty() || !number.chars().all(|c| c.is_ascii_digit()) {
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
