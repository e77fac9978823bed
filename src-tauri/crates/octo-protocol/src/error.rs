//! What went wrong, as data.

use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};
use ts_rs::TS;

/// An error as clients see it: a key of the word catalogue with its arguments, never prose.
///
/// The catalogue says what happened, what was kept and what to do, in the person's language
/// (see [`crate::words`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS, thiserror::Error)]
#[ts(export)]
pub struct ApiError {
    /// The key in `errors.json` of the words, for example `provider.auth`.
    pub key: String,
    /// What the words' placeholders stand for.
    #[serde(default)]
    #[ts(type = "Record<string, string>")]
    pub args: BTreeMap<String, String>,
    /// Technical detail for whoever asks for it; never holds a secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub detail: Option<String>,
    /// Whether the same request may succeed later without any change.
    pub retryable: bool,
    /// Set only where a client branches on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub code: Option<ErrorCode>,
}

/// The cases a client treats specially.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ErrorCode {
    /// The session is not there (deleted, or never was).
    UnknownSession,
    /// The key is missing or was refused: the client offers the model form.
    KeyNeeded,
    /// No model is configured: the client offers the first-run screen.
    ModelNeeded,
    /// Only a desktop can do this.
    NotHere,
    /// The session is in use by another Octo.
    InUse,
    /// The question was answered or withdrawn already.
    Gone,
    /// The database is damaged: the client offers what can take its place.
    Damaged,
}

impl ApiError {
    /// An error that will not go away by itself.
    pub fn new(key: impl Into<String>) -> Self {
        Self { key: key.into(), args: BTreeMap::new(), detail: None, retryable: false, code: None }
    }

    /// With an argument for the words.
    #[must_use]
    pub fn arg(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.args.insert(name.to_owned(), value.to_string());
        self
    }

    /// With an argument for the words that is a list: whoever says them puts the language's own separator between the
    /// items, which are kept apart by [`LIST`](crate::words::LIST).
    #[must_use]
    pub fn list<I: fmt::Display>(self, name: &str, items: impl IntoIterator<Item = I>) -> Self {
        let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
        self.arg(name, items.join(crate::words::LIST))
    }

    /// With technical detail.
    #[must_use]
    pub fn detail(mut self, detail: impl fmt::Display) -> Self {
        self.detail = Some(detail.to_string());
        self
    }

    /// Marked as possibly succeeding later.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    /// Whether the store said so: what was asked for is not stored.
    pub fn is_of_the_store(&self) -> bool {
        self.key.starts_with("store.")
    }

    /// With a code a client branches on.
    #[must_use]
    pub fn code(mut self, code: ErrorCode) -> Self {
        self.code = Some(code);
        self
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key)?;
        for (name, value) in &self.args {
            write!(f, " {name}={value:?}")?;
        }
        if let Some(detail) = &self.detail {
            write!(f, ": {detail}")?;
        }
        Ok(())
    }
}
