//! The variables a line may set or show, and the shell's own commands that only steer a line.

use super::state::State;
use crate::{
    plain::{self, Form},
    programs::processes::PUBLIC_VARIABLES,
    script::Simple,
};

/// Variables that mean nothing to any program when a line sets them.
pub(super) const PRIVATE: &[&str] = &[
    "A", "B", "BASE", "BRANCH", "COUNT", "D", "DEST", "DIR", "DST", "F", "FILE", "FILES", "I", "MSG", "N",
    "NAME", "NUM", "OUT", "OUTPUT", "PATTERN", "ROOT", "SRC", "X", "Y",
];

/// Variables that may be set for one command.
pub(super) const HARMLESS: &[&str] =
    &["LC_ALL", "LANG", "LC_COLLATE", "NO_COLOR", "CLICOLOR", "COLUMNS", "TZ", "CI"];

/// Whether a variable's value is the line's own, or one of those that are no secret.
pub(super) fn is_shown(name: &str, state: &State) -> bool {
    state.variables.contains_key(name) || PUBLIC_VARIABLES.contains(&name)
}

/// Whether a line may use a variable of this name as its own.
pub(super) fn is_private(name: &str) -> bool {
    PRIVATE.contains(&name)
        || (name.chars().any(|c| c.is_ascii_lowercase())
            && !name.to_ascii_lowercase().contains("proxy")
            && !matches!(name, "auto_resume" | "histchars")
            && !name.starts_with("npm_"))
}

/// Commands of the shell itself that only steer the line.
pub(super) fn control(name: &str, arguments: &[plain::Word]) -> Option<()> {
    if let [only] = arguments
        && only.form == Form::Number
    {
        return matches!(name, "exit" | "return" | "sleep").then_some(());
    }
    let texts: Vec<&str> = arguments
        .iter()
        .map(|word| (word.form == Form::Literal).then_some(word.text.as_str()))
        .collect::<Option<_>>()?;
    let number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let is_harmless = match (name, texts.as_slice()) {
        (":", _) => true,
        ("exit" | "return" | "break" | "continue", []) => true,
        ("exit" | "return" | "break" | "continue", [text]) => number(text),
        ("sleep", [text]) => number(text.trim_end_matches('s').replacen('.', "", 1).as_str()),
        ("set", ["-e" | "-u" | "-eu" | "-x" | "-ex" | "-eux" | "+e" | "+x" | "+u"]) => true,
        ("set", ["-o" | "-eo" | "-euo" | "-euxo" | "-exo" | "-uo", "pipefail"]) => true,
        ("wait", []) => true,
        _ => false,
    };
    is_harmless.then_some(())
}

/// The variables a command sets.
pub(super) fn set_by(simple: &Simple) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    names.extend(simple.assignments.iter().map(|assignment| assignment.name.clone()));
    if is_read(simple) {
        names.extend(read_names(simple).unwrap_or_default());
    }
    names
}

/// Whether a command is the shell's `read`.
pub(super) fn is_read(simple: &Simple) -> bool {
    simple.words.first().and_then(|word| word.literal()).is_some_and(|name| name == "read")
}

/// The variables that `read` sets, if it does nothing else: it may be given blanks to split at, and no prompt,
/// array or descriptor.
pub(super) fn read_names(simple: &Simple) -> Option<Vec<String>> {
    let splits = |name: &str| name == "IFS";
    if !simple
        .assignments
        .iter()
        .all(|assignment| splits(&assignment.name) && assignment.value.literal().is_some())
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
            name if is_private(name) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
                names.push(word);
            }
            _ => return None,
        }
    }
    (!names.is_empty()).then_some(names)
}
