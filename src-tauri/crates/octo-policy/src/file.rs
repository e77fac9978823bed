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
//! ```
//!
//! A command is given by its first words; `*` matches any single word. `deny` overrides `ask`, `ask` overrides
//! `allow`, and none of them lifts a fixed refusal. A path is a folder or file (`/…`, `~/…`), or a pattern for
//! a file's name. An unreadable or invalid file means the strict policy: everything not read-only asks. The
//! file is read for each decision, so a change applies at once; [`PolicyFile::change`] edits it without losing
//! a word the person wrote.

mod edit;
mod fault;

pub use edit::{PolicyChange, PolicyChangeError};
pub use fault::{PolicyFault, RuleFault};

use crate::{
    folder,
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

/// A file larger than this is no policy a person wrote.
const MAX_BYTES: u64 = 256 * 1024;

/// The person's own policy, as applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    rules: PolicyRules,
    strict: Strict,
    home: Option<PathBuf>,
}

/// Whether only read-only commands may run unasked.
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

impl PolicyRules {
    /// All rules, list by list, each named once.
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

/// All lists, in the order they are shown.
const LISTS: [PolicyList; 5] =
    [PolicyList::Allow, PolicyList::Ask, PolicyList::Deny, PolicyList::Secret, PolicyList::DenyPath];

/// A `policy.toml` on the disk.
#[derive(Clone, Debug)]
pub struct PolicyFile {
    path: PathBuf,
    home: Option<PathBuf>,
}

/// The content of a `policy.toml` at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyReading {
    /// The policy in effect: the file's, or the strict one.
    pub policy: Policy,
    /// Why the file's policy is not in effect.
    pub fault: Option<PolicyFault>,
    /// Identifies the content of the file.
    pub stamp: String,
    /// Whether the file is there and has anything in it.
    pub content: PolicyContent,
}

/// Whether the file contains a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyContent {
    /// The file is missing or empty, as it is while a program truncates and rewrites it.
    Nothing,
    /// There is a file with something in it, whatever that is.
    Something,
}

impl PolicyFile {
    /// The file at `path`; `home` is what `~` means in it. Nothing is read yet.
    pub fn new(path: PathBuf, home: Option<PathBuf>) -> Self {
        Self { path, home }
    }

    /// Where it is, or would be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the present policy. A missing file means no rules; an unusable one means [`Policy::strict`], never
    /// no policy.
    pub fn read(&self) -> PolicyReading {
        let mut content = PolicyContent::Something;
        let (stamp, rules) = match self.text() {
            Ok(text) => {
                if text.as_deref().unwrap_or_default().is_empty() {
                    content = PolicyContent::Nothing;
                }
                let rules = parse(text.as_deref().unwrap_or_default());
                (stamp_of(text.as_deref()), rules.map_err(|broken| broken.at(&self.path)))
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

/// Returns an identifier of a file's content.
fn stamp_of(text: Option<&str>) -> String {
    text.map_or_else(|| "none".to_owned(), |text| blake3::hash(text.as_bytes()).to_hex().to_string())
}

impl Policy {
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

    /// The first call the person never wants to run.
    pub(crate) fn denied<'a>(&self, calls: &'a [Call]) -> Option<&'a Call> {
        calls.iter().find(|call| self.rules.commands.deny.iter().any(|pattern| begins_call(pattern, call)))
    }

    /// The first call the person always wants to be asked about.
    pub(crate) fn asked<'a>(&self, calls: &'a [Call]) -> Option<&'a Call> {
        calls.iter().find(|call| self.rules.commands.ask.iter().any(|pattern| begins_call(pattern, call)))
    }

    /// Whether the person lets a command run unasked. Only in exactly this form: no path before its name, no
    /// unknown words.
    pub(crate) fn allows(&self, command: &plain::Simple) -> bool {
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
        self.secret_paths().any(|place| place.covers(path))
    }

    /// Whether the person never wants a real path touched.
    pub fn is_denied(&self, path: &Path) -> bool {
        self.denied_paths().any(|place| place.covers(path))
    }

    /// What the person counts as secret.
    pub(crate) fn secret_paths(&self) -> impl Iterator<Item = RulePath> {
        self.rules.paths.secret.iter().map(|text| RulePath::of(text, self.home.as_deref()))
    }

    /// What the person never wants touched.
    pub(crate) fn denied_paths(&self) -> impl Iterator<Item = RulePath> {
        self.rules.paths.deny.iter().map(|text| RulePath::of(text, self.home.as_deref()))
    }
}

/// The target of a path rule, resolved once for all paths it is compared with.
#[derive(Clone, Debug)]
pub(crate) enum RulePath {
    /// A folder or file, as it is written and where that really lies.
    Path { written: PathBuf, real: PathBuf },
    /// A pattern for a name, in lower case.
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

    /// Returns whether the rule names a real path itself, as [`RulePath::covers`] decides, where the folders above the
    /// path are already resolved. It reads the disk only for a path whose last part equals the rule's, ignoring case.
    pub(crate) fn names(&self, path: &Path) -> bool {
        let Self::Path { written, real } = self else { return self.covers(path) };
        let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().to_lowercase());
        let own = name(path);
        path.starts_with(real)
            || path.starts_with(written)
            || ((own == name(written) || own == name(real)) && self.covers(path))
    }

    /// Whether it names a real path or something above it.
    pub(crate) fn covers(&self, path: &Path) -> bool {
        match self {
            Self::Path { written, real } => {
                octo_workspace::is_inside(real, path) || path.starts_with(written)
            }
            // Any of its folders' names: a pattern for a folder covers what lies in it.
            Self::Name(pattern) => {
                path.iter().any(|name| folder::matches(pattern, &name.to_string_lossy().to_lowercase()))
            }
        }
    }
}

/// An error in a text whose file is not known yet.
#[derive(Debug)]
struct RuleError {
    line: usize,
    what: RuleTarget,
}

#[derive(Debug)]
enum RuleTarget {
    Malformed(String),
    Rule(PolicyRule, RuleFault),
}

impl RuleError {
    fn at(self, path: &Path) -> PolicyFault {
        let (path, line) = (path.to_owned(), self.line);
        match self.what {
            RuleTarget::Malformed(reason) => PolicyFault::Malformed { path, line, reason },
            RuleTarget::Rule(rule, why) => PolicyFault::Rule { path, line, rule, why },
        }
    }
}

fn parse(text: &str) -> Result<PolicyRules, RuleError> {
    let rules: PolicyRules = toml_edit::de::from_str(text).map_err(|error| RuleError {
        line: error.span().map_or(1, |span| line_at(text, span.start)),
        what: RuleTarget::Malformed(error.message().to_owned()),
    })?;
    for rule in rules.all() {
        check(&rule).map_err(|why| RuleError {
            line: line_of(text, &rule),
            what: RuleTarget::Rule(rule.clone(), why),
        })?;
    }
    Ok(rules)
}

fn words_of(pattern: &str) -> Option<Vec<String>> {
    fault::command(pattern).ok()
}

/// Whether a call begins with a pattern's words, by whatever path its name is given.
fn begins_call(pattern: &str, call: &Call) -> bool {
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

#[cfg(test)]
mod tests;
