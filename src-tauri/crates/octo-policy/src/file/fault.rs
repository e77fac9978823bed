//! Errors in a `policy.toml`, and in a rule a person types.

use crate::plain::{self, Form};
use octo_protocol::{ApiError, PolicyList, PolicyRule};
use std::path::{Path, PathBuf};
use toml_edit::{Document, Item};

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
    /// The file is not a valid policy.
    #[error("{}, line {line}: {reason}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The error.
        reason: String,
    },
    /// One of its rules is invalid.
    #[error("{}, line {line}: `{}` is no rule: {why:?}", .path.display(), .rule.text)]
    Rule {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The text of the rule.
        rule: PolicyRule,
        /// Why it is invalid.
        why: RuleFault,
    },
}

impl PolicyFault {
    /// Returns the error shown to the person, with words from the catalogue.
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

/// Why a text is no rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuleFault {
    /// Nothing is written.
    Empty,
    /// It holds characters that do not show, or show as something else.
    Invisible,
    /// It is more than one command: `;`, `&&`, `|`, a line end.
    Joined,
    /// Part of it is only known when it runs: `$(…)`, `$x`, a backtick.
    Expanded,
    /// It sends output somewhere, or takes input from there.
    Redirected,
    /// It sets a variable, or begins with a word of the shell's language.
    Assigned,
    /// It would be about every command.
    Everything,
    /// It holds a pattern other than a `*` that is a whole word.
    Pattern,
    /// The quotes in it do not end, or something else makes it unreadable.
    Unreadable,
    /// It is a path that is neither absolute nor in the home.
    Relative,
    /// It is both a place and a pattern.
    PlacePattern,
}

impl RuleFault {
    /// Every one.
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

    /// The key of the words for it: `error.<key>`.
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

/// Whether a text is a rule of its list.
pub(super) fn check(rule: &PolicyRule) -> Result<(), RuleFault> {
    let text = &rule.text;
    if text.trim().is_empty() {
        return Err(RuleFault::Empty);
    }
    if text.chars().any(plain::is_treacherous) {
        return Err(RuleFault::Invisible);
    }
    if is_about_commands(rule.list) { command(text).map(|_| ()) } else { place(text) }
}

/// The words of a command's pattern: one simple command, read like any line, so that nothing else can hide in it.
pub(super) fn command(text: &str) -> Result<Vec<String>, RuleFault> {
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
    // `*` for a name would be every command.
    match words.first() {
        None => Err(RuleFault::Empty),
        Some(name) if name == "*" => Err(RuleFault::Everything),
        Some(_) => Ok(words),
    }
}

/// The likeliest reason why a text could not be read as a simple command. Only a hint: that it could not is what counts.
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

/// Parses a place: a path that includes everything below it, or a pattern for a name.
fn place(text: &str) -> Result<(), RuleFault> {
    let in_home = text == "~" || text.starts_with("~/");
    if in_home || Path::new(text).is_absolute() || text.starts_with('/') {
        return if text.contains(['*', '?']) { Err(RuleFault::PlacePattern) } else { Ok(()) };
    }
    // Compared with names one by one, it would never match.
    if text.starts_with('~') || text.contains(std::path::is_separator) {
        return Err(RuleFault::Relative);
    }
    Ok(())
}

/// The line a byte of a text is in, from 1.
pub(super) fn line_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// Returns the line of a rule, from 1.
pub(super) fn line_of(text: &str, rule: &PolicyRule) -> usize {
    let (section, key) = section_and_key(rule.list);
    let span = || {
        let document = Document::parse(text).ok()?;
        let array = document.as_table().get(section)?.get(key).and_then(Item::as_array)?;
        array.iter().find(|value| value.as_str() == Some(&rule.text))?.span()
    };
    span().map_or(1, |span| line_at(text, span.start))
}

/// Where a list is in the file.
pub(super) fn section_and_key(list: PolicyList) -> (&'static str, &'static str) {
    match list {
        PolicyList::Allow => ("commands", "allow"),
        PolicyList::Ask => ("commands", "ask"),
        PolicyList::Deny => ("commands", "deny"),
        PolicyList::Secret => ("paths", "secret"),
        PolicyList::DenyPath => ("paths", "deny"),
    }
}
