//! The first run: how far the person got, and what they answered.

use crate::Protocol;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How far the first run got. Never holds a key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export)]
pub struct Onboarding {
    /// The step it goes on with; none where it was not begun, or is over.
    pub step: Option<OnboardingStep>,
    /// What the model's form held.
    pub model: Option<OnboardingModel>,
    /// What the assistant is to be called; empty for Octo.
    pub name: String,
    /// How it is to speak.
    pub manner: Manner,
    /// The person's own words about it, for [`Manner::Own`].
    pub manner_words: String,
    /// A few words of the person's about themselves.
    pub about: String,
    /// SOUL.md as the person changed the proposal; none while it follows the answers.
    pub soul: Option<String>,
    /// USER.md, likewise.
    pub user: Option<String>,
    /// The folder to begin in; empty for none.
    pub folder: String,
}

/// A step of the first run, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
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
    /// The folder, and how much is asked.
    Place,
    /// Three things to try.
    First,
}

/// How the assistant speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Manner {
    /// Matter-of-fact and thorough.
    #[default]
    Professional,
    /// Warm.
    Friendly,
    /// As short as can be.
    Concise,
    /// Full of ideas.
    Creative,
    /// As the person says.
    Own,
}

/// What a model's form holds, without its key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
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
