//! The first run: the person's progress and answers.

use crate::Protocol;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The progress of the first run. Never contains a key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export, export_to = "protocol.ts")]
pub struct Onboarding {
    /// The step to continue with; `None` if the first run has not begun, or is over.
    pub step: Option<OnboardingStep>,
    /// The content of the model form.
    pub model: Option<OnboardingModel>,
    /// The assistant's name; empty for Octo.
    pub name: String,
    /// Its manner of speaking.
    pub manner: Manner,
    /// The person's own description of the manner, for [`Manner::Own`].
    pub manner_words: String,
    /// A few words by the person about themselves.
    pub about: String,
    /// SOUL.md as the person edited the proposal; `None` while it follows the answers.
    pub soul: Option<String>,
    /// USER.md, likewise.
    pub user: Option<String>,
    /// The initial folder; empty for none.
    pub folder: String,
}

/// A step of the first run, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum OnboardingStep {
    /// The language.
    Language,
    /// Connecting a model.
    Model,
    /// The assistant's name and manner, and a few words about the person.
    Persona,
    /// The browser.
    Browser,
    /// Skills of other agents.
    Skills,
    /// The folder, and the mode.
    #[serde(rename = "place")]
    Folder,
    /// Three suggestions to try.
    #[serde(rename = "first")]
    FirstTask,
}

/// The assistant's manner of speaking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum Manner {
    /// Matter-of-fact and thorough.
    #[default]
    Professional,
    /// Warm.
    Friendly,
    /// As short as possible.
    Concise,
    /// Full of ideas.
    Creative,
    /// As the person describes it.
    Own,
}

/// The content of a model form, without its key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct OnboardingModel {
    /// The provider's id in the presets.
    pub preset: String,
    /// The protocol.
    pub protocol: Protocol,
    /// The server's address.
    pub base_url: String,
    /// The vendor's name of the model.
    pub model: String,
}
