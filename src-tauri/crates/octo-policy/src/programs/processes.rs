//! Programs that show processes and variables, which may be secret.

use crate::{
    grammar::Reads,
    plain::{Form, Word},
};

/// Environment variables that are not secret.
pub(crate) const PUBLIC_VARIABLES: &[&str] = &[
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

/// Reads the words of a `printenv` of named variables that are not secret. Without a name it prints all variables,
/// including keys.
pub(crate) fn printenv(arguments: &[Word]) -> Option<Reads> {
    let public = |word: &Word| word.form == Form::Literal && PUBLIC_VARIABLES.contains(&word.text.as_str());
    (!arguments.is_empty() && arguments.iter().all(public)).then(Reads::new)
}

/// Reads the words of a `ps` with harmless columns. Other letters or columns may print environments: `ps e`,
/// `-o environ`.
pub(crate) fn ps(arguments: &[Word]) -> Option<Reads> {
    const COLUMNS: &[&str] = &[
        "args", "cmd", "comm", "cputime", "etime", "gid", "group", "lstart", "nice", "pcpu", "%cpu", "pgid",
        "pid", "pmem", "%mem", "ppid", "pri", "rss", "sid", "stat", "state", "tid", "time", "tty", "uid",
        "user", "vsz",
    ];
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if word.form != Form::Literal {
            return None;
        }
        let is_allowed = match word.text.strip_prefix('-') {
            Some("o") | Some("eo") | Some("axo") => {
                let columns = words.next().filter(|word| word.form == Form::Literal)?;
                columns.text.split(',').all(|column| COLUMNS.contains(&column.trim_end_matches('=')))
            }
            Some("p") => words.next()?.text.chars().all(|c| c.is_ascii_digit() || c == ','),
            // With a dash `e` means all processes.
            Some(letters) => !letters.is_empty() && letters.chars().all(|c| "AaefFlHT".contains(c)),
            None => word.text.chars().all(|c| "auxwfl".contains(c)),
        };
        if !is_allowed {
            return None;
        }
    }
    Some(Reads::new())
}
