//! Remarks about a skill: never prose, always a key and its arguments.

use serde::Serialize;
use std::collections::BTreeMap;

/// A remark on a skill for the person: a repair, an omission or a refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// Message key in `skill-problems.json`, `skills.warning.…` or `skills.error.…`.
    pub key: &'static str,
    /// Values of the message's placeholders.
    pub args: BTreeMap<String, String>,
}

/// Maximum characters of a skill's own text in a remark on it.
const MAX_SHOWN: usize = 80;

impl Warning {
    /// Creates a remark without arguments.
    pub(crate) fn new(key: &'static str) -> Self {
        Self { key, args: BTreeMap::new() }
    }

    /// Adds an argument. A skill's own text may be long and contain anything: it is truncated, and control
    /// characters are removed.
    pub(crate) fn arg(mut self, name: &str, value: impl ToString) -> Self {
        self.args.insert(name.to_owned(), printable(&value.to_string()));
        self
    }
}

fn printable(text: &str) -> String {
    let mut clean = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut excerpt: String = clean.by_ref().take(MAX_SHOWN).collect();
    if clean.next().is_some() {
        excerpt.push('…');
    }
    excerpt
}
