//! The variables a line may set or show, and the shell's own commands that only steer a line.

use super::state::State;
use crate::plain::{self, Form};

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
    const PUBLIC: &[&str] = &[
        "BASH_VERSION",
        "EUID",
        "HOME",
        "HOSTNAME",
        "LANG",
        "LINENO",
        "LOGNAME",
        "OLDPWD",
        "OSTYPE",
        "PATH",
        "PPID",
        "PWD",
        "RANDOM",
        "SECONDS",
        "SHELL",
        "TERM",
        "TMPDIR",
        "UID",
        "USER",
    ];
    state.variables.contains_key(name) || PUBLIC.contains(&name)
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
    let texts: Vec<&str> = arguments
        .iter()
        .map(|word| (word.form == Form::Literal).then_some(word.text.as_str()))
        .collect::<Option<_>>()?;
    let number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let known = match (name, texts.as_slice()) {
        (":", _) => true,
        ("exit" | "return" | "break" | "continue", []) => true,
        ("exit" | "return" | "break" | "continue", [text]) => number(text),
        ("sleep", [text]) => number(text.trim_end_matches('s').replacen('.', "", 1).as_str()),
        ("set", ["-e" | "-u" | "-eu" | "-x" | "-ex" | "-eux" | "+e" | "+x" | "+u"]) => true,
        ("set", ["-o" | "-eo" | "-euo" | "-euxo" | "-exo" | "-uo", "pipefail"]) => true,
        ("wait", []) => true,
        _ => false,
    };
    known.then_some(())
}
