//! `policy.toml` in Octo's home: the person's own word on commands and paths.
//!
//! ```toml
//! [commands]
//! allow = ["just lint"]        # runs unasked, like an answer of "always"
//! ask = ["git commit"]         # asks, whatever else would let it run
//! deny = ["docker", "git push"] # never runs
//!
//! [paths]
//! secret = ["~/vault", "*.token"]
//! deny = ["~/private"]
//! ```
//!
//! A command is given by its first words; `*` stands for any one word. `deny` wins over `ask`, `ask` over `allow`,
//! and none of them lifts what is refused in any case. A path is a folder or file (`/…`, `~/…`), or a pattern for
//! a file's name. A file that cannot be read or understood means the strict policy: whatever does not only read
//! asks.

use super::{
    folder,
    plain::{self, Form},
    scan::Call,
};
use serde::Deserialize;
use std::{
    fs, io,
    path::{Path, PathBuf},
};
use toml_edit::{Array, DocumentMut, Item, Table, value};

/// A file larger than this is no policy a person wrote.
const MAX_BYTES: u64 = 256 * 1024;

/// The person's own policy, as it is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    rules: PolicyRules,
    strict: Strict,
    home: Option<PathBuf>,
}

/// Whether only what only reads may run unasked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Strict {
    Yes,
    #[default]
    No,
}

/// What `policy.toml` holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PolicyRules {
    /// Commands.
    pub commands: CommandRules,
    /// Paths.
    pub paths: PathRules,
}

/// The lists of commands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CommandRules {
    /// Run unasked.
    pub allow: Vec<String>,
    /// Ask in any case.
    pub ask: Vec<String>,
    /// Never run.
    pub deny: Vec<String>,
}

/// The lists of paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PathRules {
    /// Count as secret: touching them asks.
    pub secret: Vec<String>,
    /// Are never touched.
    pub deny: Vec<String>,
}

/// Why a `policy.toml` does not hold, for the person to see.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyFault {
    /// It cannot be read.
    #[error("{} cannot be read: {reason}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// It is not what a policy looks like.
    #[error("{} is not understood: {reason}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong, with its line.
        reason: String,
    },
    /// One of its command patterns is not the beginning of one simple command.
    #[error("{}: `{pattern}` is not the beginning of a simple command", .path.display())]
    Pattern {
        /// The file.
        path: PathBuf,
        /// The pattern.
        pattern: String,
    },
}

impl PolicyFault {
    /// The key of the words for it: `error.<key>`.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "policy.unreadable",
            Self::Malformed { .. } => "policy.malformed",
            Self::Pattern { .. } => "policy.pattern",
        }
    }

    /// What the words are filled with.
    pub fn arguments(&self) -> Vec<(&'static str, String)> {
        let (path, more) = match self {
            Self::Unreadable { path, reason } | Self::Malformed { path, reason } => {
                (path, ("reason", reason.clone()))
            }
            Self::Pattern { path, pattern } => (path, ("pattern", pattern.clone())),
        };
        vec![("path", path.display().to_string()), more]
    }
}

impl Policy {
    /// The policy in a file, and what is wrong with it. A file that is not there says nothing; one that cannot be
    /// used means [`Policy::strict`], never no policy. `home` is what `~` means in it.
    pub fn load(path: &Path, home: Option<&Path>) -> (Self, Option<PolicyFault>) {
        match Self::read(path) {
            Ok(rules) => (Self { rules, strict: Strict::No, home: home.map(Path::to_owned) }, None),
            Err(fault) => (Self::strict(), Some(fault)),
        }
    }

    /// The policy when none can be used: whatever does not only read asks.
    pub fn strict() -> Self {
        Self { strict: Strict::Yes, ..Self::default() }
    }

    /// The policy of these rules.
    pub fn new(rules: PolicyRules, home: Option<&Path>) -> Self {
        Self { rules, strict: Strict::No, home: home.map(Path::to_owned) }
    }

    /// What it holds.
    pub fn rules(&self) -> &PolicyRules {
        &self.rules
    }

    /// Whether only what only reads may run unasked.
    pub fn is_strict(&self) -> bool {
        self.strict == Strict::Yes
    }

    fn read(path: &Path) -> Result<PolicyRules, PolicyFault> {
        let unreadable =
            |error: io::Error| PolicyFault::Unreadable { path: path.to_owned(), reason: error.to_string() };
        match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(PolicyRules::default()),
            Err(error) => return Err(unreadable(error)),
            Ok(meta) if meta.len() > MAX_BYTES || !meta.is_file() => {
                return Err(unreadable(io::Error::other("it is too large, or no file")));
            }
            Ok(_) => {}
        }
        let text = fs::read_to_string(path).map_err(unreadable)?;
        parse(&text).map_err(|reason| match reason {
            Fault::Malformed(reason) => PolicyFault::Malformed { path: path.to_owned(), reason },
            Fault::Pattern(pattern) => PolicyFault::Pattern { path: path.to_owned(), pattern },
        })
    }

    /// The first call the person never wants to run.
    pub(super) fn denied<'a>(&self, calls: &'a [Call]) -> Option<&'a Call> {
        calls.iter().find(|call| self.rules.commands.deny.iter().any(|pattern| is_begun(pattern, call)))
    }

    /// The first call the person always wants to be asked about.
    pub(super) fn asked<'a>(&self, calls: &'a [Call]) -> Option<&'a Call> {
        calls.iter().find(|call| self.rules.commands.ask.iter().any(|pattern| is_begun(pattern, call)))
    }

    /// Whether the person lets a command run unasked. Only as it stands: no path before its name, nothing unknown.
    pub(super) fn allows(&self, command: &plain::Simple) -> bool {
        command.words.iter().all(|word| word.form == Form::Literal)
            && self.rules.commands.allow.iter().any(|pattern| {
                let words = words_of(pattern).unwrap_or_default();
                !words.is_empty()
                    && words.len() <= command.words.len()
                    && words
                        .iter()
                        .zip(&command.words)
                        .all(|(word, given)| word == "*" || *word == given.text)
            })
    }

    /// Whether the person counts a real path as secret.
    pub fn is_secret(&self, path: &Path) -> bool {
        self.rules.paths.secret.iter().any(|pattern| self.names(pattern, path))
    }

    /// Whether the person never wants a real path touched.
    pub fn is_denied(&self, path: &Path) -> bool {
        self.rules.paths.deny.iter().any(|pattern| self.names(pattern, path))
    }

    fn names(&self, pattern: &str, path: &Path) -> bool {
        let place = match (pattern.strip_prefix('~'), &self.home) {
            (Some(""), Some(home)) => Some(home.clone()),
            (Some(rest), Some(home)) => rest.strip_prefix('/').map(|rest| home.join(rest)),
            _ => Some(PathBuf::from(pattern)).filter(|path| path.is_absolute()),
        };
        match place {
            Some(place) => {
                let real = octo_workspace::real(&place).unwrap_or_else(|_| place.clone());
                octo_workspace::is_inside(&real, path) || path.starts_with(&place)
            }
            // Any of its folders' names: a pattern for a folder covers what lies in it.
            None => path
                .iter()
                .any(|name| folder::matches(&pattern.to_lowercase(), &name.to_string_lossy().to_lowercase())),
        }
    }
}

enum Fault {
    Malformed(String),
    Pattern(String),
}

fn parse(text: &str) -> Result<PolicyRules, Fault> {
    let rules: PolicyRules =
        toml_edit::de::from_str(text).map_err(|error| Fault::Malformed(error.message().to_owned()))?;
    let CommandRules { allow, ask, deny } = &rules.commands;
    for pattern in allow.iter().chain(ask).chain(deny) {
        let words = words_of(pattern).ok_or_else(|| Fault::Pattern(pattern.clone()))?;
        // `*` for a name would be every command.
        if words.first().is_none_or(|name| name == "*") {
            return Err(Fault::Pattern(pattern.clone()));
        }
    }
    Ok(rules)
}

/// The words of a pattern: one simple command, read like any line, so that nothing else can hide in it.
fn words_of(pattern: &str) -> Option<Vec<String>> {
    let line = plain::read(pattern).ok()?;
    let [command] = line.commands.as_slice() else { return None };
    if !command.redirects.is_empty() {
        return None;
    }
    command
        .words
        .iter()
        .map(|word| (word.form == Form::Literal || word.text == "*").then(|| word.text.clone()))
        .collect()
}

/// Whether a call begins with a pattern's words, by whatever path its name is given.
fn is_begun(pattern: &str, call: &Call) -> bool {
    let words = words_of(pattern).unwrap_or_default();
    let name = call.name();
    let begins = |words: &[String], given: &mut dyn Iterator<Item = &str>| {
        words.iter().all(|word| given.next().is_some_and(|given| word == "*" || word == given))
    };
    let Some((first, rest)) = words.split_first() else { return false };
    let named = *first == name || call.words.first().is_some_and(|word| word.text == *first);
    // Options between a name and its subcommand (`git -C x push`) do not hide it.
    named
        && (begins(rest, &mut call.arguments())
            || begins(rest, &mut call.operands().into_iter())
            || (name == "git" && begins(rest, &mut call.operands().into_iter().skip(1))))
}

/// `text`, a `policy.toml`, with these rules in it: the person's comments and layout stay. A text that is not TOML
/// is replaced.
pub fn render(text: &str, rules: &PolicyRules) -> String {
    let mut document: DocumentMut = text.parse().unwrap_or_default();
    let PolicyRules { commands, paths } = rules;
    for (section, key, words) in [
        ("commands", "allow", &commands.allow),
        ("commands", "ask", &commands.ask),
        ("commands", "deny", &commands.deny),
        ("paths", "secret", &paths.secret),
        ("paths", "deny", &paths.deny),
    ] {
        let there = document.get(section).and_then(|table| table.get(key)).is_some();
        if words.is_empty() && !there {
            continue;
        }
        let table = document.entry(section).or_insert_with(|| Item::Table(Table::new()));
        let Some(table) = table.as_table_like_mut() else { continue };
        match table.get_mut(key).and_then(Item::as_array_mut) {
            Some(array) => fill(array, words),
            None => {
                table.insert(key, value(words.iter().collect::<Array>()));
            }
        }
    }
    document.to_string()
}

/// Makes an array hold these words, leaving those that stay, and the comments at them, where they are.
fn fill(array: &mut Array, words: &[String]) {
    let stays =
        |item: &toml_edit::Value| item.as_str().is_some_and(|text| words.iter().any(|word| word == text));
    // A comment behind a word stands before the next one in the document, and must not go with it.
    let comments: String = array
        .iter()
        .filter(|item| !stays(item))
        .filter_map(|item| item.decor().prefix()?.as_str())
        .filter(|text| text.contains('#'))
        .collect();
    array.retain(stays);
    if !comments.is_empty() {
        let trailing = format!("{comments}{}", array.trailing().as_str().unwrap_or_default());
        let end = if trailing.ends_with('\n') { "" } else { "\n" };
        array.set_trailing(format!("{trailing}{end}"));
    }
    for word in words {
        if !array.iter().any(|item| item.as_str() == Some(word)) {
            array.push(word.as_str());
        }
    }
}

#[cfg(test)]
mod tests;
