//! Models the person has connected. Keys are never part of these types.

use crate::{ApiError, ModelFacts, ModelId};
use serde::{Deserialize, Serialize};
use std::fmt;
use ts_rs::TS;

/// The wire protocol of a model's API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
#[ts(export, export_to = "protocol.ts")]
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

impl Protocol {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::OpenaiChat, Self::OpenaiResponses, Self::Bedrock];
}

/// A connected model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct ModelEntry {
    /// Its id.
    pub id: ModelId,
    /// The protocol.
    pub protocol: Protocol,
    /// The server's address, without a trailing slash, for example `https://api.anthropic.com`.
    pub base_url: String,
    /// The vendor's name of the model.
    pub model: String,
    /// The total number of tokens it accepts; used for the context gauge.
    #[ts(type = "number")]
    pub context_window: u64,
    /// The maximum number of tokens in one answer.
    #[ts(type = "number")]
    pub max_output: u64,
    /// Whether it accepts pictures.
    pub vision: bool,
    /// The location of its key.
    pub key: KeyState,
    /// Headers sent with every request in addition to Octo's own, in order, with lower-case names.
    #[serde(default)]
    pub headers: Vec<SavedHeader>,
    /// Further known facts. Every start rereads them from the presets, which limits the age of a stored value
    /// to one run.
    #[serde(default)]
    pub facts: ModelFacts,
    /// The model that takes over while this one's service is failing.
    #[serde(default)]
    pub fallback: Option<ModelId>,
}

/// How much a model reasons before it answers. The model's facts list the levels it accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum Effort {
    /// None.
    Off,
    /// Minimal.
    Minimal,
    /// Low.
    Low,
    /// Medium.
    Medium,
    /// High.
    High,
    /// Very high.
    Xhigh,
    /// The model's maximum.
    Max,
}

/// The location of a model's key or a header's value. The secret itself is never here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum KeyState {
    /// No key is needed or known.
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

/// A model as the person fills it in. Saving it checks nothing; a separate request tests it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct ModelDraft {
    /// The entry to change; `None` to add one.
    pub id: Option<ModelId>,
    /// The protocol.
    pub protocol: Protocol,
    /// The server's address.
    pub base_url: String,
    /// The vendor's name of the model.
    pub model: String,
    /// The key; `None` keeps the saved one if the host is unchanged.
    pub key: Option<Secret>,
    /// Headers sent with every request in addition to Octo's own; `None` keeps the saved ones, an empty list
    /// removes them. Values are stored like keys, bound to the host they were saved for.
    #[serde(default)]
    #[ts(optional)]
    pub headers: Option<Vec<HeaderDraft>>,
}

/// A header the person adds, as gateways in front of a model require.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct HeaderDraft {
    /// Its name.
    pub name: String,
    /// Its value, which may be a key; `None` keeps the value saved under this name if the host is unchanged.
    pub value: Option<Secret>,
}

/// A header the person added, for display.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SavedHeader {
    /// Its name in lower case.
    pub name: String,
    /// The location of its value. The value itself is never here.
    pub value: KeyState,
}

/// A secret received from a client. It deserialises from JSON; it never appears in JSON, text or debug output.
#[derive(Clone, PartialEq, Eq, Deserialize, TS)]
#[serde(transparent)]
#[ts(export, export_to = "protocol.ts", type = "string")]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the secret itself, for the one place that stores it.
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

/// The result of testing a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum ModelCheck {
    /// It answered.
    Works {
        /// The time to the first byte of its answer, in milliseconds.
        #[ts(type = "number")]
        first_byte_ms: u64,
    },
    /// The test failed.
    Fails {
        /// The error.
        error: ApiError,
    },
}

/// The speed of a model's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct ModelSpeed {
    /// The time to the first byte, in milliseconds.
    #[ts(type = "number")]
    pub first_byte_ms: u64,
    /// The duration of the whole answer, in milliseconds.
    #[ts(type = "number")]
    pub total_ms: u64,
    /// Tokens of the answer; `None` if the provider did not report them.
    #[ts(type = "number | null")]
    pub output_tokens: Option<u64>,
}

impl ModelSpeed {
    /// Returns the tokens per second after the first byte; `None` if the provider did not report the tokens, or
    /// if all arrived at once.
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    pub fn tokens_per_second(&self) -> Option<f64> {
        let streamed = self.total_ms.saturating_sub(self.first_byte_ms);
        let tokens = self.output_tokens?;
        (streamed > 0).then(|| tokens as f64 * 1000.0 / streamed as f64)
    }
}
