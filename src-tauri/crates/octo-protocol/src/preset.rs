//! Built-in facts about providers and models.

use crate::{ApiError, Cost, Effort, Protocol};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use ts_rs::TS;

/// Facts about a model in addition to its name, as a page shows them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export, export_to = "protocol.ts")]
pub struct ModelFacts {
    /// The preset that the model's address belongs to; `None` if no preset has the address.
    pub preset: Option<String>,
    /// Whether the table knows the model; if not, its figures are safe assumptions.
    pub known: bool,
    /// The total number of tokens it accepts.
    #[ts(type = "number")]
    pub context_window: u64,
    /// The maximum number of tokens in one answer.
    #[ts(type = "number")]
    pub max_output: u64,
    /// Whether it accepts pictures.
    pub vision: bool,
    /// Whether it accepts PDF documents directly.
    #[serde(default)]
    pub documents: bool,
    /// Whether it supports tool calls.
    pub tools: bool,
    /// The reasoning efforts it accepts, ascending; empty if it accepts none.
    pub efforts: Vec<Effort>,
    /// Its price; `None` means "price unknown".
    pub price: Option<PriceFacts>,
    /// How the provider's prompt cache treats it.
    pub caching: CachingFacts,
}

impl Default for ModelFacts {
    /// An unknown model. The figures are those of the smallest useful model.
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

/// The price of a model per million tokens. A missing price is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct PriceFacts {
    /// Uncached input.
    pub input: Option<Cost>,
    /// Output.
    pub output: Option<Cost>,
    /// Input read from the cache.
    pub cache_read: Option<Cost>,
    /// Input written to the cache with the shortest lifetime.
    pub cache_write: Option<Cost>,
    /// The number of input tokens above which a request costs more.
    #[ts(type = "number | null")]
    pub more_above: Option<u64>,
    /// The date of the price lookup, as in `2026-11-21`.
    pub date: String,
}

/// How a provider's prompt cache treats a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum CachingFacts {
    /// No caching is known.
    #[default]
    Unknown,
    /// Caches at positions Octo marks, for five minutes.
    Marked,
    /// Caches at positions Octo marks, for five minutes or an hour.
    MarkedLong,
    /// Caches shared prefixes of requests automatically.
    Automatic,
    /// Caches automatically, without a guarantee.
    Chance,
}

/// A provider the person can pick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct PresetInfo {
    /// Its id, as in `anthropic`.
    pub id: String,
    /// Its name in English.
    pub name: String,
    /// Its name in Chinese.
    pub name_zh: String,
    /// Its addresses, the default first; empty for the custom endpoint.
    pub addresses: Vec<PresetAddress>,
    /// The default protocol of its models.
    pub protocol: Protocol,
    /// Protocols by prefix of the model's name, overriding the default.
    #[ts(type = "Record<string, Protocol>")]
    pub spoken: BTreeMap<String, Protocol>,
    /// The page where a person gets a key; `None` if no key is needed.
    pub key_page: Option<String>,
    /// Whether it runs on this machine and needs no key.
    pub local: bool,
    /// Its models, best first. The provider may have more.
    pub models: Vec<PresetModel>,
    /// The default model.
    pub default_model: Option<String>,
}

/// One of a provider's addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct PresetAddress {
    /// The URL.
    pub url: String,
    /// The label that distinguishes it, as a key of the word catalogue (`preset.at.<label>`); `None` for the
    /// only address.
    pub label: Option<String>,
}

/// A model of a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct PresetModel {
    /// The vendor's name of it.
    pub name: String,
    /// Its protocol.
    pub protocol: Protocol,
    /// The cheaper model for side tasks; `None` if there is none, or this is the cheaper model.
    pub light: Option<String>,
    /// The suggested model to take over when this one's service fails; `None` for no suggestion.
    pub fallback: Option<String>,
    /// Facts about it.
    pub facts: ModelFacts,
}

/// The role of a model that accompanies another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum CompanionRole {
    /// Small side tasks; see [`PresetModel::light`].
    Light,
    /// Taking over when its service fails; see [`PresetModel::fallback`].
    Fallback,
}

/// The providers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct PresetList {
    /// The presets, in the order of offer.
    pub presets: Vec<PresetInfo>,
    /// The date of the built-in table, as in `2026-11-21`.
    pub date: String,
    /// The problems in the person's own table; meanwhile the built-in one applies.
    pub warnings: Vec<ApiError>,
}

/// A model server that runs on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct LocalServer {
    /// The preset Octo recognised.
    pub preset: String,
    /// Its address.
    pub base_url: String,
    /// Its protocol.
    pub protocol: Protocol,
    /// The models it serves.
    pub models: Vec<String>,
}

/// The model servers found on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct LocalServers {
    /// The servers, in the order of the presets.
    pub servers: Vec<LocalServer>,
}

/// The models a provider lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct RemoteModels {
    /// The vendor's names, as the provider orders them.
    pub models: Vec<String>,
}
