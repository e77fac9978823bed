//! What is known of providers and models without asking them.

use crate::{ApiError, Cost, Effort, Protocol};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use ts_rs::TS;

/// What is known of a model beyond its name, as a page shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export)]
pub struct ModelFacts {
    /// The preset the model's address belongs to; none for an address no preset has.
    pub preset: Option<String>,
    /// Whether the table knows the model: where not, its figures are safe assumptions.
    pub known: bool,
    /// How many tokens it takes in all.
    #[ts(type = "number")]
    pub context_window: u64,
    /// How many tokens one answer may have.
    #[ts(type = "number")]
    pub max_output: u64,
    /// Whether it takes pictures.
    pub vision: bool,
    /// Whether it takes PDF documents as they are.
    #[serde(default)]
    pub documents: bool,
    /// Whether it calls tools.
    pub tools: bool,
    /// How much it may be asked to reason, rising; empty where it takes no such wish.
    pub efforts: Vec<Effort>,
    /// What it costs; none for "price unknown".
    pub price: Option<PriceFacts>,
    /// What the provider's prompt cache does for it.
    pub caching: CachingFacts,
}

impl Default for ModelFacts {
    /// Nothing known. The figures are those of the smallest model that is of any use.
    fn default() -> Self {
        Self {
            preset: None,
            known: false,
            context_window: 128_000,
            max_output: 8_192,
            vision: true,
            documents: false,
            tools: true,
            efforts: Vec::new(),
            price: None,
            caching: CachingFacts::Unknown,
        }
    }
}

/// What a model costs, for a million tokens each. Where one is missing, it is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct PriceFacts {
    /// Input paid in full.
    pub input: Option<Cost>,
    /// Output.
    pub output: Option<Cost>,
    /// Input read from the cache.
    pub cache_read: Option<Cost>,
    /// Input written to the cache for the shortest life.
    pub cache_write: Option<Cost>,
    /// Where longer requests cost more: from how many input tokens on.
    #[ts(type = "number | null")]
    pub more_above: Option<u64>,
    /// The day the prices were looked up, as in `2026-11-21`.
    pub date: String,
}

/// What a provider's prompt cache does for a model, in one word each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum CachingFacts {
    /// Nothing is known to be cached.
    #[default]
    Unknown,
    /// At places Octo marks, for five minutes.
    Marked,
    /// At places Octo marks, for five minutes or an hour.
    MarkedLong,
    /// By itself, wherever two requests begin alike.
    Automatic,
    /// By itself, without a promise.
    Chance,
}

/// A provider the person can pick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct PresetInfo {
    /// Its id, as in `anthropic`.
    pub id: String,
    /// Its name in English.
    pub name: String,
    /// Its name in Chinese.
    pub name_zh: String,
    /// Where it is, the usual place first; empty for the custom endpoint.
    pub addresses: Vec<PresetAddress>,
    /// How it is spoken to, where a model does not say otherwise.
    pub protocol: Protocol,
    /// How models whose names begin so are spoken to instead.
    #[ts(type = "Record<string, Protocol>")]
    pub spoken: BTreeMap<String, Protocol>,
    /// Where a person gets a key; none where none is needed.
    pub key_page: Option<String>,
    /// Whether it runs on this machine and needs no key.
    pub local: bool,
    /// Its models, best first. It may have more.
    pub models: Vec<PresetModel>,
    /// The model to begin with.
    pub default_model: Option<String>,
}

/// One of a provider's addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct PresetAddress {
    /// The address.
    pub url: String,
    /// What tells it from the others, as a word of the catalogue (`preset.at.<label>`); none for the only one.
    pub label: Option<String>,
}

/// A model of a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct PresetModel {
    /// The vendor's name of it.
    pub name: String,
    /// How it is spoken to.
    pub protocol: Protocol,
    /// The cheaper model that serves beside it; none where there is none, or it is that one.
    pub light: Option<String>,
    /// The model that may take over when its service fails; none where none is suggested.
    pub fallback: Option<String>,
    /// What is known of it.
    pub facts: ModelFacts,
}

/// What a model does beside another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum CompanionRole {
    /// Small side tasks; see [`PresetModel::light`].
    Light,
    /// Taking over when its service fails; see [`PresetModel::fallback`].
    Fallback,
}

/// The providers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct PresetList {
    /// In the order they are offered.
    pub presets: Vec<PresetInfo>,
    /// The day the built-in table was made, as in `2026-11-21`.
    pub date: String,
    /// What is wrong with the person's own table; the built-in one counts then.
    pub warnings: Vec<ApiError>,
}

/// A model server that runs on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct LocalServer {
    /// The preset it was recognised as.
    pub preset: String,
    /// Its address.
    pub base_url: String,
    /// How it is spoken to.
    pub protocol: Protocol,
    /// The models it has.
    pub models: Vec<String>,
}

/// The model servers found on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct LocalServers {
    /// In the order of the presets.
    pub servers: Vec<LocalServer>,
}

/// The models a provider says it has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct RemoteModels {
    /// The vendor's names, as the provider orders them.
    pub models: Vec<String>,
}
