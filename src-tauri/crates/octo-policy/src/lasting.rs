//! Effects of a line outside files, which a restore does not undo: sending, publishing, installing, and changes
//! to the system or to another machine.
//!
//! Names and options alone determine these effects, and Octo only lists them: they allow and refuse nothing. A mere
//! fetch is not listed. The words do not tell whether a program uses the network on its own.

use crate::{
    context::LineContext,
    risk,
    scan::{Call, Scan},
    verdict::LineWords,
};
use octo_protocol::{LastingKind, Risk};

/// A lasting effect of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastingPart {
    /// The kind of effect.
    pub kind: LastingKind,
    /// The part of the line that has the effect; the whole line if no part can be named.
    pub part: String,
}

/// Returns the lasting effects of a scanned line without duplicates.
pub(crate) fn of(line: &str, scan: &Scan) -> Vec<LastingPart> {
    let mut all: Vec<LastingPart> = Vec::new();
    for call in &scan.calls {
        let Some(kind) = kind(call) else { continue };
        let part = call.span.clone().and_then(|span| line.get(span)).unwrap_or(line);
        let effect = LastingPart { kind, part: part.trim().to_owned() };
        if !all.contains(&effect) {
            all.push(effect);
        }
    }
    all
}

/// Returns the kinds of lasting effects that text typed into a running program has if the program is a shell. Does not
/// return the text, which may be a password.
pub fn typed(text: &str, context: &LineContext) -> Vec<LastingKind> {
    let mut kinds: Vec<LastingKind> =
        LineWords::read(text, context).scan.calls.iter().filter_map(kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// Returns the kind of a call's lasting effect; `None` if it has none.
fn kind(call: &Call) -> Option<LastingKind> {
    let name = call.name();
    let operands = call.operands();
    let verb = operands.first().copied().unwrap_or_default();
    if sends_data(&name, call) {
        return Some(LastingKind::Sent);
    }
    if name == "git" && operands.contains(&"lfs") && operands.contains(&"push") {
        return Some(LastingKind::Pushed);
    }
    match risk::of(call)? {
        Risk::Pushes => Some(LastingKind::Pushed),
        Risk::Publishes if operands.iter().take(2).any(|word| QUERY_SUBCOMMANDS.contains(word)) => {
            Some(LastingKind::Remote)
        }
        Risk::Publishes => Some(LastingKind::Published),
        // A fetch changes nothing on another machine, and the address of a remote is in a file of the repository.
        Risk::Remote if name == "git" => None,
        Risk::Remote => Some(LastingKind::Remote),
        Risk::Installs if PACKAGE_QUERIES.contains(&verb) || (operands.is_empty() && is_query(&name)) => None,
        Risk::Installs | Risk::RunsDownload => Some(LastingKind::Installed),
        // Killing a program does not change the system.
        Risk::System if PROCESS_PROGRAMS.contains(&name.as_str()) => None,
        Risk::System | Risk::Privileged | Risk::Keychain => Some(LastingKind::System),
        // The time machine and the trash restore files.
        Risk::Deletes if FILE_PROGRAMS.contains(&name.as_str()) => None,
        Risk::Deletes => Some(LastingKind::System),
        Risk::RewritesHistory | Risk::Ruled => None,
    }
}

/// Subcommands of publishing programs that only query, or sign in.
const QUERY_SUBCOMMANDS: &[&str] = &[
    "login", "adduser", "auth", "token", "list", "ls", "view", "status", "diff", "checks", "watch", "clone",
    "checkout",
];
/// Subcommands of package managers that only query.
const PACKAGE_QUERIES: &[&str] =
    &["list", "search", "show", "info", "policy", "outdated", "view", "query", "help", "depends", "deps"];
/// Programs that end or slow down other programs.
const PROCESS_PROGRAMS: &[&str] = &["kill", "pkill", "killall", "skill", "fuser", "renice"];
/// Programs whose deletions concern only files.
const FILE_PROGRAMS: &[&str] = &["shred", "srm", "wipe", "scrub", "git"];

/// Returns whether a program is a package manager that, without operands, only answers a query.
fn is_query(name: &str) -> bool {
    matches!(name, "dpkg" | "rpm" | "brew" | "snap" | "flatpak" | "apt" | "pacman")
}

/// Returns whether a call sends data to an address, and does not only fetch.
fn sends_data(name: &str, call: &Call) -> bool {
    let words: Vec<&str> = call.arguments().collect();
    // Returns the value of an option, from the same word or the next one.
    let value = |short: Option<char>, long: &str| {
        words.iter().enumerate().find_map(|(at, word)| {
            if let Some(given) = word.strip_prefix("--") {
                let given = given.strip_prefix(long)?;
                return given
                    .strip_prefix('=')
                    .or_else(|| given.is_empty().then(|| words.get(at + 1).copied().unwrap_or_default()));
            }
            let cluster = word.strip_prefix('-')?;
            let (_, rest) = cluster.split_once(short?)?;
            Some(if rest.is_empty() { words.get(at + 1).copied().unwrap_or_default() } else { rest })
        })
    };
    let changes_data = |method: &str| {
        let method = method.trim_start_matches('=').to_ascii_uppercase();
        !method.is_empty() && !matches!(method.as_str(), "GET" | "HEAD" | "OPTIONS" | "TRACE")
    };
    let has_prefix =
        |starts: &[&str]| words.iter().any(|word| starts.iter().any(|start| word.starts_with(start)));
    match name {
        "curl" => {
            if let Some(method) = value(Some('X'), "request") {
                return changes_data(method);
            }
            let as_query = words.iter().any(|word| *word == "--get" || has_short_option(word, 'G'));
            let body = has_prefix(&["--data", "--json", "--form", "--upload-file", "--mail-"])
                || words
                    .iter()
                    .any(|word| ['d', 'F', 'T'].iter().any(|letter| has_short_option(word, *letter)));
            body && !as_query
        }
        "wget" => {
            has_prefix(&["--post-data", "--post-file", "--body-"])
                || value(None, "method").is_some_and(changes_data)
        }
        "http" | "https" | "xh" | "xhs" => {
            let first = call.operands().first().copied().unwrap_or_default().to_owned();
            let method = !first.is_empty() && first.chars().all(|c| c.is_ascii_uppercase());
            // Without a method, a request with a body sends data.
            let body = call.operands().iter().skip(1).any(|word| {
                let named = word
                    .split_once('=')
                    .is_some_and(|(name, rest)| !name.is_empty() && !rest.starts_with('='));
                named || word.contains(":=")
            });
            if method { changes_data(&first) } else { body }
        }
        "mail" | "mailx" | "sendmail" | "mutt" | "msmtp" | "swaks" => true,
        _ => false,
    }
}

/// Returns whether a word contains a short option of `curl`. The letters after an option with a value are the value.
fn has_short_option(word: &str, letter: char) -> bool {
    /// The short options that take a value.
    const WITH_VALUE: &str = "AbcCDeEHKmoPQrtTuUwxXyYzdF";
    let Some(cluster) = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else { return false };
    for c in cluster.chars() {
        if c == letter {
            return true;
        }
        if WITH_VALUE.contains(c) {
            return false;
        }
    }
    false
}
