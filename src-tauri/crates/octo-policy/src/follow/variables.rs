//! The variables that a line may set or show, and the shell's builtins that only control a line.

use super::state::State;
use crate::{
    plain::{self, Form},
    programs::processes::PUBLIC_VARIABLES,
    script::Simple,
};

/// Variables that no program reads, so that a line may set them.
pub(super) const LINE_VARIABLES: &[&str] = &[
    "A", "B", "BASE", "BRANCH", "COUNT", "D", "DEST", "DIR", "DST", "F", "FILE", "FILES", "I", "MSG", "N",
    "NAME", "NUM", "OUT", "OUTPUT", "PATTERN", "ROOT", "SRC", "X", "Y",
];

/// Variables that may be set for a single command.
pub(super) const HARMLESS_VARIABLES: &[&str] =
    &["LC_ALL", "LANG", "LC_COLLATE", "NO_COLOR", "CLICOLOR", "COLUMNS", "TZ", "CI"];

/// Returns whether a line may show a variable: the line has set it, or its value is not secret.
pub(super) fn may_show(name: &str, state: &State) -> bool {
    state.variables.contains_key(name) || PUBLIC_VARIABLES.contains(&name)
}

/// Returns whether a line may set a variable of this name.
pub(super) fn is_line_variable(name: &str) -> bool {
    LINE_VARIABLES.contains(&name)
        || (name.chars().any(|c| c.is_ascii_lowercase())
            && !name.to_ascii_lowercase().contains("proxy")
            && !matches!(name, "auto_resume" | "histchars")
            && !name.starts_with("npm_"))
}

/// Returns whether a command is a builtin of the shell that only controls the line.
pub(super) fn is_control_command(name: &str, arguments: &[plain::Word]) -> bool {
    if let [only] = arguments
        && only.form == Form::Number
    {
        return matches!(name, "exit" | "return" | "sleep");
    }
    let texts: Option<Vec<&str>> =
        arguments.iter().map(|word| (word.form == Form::Literal).then_some(word.text.as_str())).collect();
    let Some(texts) = texts else { return false };
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    match (name, texts.as_slice()) {
        (":", _) => true,
        ("exit" | "return" | "break" | "continue", []) => true,
        ("exit" | "return" | "break" | "continue", [text]) => is_number(text),
        ("sleep", [text]) => is_number(text.trim_end_matches('s').replacen('.', "", 1).as_str()),
        ("set", ["-e" | "-u" | "-eu" | "-x" | "-ex" | "-eux" | "+e" | "+x" | "+u"]) => true,
        ("set", ["-o" | "-eo" | "-euo" | "-euxo" | "-exo" | "-uo", "pipefail"]) => true,
        ("wait", []) => true,
        _ => false,
    }
}

/// Returns the variables that a command sets.
pub(super) fn variables_set_by(simple: &Simple) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    names.extend(simple.assignments.iter().map(|assignment| assignment.name.clone()));
    if is_read_builtin(simple) {
        names.extend(variables_of_read(simple).unwrap_or_default());
    }
    names
}

/// Returns whether a command is the shell's `read`.
pub(super) fn is_read_builtin(simple: &Simple) -> bool {
    simple.words.first().and_then(|word| word.literal()).is_some_and(|name| name == "read")
}

/// Returns the variables that a `read` sets; `None` if it may do anything else. It may have separators and a delimiter,
/// but no prompt, array or descriptor.
pub(super) fn variables_of_read(simple: &Simple) -> Option<Vec<String>> {
    let is_separator = |name: &str| name == "IFS";
    if !simple
        .assignments
        .iter()
        .all(|assignment| is_separator(&assignment.name) && assignment.value.literal().is_some())
    {
        return None;
    }
    let words: Vec<String> = simple.words.iter().skip(1).map(|word| word.literal()).collect::<Option<_>>()?;
    let mut words = words.into_iter();
    let mut names = Vec::new();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-r" if names.is_empty() => {}
            "-d" | "-rd" if names.is_empty() => {
                words.next()?;
            }
            name if is_line_variable(name) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
                names.push(word);
            }
            _ => return None,
        }
    }
    (!names.is_empty()).then_some(names)
}
