//! `policy.toml` in Octo's home: the person's own rules for commands and paths.
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
//!
//! [network]
//! allow = ["*.example.com"]    # commands under a network allow list may reach it
//! ```
//!
//! A command rule has the first words of a command; `*` matches any single word. `deny` overrides `ask`, `ask`
//! overrides `allow`, and none of them overrides a built-in refusal. A path rule is a folder or file (`/…`, `~/…`), or
//! a pattern for a name. An unreadable or invalid file means the strict policy: everything that is not read-only asks.
//! Octo reads the file for each decision, so a change applies at once. [`PolicyFile::change`] edits the file and keeps
//! everything else that the person wrote.

mod edit;
mod fault;
mod network;

pub use edit::{PolicyChange, PolicyChangeError};
pub use fault::{PolicyFault, RuleFault};
pub use network::NetworkRules;

use crate::{
    folder, names,
    plain::{self, Form},
    scan::Call,
};
use fault::{check, line_at, line_of};
use octo_protocol::{PolicyList, PolicyRule};
use serde::Deserialize;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Maximum size of a policy file, in bytes. No person writes a longer policy.
const MAX_BYTES: u64 = 256 * 1024;

/// The person's own policy, as it applies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    rules: PolicyRules,
    strict: Strict,
    /// The home that `~` means.
    home: Option<PathBuf>,
}

/// Whether only read-only commands may run unasked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Strict {
    Yes,
    #[default]
    No,
}

/// The content of a `policy.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PolicyRules {
    /// The rules for commands.
    pub commands: CommandRules,
    /// The rules for paths.
    pub paths: PathRules,
    /// Hosts. Only the file lists them.
    pub network: NetworkRules,
}

/// The rules for commands: the first words of each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CommandRules {
    /// Commands that run unasked.
    pub allow: Vec<String>,
    /// Commands that always ask.
    pub ask: Vec<String>,
    /// Commands that never run.
    pub deny: Vec<String>,
}

/// The rules for paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PathRules {
    /// Secret paths: a command that touches one asks.
    pub secret: Vec<String>,
    /// Paths that nothing may touch.
    pub deny: Vec<String>,
}

impl PolicyRules {
    /// Returns all rules, list by list, without duplicates.
    pub fn all(&self) -> Vec<PolicyRule> {
        let mut all: Vec<PolicyRule> = Vec::new();
        for list in LISTS {
            for text in self.list(list) {
                let rule = PolicyRule { list, text: text.clone() };
                if !all.contains(&rule) {
                    all.push(rule);
                }
            }
        }
        all
    }

    fn list(&self, list: PolicyList) -> &[String] {
        match list {
            PolicyList::Allow => &self.commands.allow,
            PolicyList::Ask => &self.commands.ask,
            PolicyList::Deny => &self.commands.deny,
            PolicyList::Secret => &self.paths.secret,
            PolicyList::DenyPath => &self.paths.deny,
        }
    }

    fn list_mut(&mut self, list: PolicyList) -> &mut Vec<String> {
        match list {
            PolicyList::Allow => &mut self.commands.allow,
            PolicyList::Ask => &mut self.commands.ask,
            PolicyList::Deny => &mut self.commands.deny,
            PolicyList::Secret => &mut self.paths.secret,
            PolicyList::DenyPath => &mut self.paths.deny,
        }
    }
}

/// All lists, in the order in which the page shows them.
const LISTS: [PolicyList; 5] =
    [PolicyList::Allow, PolicyList::Ask, PolicyList::Deny, PolicyList::Secret, PolicyList::DenyPath];

/// A `policy.toml` on the disk.
#[derive(Clone, Debug)]
pub struct PolicyFile {
    path: PathBuf,
    /// The home that `~` means in the file.
    home: Option<PathBuf>,
}

/// The content of a `policy.toml` at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyReading {
    /// The policy in effect: the file's, or the strict one.
    pub policy: Policy,
    /// Why the file's policy is not in effect; `None` if it is.
    pub fault: Option<PolicyFault>,
    /// An identifier of the file's content, for [`PolicyFile::change`].
    pub stamp: String,
    /// Whether the file has content.
    pub content: PolicyContent,
}

/// Whether the policy file has content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyContent {
    /// The file is missing or empty, as it is while a program truncates and rewrites it.
    Nothing,
    /// The file has content, valid or not.
    Something,
}

impl PolicyFile {
    /// Creates a handle of the file at `path`, in which `~` means `home`. Does not read the file.
    pub fn new(path: PathBuf, home: Option<PathBuf>) -> Self {
        Self { path, home }
    }

    /// Returns the path of the file, which need not exist.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the policy from the disk. A missing file means no rules, and an unusable file means [`Policy::strict`].
    pub fn read(&self) -> PolicyReading {
        let mut content = PolicyContent::Something;
        let (stamp, rules) = match self.text() {
            Ok(text) => {
                if text.as_deref().unwrap_or_default().is_empty() {
                    content = PolicyContent::Nothing;
                }
                let rules = parse(text.as_deref().unwrap_or_default());
                (stamp_of(text.as_deref()), rules.map_err(|error| error.in_file(&self.path)))
            }
            Err(fault) => ("unreadable".to_owned(), Err(fault)),
        };
        match rules {
            Ok(rules) => {
                let policy = Policy::new(rules, self.home.as_deref());
                PolicyReading { policy, fault: None, stamp, content }
            }
            Err(fault) => PolicyReading { policy: Policy::strict(), fault: Some(fault), stamp, content },
        }
    }

    /// Returns the file's text; `None` if it does not exist.
    fn text(&self) -> Result<Option<String>, PolicyFault> {
        let unreadable =
            |error: io::Error| PolicyFault::Unreadable { path: self.path.clone(), reason: error.to_string() };
        match fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error)),
            Ok(meta) if meta.len() > MAX_BYTES || !meta.is_file() => {
                return Err(unreadable(io::Error::other("it is too large, or no file")));
            }
            Ok(_) => {}
        }
        fs::read_to_string(&self.path).map(Some).map_err(unreadable)
    }
}

/// Returns an identifier of a file's content; `text` is `None` for a missing file.
fn stamp_of(text: Option<&str>) -> String {
    text.map_or_else(|| "none".to_owned(), |text| blake3::hash(text.as_bytes()).to_hex().to_string())
}

impl Policy {
    /// Returns the policy that replaces an unusable one: every command that is not read-only asks.
    pub fn strict() -> Self {
        Self { strict: Strict::Yes, ..Self::default() }
    }

    /// Creates a policy from rules, in which `~` means `home`.
    pub fn new(rules: PolicyRules, home: Option<&Path>) -> Self {
        Self { rules, strict: Strict::No, home: home.map(Path::to_owned) }
    }

    /// Returns the rules.
    pub fn rules(&self) -> &PolicyRules {
        &self.rules
    }

    /// Returns whether only read-only commands may run unasked.
    pub fn is_strict(&self) -> bool {
        self.strict == Strict::Yes
    }

    /// Returns the first call that a `deny` rule covers.
    pub(crate) fn denied<'a>(&self, calls: &'a [Call]) -> Option<&'a Call> {
        calls.iter().find(|call| self.rules.commands.deny.iter().any(|pattern| matches_call(pattern, call)))
    }

    /// Returns the first call that an `ask` rule covers.
    pub(crate) fn asked<'a>(&self, calls: &'a [Call]) -> Option<&'a Call> {
        calls.iter().find(|call| self.rules.commands.ask.iter().any(|pattern| matches_call(pattern, call)))
    }

    /// Returns whether an `allow` rule covers a command. It covers only exact words: no path before the name, no
    /// unknown words.
    pub(crate) fn allows(&self, command: &plain::Simple) -> bool {
        command.words.iter().all(|word| word.form == Form::Literal)
            && self.rules.commands.allow.iter().any(|pattern| {
                let words = pattern_words(pattern).unwrap_or_default();
                !words.is_empty()
                    && words.len() <= command.words.len()
                    && words
                        .iter()
                        .zip(&command.words)
                        .all(|(word, given)| word == "*" || *word == given.text)
            })
    }

    /// Returns whether a rule makes a real path secret.
    pub fn is_secret(&self, path: &Path) -> bool {
        self.secret_paths().any(|rule_path| rule_path.covers(path))
    }

    /// Returns whether a rule denies a real path.
    pub fn is_denied(&self, path: &Path) -> bool {
        self.denied_paths().any(|rule_path| rule_path.covers(path))
    }

    /// Returns the targets of the `secret` rules.
    pub(crate) fn secret_paths(&self) -> impl Iterator<Item = RulePath> {
        self.rules.paths.secret.iter().map(|text| RulePath::of(text, self.home.as_deref()))
    }

    /// Returns the targets of the `deny` rules for paths.
    pub(crate) fn denied_paths(&self) -> impl Iterator<Item = RulePath> {
        self.rules.paths.deny.iter().map(|text| RulePath::of(text, self.home.as_deref()))
    }
}

/// The target of a path rule, resolved once for all paths it is compared with.
#[derive(Clone, Debug)]
pub(crate) enum RulePath {
    /// A folder or file: its path as written, and with links resolved.
    Path { written: PathBuf, real: PathBuf },
    /// A pattern for the name of a file or folder, in lower case.
    Name(String),
}

impl RulePath {
    fn of(text: &str, home: Option<&Path>) -> Self {
        let written = match (text.strip_prefix('~'), home) {
            (Some(""), Some(home)) => Some(home.to_owned()),
            (Some(rest), Some(home)) => rest.strip_prefix('/').map(|rest| home.join(rest)),
            _ => Some(PathBuf::from(text)).filter(|path| path.is_absolute()),
        };
        match written {
            Some(written) => {
                let real = octo_workspace::resolve_links(&written).unwrap_or_else(|_| written.clone());
                Self::Path { written, real }
            }
            None => Self::Name(text.to_lowercase()),
        }
    }

    /// Returns whether the rule covers a real path whose parent folder it does not cover. Unlike [`RulePath::covers`],
    /// it reads the disk only if the last part of the path equals that of the rule, ignoring case.
    pub(crate) fn names(&self, path: &Path) -> bool {
        let Self::Path { written, real } = self else { return self.covers(path) };
        let name = |path: &Path| path.file_name().map(|name| names::for_comparison(name).to_lowercase());
        let path_name = name(path);
        path.starts_with(real)
            || path.starts_with(written)
            || ((path_name == name(written) || path_name == name(real)) && self.covers(path))
    }

    /// Returns whether the rule names a real path or a folder above it.
    pub(crate) fn covers(&self, path: &Path) -> bool {
        match self {
            Self::Path { written, real } => {
                octo_workspace::is_inside(real, path) || path.starts_with(written)
            }
            // A pattern that matches a folder covers everything in it.
            Self::Name(pattern) => {
                path.iter().any(|name| folder::matches(pattern, &names::for_comparison(name).to_lowercase()))
            }
        }
    }
}

/// An error in the text of a policy, without the path of the file.
#[derive(Debug)]
struct RuleError {
    line: usize,
    kind: RuleErrorKind,
}

#[derive(Debug)]
enum RuleErrorKind {
    Malformed(String),
    Rule(PolicyRule, RuleFault),
}

impl RuleError {
    fn in_file(self, path: &Path) -> PolicyFault {
        let (path, line) = (path.to_owned(), self.line);
        match self.kind {
            RuleErrorKind::Malformed(reason) => PolicyFault::Malformed { path, line, reason },
            RuleErrorKind::Rule(rule, why) => PolicyFault::Rule { path, line, rule, why },
        }
    }
}

fn parse(text: &str) -> Result<PolicyRules, RuleError> {
    let rules: PolicyRules = toml_edit::de::from_str(text).map_err(|error| RuleError {
        line: error.span().map_or(1, |span| line_at(text, span.start)),
        kind: RuleErrorKind::Malformed(error.message().to_owned()),
    })?;
    for rule in rules.all() {
        check(&rule).map_err(|why| RuleError {
            line: line_of(text, &rule),
            kind: RuleErrorKind::Rule(rule.clone(), why),
        })?;
    }
    Ok(rules)
}

fn pattern_words(pattern: &str) -> Option<Vec<String>> {
    fault::parse_command(pattern).ok()
}

/// Returns whether a call begins with a pattern's words, with or without a path before its name.
fn matches_call(pattern: &str, call: &Call) -> bool {
    let words = pattern_words(pattern).unwrap_or_default();
    let name = call.name();
    let begins_with_words = |words: &[String], given: &mut dyn Iterator<Item = &str>| {
        words.iter().all(|word| given.next().is_some_and(|given| word == "*" || word == given))
    };
    let Some((first, rest)) = words.split_first() else { return false };
    let has_name = *first == name || call.words.first().is_some_and(|word| word.text == *first);
    // Options between a name and its subcommand (`git -C x push`) do not hide the subcommand.
    has_name
        && (begins_with_words(rest, &mut call.arguments())
            || begins_with_words(rest, &mut call.operands().into_iter())
            || (name == "git" && begins_with_words(rest, &mut call.operands().into_iter().skip(1))))
}

#[cfg(test)]
mod tests;
