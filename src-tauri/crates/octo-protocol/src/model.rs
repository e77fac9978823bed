//! Models the person has connected. Keys are never part of these types.

use crate::{ApiError, ModelFacts, ModelId};
use serde::{Deserialize, Serialize};
use std::fmt;
use ts_rs::TS;

/// How a model is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
#[ts(export)]
pub enum Protocol {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions, spoken by many servers.
    OpenaiChat,
    /// OpenAI Responses.
    OpenaiResponses,
    /// AWS Bedrock Converse.
    Bedrock,
}

/// A connected model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ModelEntry {
    /// Its id.
    pub id: ModelId,
    /// The protocol.
    pub protocol: Protocol,
    /// The server's address, without a trailing slash, for example `https://api.anthropic.com`.
    pub base_url: String,
    /// The vendor's name of the model.
    pub model: String,
    /// How many tokens it takes in all; used for the context gauge.
    #[ts(type = "number")]
    pub context_window: u64,
    /// How many tokens one answer may have.
    #[ts(type = "number")]
    pub max_output: u64,
    /// Whether it takes pictures.
    pub vision: bool,
    /// Where its key is.
    pub key: KeyState,
    /// Headers sent to it with every request, beside Octo's own, by their names in lower case, in order.
    #[serde(default)]
    pub headers: Vec<SavedHeader>,
    /// What else is known of it. Read anew from the presets at every start, so a stored value is only as old
    /// as the last one.
    #[serde(default)]
    pub facts: ModelFacts,
    /// The model that takes over while this one's service fails.
    #[serde(default)]
    pub fallback: Option<ModelId>,
}

/// How much a model reasons before it answers. Which of them a model takes is in its facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Effort {
    /// Not at all.
    Off,
    /// Hardly.
    Minimal,
    /// A little.
    Low,
    /// Usually.
    Medium,
    /// Much.
    High,
    /// Very much.
    Xhigh,
    /// As much as it can.
    Max,
}

/// Where a model's key, or the value of a header, is. The secret itself is never here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum KeyState {
    /// None is needed or known.
    Missing,
    /// In the system's keychain.
    Stored {
        /// Its last four characters.
        last4: String,
    },
    /// In memory until Octo ends, because there is no keychain.
    ThisRun {
        /// Its last four characters.
        last4: String,
    },
}

/// A model as the person fills it in. Saving it checks nothing; testing it is a request of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ModelDraft {
    /// The entry to change; none to add one.
    pub id: Option<ModelId>,
    /// The protocol.
    pub protocol: Protocol,
    /// The server's address.
    pub base_url: String,
    /// The vendor's name of the model.
    pub model: String,
    /// The key; none keeps the one that was saved, if the host is the same.
    pub key: Option<Secret>,
    /// Headers sent to it with every request, beside Octo's own; none keeps the ones that were saved, an empty list
    /// takes them away. Values are kept as keys are, and for the host they were saved for.
    #[serde(default)]
    #[ts(optional)]
    pub headers: Option<Vec<HeaderDraft>>,
}

/// A header of the person's, as gateways in front of a model ask for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct HeaderDraft {
    /// Its name.
    pub name: String,
    /// Its value, which may be a key; none keeps the one that was saved under this name, if the host is the same.
    pub value: Option<Secret>,
}

/// A header of the person's, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SavedHeader {
    /// Its name in lower case.
    pub name: String,
    /// Where its value is. The value itself is never here.
    pub value: KeyState,
}

/// A secret on its way in. It can be read from JSON; it never leaves as JSON, text or debug output.
#[derive(Clone, PartialEq, Eq, Deserialize, TS)]
#[serde(transparent)]
#[ts(export, type = "string")]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The secret itself, for the one place that puts it away.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl Serialize for Secret {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("[redacted]")
    }
}

/// What a test of a model found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum ModelCheck {
    /// It answered.
    Works {
        /// How long its first byte took, in milliseconds.
        #[ts(type = "number")]
        first_byte_ms: u64,
    },
    /// It did not.
    Fails {
        /// Why.
        error: ApiError,
    },
}

/// How fast a model answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ModelSpeed {
    /// How long its first byte took, in milliseconds.
    #[ts(type = "number")]
    pub first_byte_ms: u64,
    /// How long the whole answer took, in milliseconds.
    #[ts(type = "number")]
    pub total_ms: u64,
    /// Tokens of the answer; none where the provider did not say.
    #[ts(type = "number | null")]
    pub output_tokens: Option<u64>,
}

impl ModelSpeed {
    /// Tokens a second after the first byte; none where the provider did not say how many there were, or
    /// where they all came at once.
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    pub fn tokens_per_second(&self) -> Option<f64> {
        let streamed = self.total_ms.saturating_sub(self.first_byte_ms);
        let tokens = self.output_tokens?;
        (streamed > 0).then(|| tokens as f64 * 1000.0 / streamed as f64)
    }
}
