//! Errors in a `policy.toml`, and in a rule a person types.

use crate::plain::{self, Form};
use octo_protocol::{ApiError, PolicyList, PolicyRule};
use std::path::{Path, PathBuf};
use toml_edit::{Document, Item};

/// The reason why a `policy.toml` is not in effect, as shown to the person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyFault {
    /// The file cannot be read.
    #[error("{} cannot be read: {reason}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The message of the operating system.
        reason: String,
    },
    /// The file is not a valid policy.
    #[error("{}, line {line}: {reason}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The message of the parser.
        reason: String,
    },
    /// A rule is invalid.
    #[error("{}, line {line}: `{}` is no rule: {why:?}", .path.display(), .rule.text)]
    Rule {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The rule.
        rule: PolicyRule,
        /// The fault of the rule.
        why: RuleFault,
    },
}

impl PolicyFault {
    /// Returns the error shown to the person, whose text is in the word catalogue.
    pub fn to_api_error(&self) -> ApiError {
        match self {
            Self::Unreadable { path, reason } => {
                ApiError::new("policy.unreadable").arg("path", path.display()).arg("reason", reason)
            }
            Self::Malformed { path, line, reason } => ApiError::new("policy.malformed")
                .arg("path", path.display())
                .arg("line", line)
                .arg("reason", reason),
            Self::Rule { path, line, rule, .. } => {
                let key = if is_about_commands(rule.list) { "policy.pattern" } else { "policy.place" };
                ApiError::new(key).arg("path", path.display()).arg("line", line).arg("pattern", &rule.text)
            }
        }
    }
}

/// The reason why a text is not a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuleFault {
    /// The text is empty.
    Empty,
    /// The text contains characters that are invisible or look like others.
    Invisible,
    /// The text is more than one command: `;`, `&&`, `|`, a line end.
    Joined,
    /// The text contains an expansion: `$(…)`, `$x`, a backtick.
    Expanded,
    /// The text contains a redirection.
    Redirected,
    /// The text begins with an assignment.
    Assigned,
    /// The rule would cover every command.
    Everything,
    /// The text contains a pattern other than `*` as a whole word.
    Pattern,
    /// The text cannot be parsed, for example because a quote does not end.
    Unreadable,
    /// The path is neither absolute nor in the home.
    Relative,
    /// The path contains a pattern.
    PlacePattern,
}

impl RuleFault {
    /// Every fault.
    pub const ALL: [Self; 11] = [
        Self::Empty,
        Self::Invisible,
        Self::Joined,
        Self::Expanded,
        Self::Redirected,
        Self::Assigned,
        Self::Everything,
        Self::Pattern,
        Self::Unreadable,
        Self::Relative,
        Self::PlacePattern,
    ];

    /// Returns the key of the fault's text in the word catalogue, without its `error.` prefix.
    pub fn key(self) -> &'static str {
        match self {
            Self::Empty => "policy.rule.empty",
            Self::Invisible => "policy.rule.invisible",
            Self::Joined => "policy.rule.joined",
            Self::Expanded => "policy.rule.expanded",
            Self::Redirected => "policy.rule.redirected",
            Self::Assigned => "policy.rule.assigned",
            Self::Everything => "policy.rule.everything",
            Self::Pattern => "policy.rule.pattern",
            Self::Unreadable => "policy.rule.unreadable",
            Self::Relative => "policy.rule.relative",
            Self::PlacePattern => "policy.rule.place_pattern",
        }
    }
}

pub(super) fn is_about_commands(list: PolicyList) -> bool {
    match list {
        PolicyList::Allow | PolicyList::Ask | PolicyList::Deny => true,
        PolicyList::Secret | PolicyList::DenyPath => false,
    }
}

/// Checks that a text is a valid rule of its list.
pub(super) fn check(rule: &PolicyRule) -> Result<(), RuleFault> {
    let text = &rule.text;
    if text.trim().is_empty() {
        return Err(RuleFault::Empty);
    }
    if text.chars().any(plain::is_treacherous) {
        return Err(RuleFault::Invisible);
    }
    if is_about_commands(rule.list) { parse_command(text).map(|_| ()) } else { check_path(text) }
}

/// Returns the words of a command rule. The rule is parsed like a line and must be one simple command, so that nothing
/// else can hide in it.
pub(super) fn parse_command(text: &str) -> Result<Vec<String>, RuleFault> {
    let Ok(line) = plain::read(text) else { return Err(read_failure(text)) };
    let [command] = line.commands.as_slice() else { return Err(RuleFault::Joined) };
    if !line.operators.is_empty() {
        return Err(RuleFault::Joined);
    }
    if !command.redirects.is_empty() {
        return Err(RuleFault::Redirected);
    }
    let words: Option<Vec<String>> = command
        .words
        .iter()
        .map(|word| (word.form == Form::Literal || word.text == "*").then(|| word.text.clone()))
        .collect();
    let words = words.ok_or(RuleFault::Pattern)?;
    // `*` as the name would cover every command.
    match words.first() {
        None => Err(RuleFault::Empty),
        Some(name) if name == "*" => Err(RuleFault::Everything),
        Some(_) => Ok(words),
    }
}

/// Returns the most likely reason why a text is not a simple command.
fn read_failure(text: &str) -> RuleFault {
    if text.contains(['$', '`']) {
        RuleFault::Expanded
    } else if text.contains([';', '&', '|', '\n']) {
        RuleFault::Joined
    } else if text.contains(['<', '>']) {
        RuleFault::Redirected
    } else if text.split_whitespace().next().is_some_and(|name| name.contains('=')) {
        RuleFault::Assigned
    } else {
        RuleFault::Unreadable
    }
}

/// Checks a path rule: a path, which includes everything below it, or a pattern for a name.
fn check_path(text: &str) -> Result<(), RuleFault> {
    let in_home = text == "~" || text.starts_with("~/");
    if in_home || Path::new(text).is_absolute() || text.starts_with('/') {
        return if text.contains(['*', '?']) { Err(RuleFault::PlacePattern) } else { Ok(()) };
    }
    // A pattern is compared with single names, so it would never match.
    if text.starts_with('~') || text.contains(std::path::is_separator) {
        return Err(RuleFault::Relative);
    }
    Ok(())
}

/// Returns the number of the line that contains the byte at `at`, from 1.
pub(super) fn line_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// Returns the number of the line that contains a rule, from 1; 1 if the rule is not found.
pub(super) fn line_of(text: &str, rule: &PolicyRule) -> usize {
    let (section, key) = section_and_key(rule.list);
    let span = || {
        let document = Document::parse(text).ok()?;
        let array = document.as_table().get(section)?.get(key).and_then(Item::as_array)?;
        array.iter().find(|value| value.as_str() == Some(&rule.text))?.span()
    };
    span().map_or(1, |span| line_at(text, span.start))
}

/// Returns the section and the key of a list in the file.
pub(super) fn section_and_key(list: PolicyList) -> (&'static str, &'static str) {
    match list {
        PolicyList::Allow => ("commands", "allow"),
        PolicyList::Ask => ("commands", "ask"),
        PolicyList::Deny => ("commands", "deny"),
        PolicyList::Secret => ("paths", "secret"),
        PolicyList::DenyPath => ("paths", "deny"),
    }
}
