//! What is said about a skill: never prose, always a key and its arguments.

use serde::Serialize;
use std::collections::BTreeMap;

/// A remark on a skill for the person: what was repaired, ignored or refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The key of the words in `ui.json`, `skills.warning.…` or `skills.error.…`.
    pub key: &'static str,
    /// What the words' placeholders stand for.
    pub args: BTreeMap<String, String>,
}

/// The most characters of a skill's own text that are shown in a remark on it.
const MAX_SHOWN: usize = 80;

impl Warning {
    /// A remark without arguments.
    pub(crate) fn new(key: &'static str) -> Self {
        Self { key, args: BTreeMap::new() }
    }

    /// The same with an argument. What a skill says of itself may be long and hold anything: it is cut, and
    /// control characters are taken out.
    pub(crate) fn arg(mut self, name: &str, value: impl ToString) -> Self {
        self.args.insert(name.to_owned(), shown(&value.to_string()));
        self
    }
}

fn shown(text: &str) -> String {
    let mut clean = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut shown: String = clean.by_ref().take(MAX_SHOWN).collect();
    if clean.next().is_some() {
        shown.push('…');
    }
    shown
}
