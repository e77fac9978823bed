//! Errors, as data.

use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};
use ts_rs::TS;

/// An error as clients see it: a key of the word catalogue with its arguments, never prose.
///
/// The catalogue states the failure, the data that was kept and the remedy, in the person's language (see
/// [`crate::words`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS, thiserror::Error)]
#[ts(export, export_to = "protocol.ts")]
pub struct ApiError {
    /// The key in `errors.json` of the words, for example `provider.auth`.
    pub key: String,
    /// The values of the words' placeholders.
    #[serde(default)]
    #[ts(type = "Record<string, string>")]
    pub args: BTreeMap<String, String>,
    /// Technical detail, shown on request; never contains a secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub detail: Option<String>,
    /// Whether the same request may succeed later without any change.
    pub retryable: bool,
    /// The code, set only if clients branch on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub code: Option<ErrorCode>,
}

/// The cases a client treats specially.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum ErrorCode {
    /// The session does not exist (deleted, or unknown).
    UnknownSession,
    /// The key is missing or was refused: the client offers the model form.
    KeyNeeded,
    /// No model is configured: the client offers the first-run screen.
    ModelNeeded,
    /// Only a desktop supports this.
    NotHere,
    /// The session is in use by another Octo.
    InUse,
    /// The question was already answered or withdrawn.
    Gone,
    /// The database is damaged: the client offers a replacement.
    Damaged,
}

impl ApiError {
    /// Creates an error that a retry does not fix.
    pub fn new(key: impl Into<String>) -> Self {
        Self { key: key.into(), args: BTreeMap::new(), detail: None, retryable: false, code: None }
    }

    /// Adds an argument for the words.
    #[must_use]
    pub fn arg(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.args.insert(name.to_owned(), value.to_string());
        self
    }

    /// Adds a list argument for the words: [`LIST`](crate::words::LIST) separates the items until the text is
    /// rendered, when the language's own separator replaces it.
    #[must_use]
    pub fn list<I: fmt::Display>(self, name: &str, items: impl IntoIterator<Item = I>) -> Self {
        let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
        self.arg(name, items.join(crate::words::LIST_SEPARATOR))
    }

    /// Adds technical detail.
    #[must_use]
    pub fn detail(mut self, detail: impl fmt::Display) -> Self {
        self.detail = Some(detail.to_string());
        self
    }

    /// Marks the error as possibly temporary.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    /// Returns whether the error comes from the store: the requested change was not stored.
    pub fn is_store_error(&self) -> bool {
        self.key.starts_with("store.")
    }

    /// Adds a code that clients branch on.
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
