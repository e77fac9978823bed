//! Format of the presets table.

use super::names;
use crate::{Caching, Prices};
use octo_protocol::{Effort, Protocol};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Name of a preset, as in `anthropic`.
pub type PresetId = String;

/// A whole table. Unknown fields are rejected: a misspelt one would silently have no effect.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PresetTable {
    /// Format version; read before the rest.
    #[expect(dead_code, reason = "read by itself, before the form is known to fit")]
    pub version: u32,
    /// Day the table was made, as in `2026-11-21`.
    #[serde(default)]
    pub date: String,
    /// Providers, in display order.
    #[serde(default)]
    pub providers: Vec<Preset>,
    /// Models, independent of their provider.
    #[serde(default)]
    pub models: Vec<ModelDefinition>,
}

/// A model, independent of its provider.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelDefinition {
    /// Its name, in lower case, without a router's prefix.
    pub name: String,
    /// Its other names.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Maximum tokens of input and output together.
    pub window: u64,
    /// Maximum tokens of one answer.
    pub output: u64,
    /// Whether it takes pictures.
    pub vision: bool,
    /// Whether it calls tools.
    #[serde(default = "default_true")]
    pub tools: bool,
    /// Supported reasoning efforts, ascending.
    #[serde(default)]
    pub efforts: Vec<Effort>,
    /// Shortest prefix its vendor caches, in tokens, if that depends on the model and not on the provider.
    #[serde(default)]
    pub cache_minimum: Option<u64>,
}

/// A provider.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// Its id.
    pub id: PresetId,
    /// Its name.
    pub name: String,
    /// Its name in Chinese, if different.
    #[serde(default)]
    pub name_zh: Option<String>,
    /// Its addresses, the usual one first.
    #[serde(default)]
    pub addresses: Vec<ProviderAddress>,
    /// Additional hosts, not among its addresses; `*` matches one part of a name.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Its protocol.
    pub protocol: Protocol,
    /// Protocols for models whose names begin with these prefixes.
    #[serde(default)]
    pub spoken: BTreeMap<String, Protocol>,
    /// Where a person gets a key.
    #[serde(default)]
    pub key_page: Option<String>,
    /// How it is recognised, if it runs on this machine.
    #[serde(default)]
    pub local: Option<LocalServerKind>,
    /// Whether its models take PDF documents unconverted.
    #[serde(default)]
    pub documents: bool,
    /// The models to offer, best first.
    #[serde(default)]
    pub models: Vec<String>,
    /// The initial choice among them.
    #[serde(default)]
    pub default: Option<String>,
    /// Cheaper model that assists each model.
    #[serde(default)]
    pub light: BTreeMap<String, String>,
    /// Model that may replace each model on failure.
    #[serde(default)]
    pub fallback: BTreeMap<String, String>,
    /// Behaviour of its cache, unless a row differs.
    #[serde(default)]
    pub caching: Option<Caching>,
    /// Prices of all its models without a row.
    #[serde(default)]
    pub prices: Option<Prices>,
    /// Name suffixes that `prices` does not apply to.
    #[serde(default)]
    pub unpriced: Vec<String>,
    /// Facts about individual models.
    #[serde(default)]
    pub(super) rows: Vec<ProviderModel>,
}

/// An address of a provider.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderAddress {
    /// The address, without a trailing slash.
    pub url: String,
    /// Distinguishes it from the others: a key of the message catalogue, `preset.at.<label>`.
    #[serde(default)]
    pub label: Option<String>,
    /// Whether the prices apply to this address: plans and other countries have other prices.
    #[serde(default = "default_true")]
    pub priced: bool,
}

/// A server on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalServerKind {
    /// How it is recognised.
    pub kind: LocalKind,
}

/// How a server on this machine is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LocalKind {
    /// By `GET /api/tags`, which only Ollama has.
    Ollama,
    /// By `GET /api/v0/models`, LM Studio's own list.
    LmStudio,
    /// By the owner of its models in `GET /v1/models`: `llamacpp`.
    LlamaCpp,
    /// By the owner of its models in `GET /v1/models`: `vllm`.
    Vllm,
}

/// A provider's facts about a model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProviderModel {
    /// The model's name, in lower case.
    pub name: String,
    /// Its other names.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Its window here, if different from the model's own.
    #[serde(default)]
    pub window: Option<u64>,
    /// Its longest answer here, if different from the model's own.
    #[serde(default)]
    pub output: Option<u64>,
    /// Whether it takes pictures here, if different from the model's own entry.
    #[serde(default)]
    pub vision: Option<bool>,
    /// Whether it takes PDF documents here, if different from the provider's others.
    #[serde(default)]
    pub documents: Option<bool>,
    /// Its caching, if different from the provider's others.
    #[serde(default)]
    pub caching: Option<Caching>,
    /// Its prices.
    #[serde(default)]
    pub prices: Option<Prices>,
}

fn default_true() -> bool {
    true
}

impl Preset {
    /// Returns the protocol of one of its models.
    pub fn protocol_of(&self, model: &str) -> Protocol {
        let model = model.to_ascii_lowercase();
        let begins = self.spoken.iter().filter(|(begin, _)| model.starts_with(begin.as_str()));
        begins.max_by_key(|(begin, _)| begin.len()).map_or(self.protocol, |(_, protocol)| *protocol)
    }

    /// Returns the cheaper model that assists a model; `None` if there is none or the model is one itself.
    pub fn light_of(&self, model: &str) -> Option<&str> {
        self.light.get(model).map(String::as_str)
    }

    /// Returns the model that may replace a model when its service fails.
    pub fn fallback_of(&self, model: &str) -> Option<&str> {
        self.fallback.get(model).map(String::as_str)
    }

    /// Returns whether it is at a host that none of its addresses names.
    pub(super) fn is_at(&self, host: &str) -> bool {
        let Some(host) = host.strip_prefix("https://") else { return false };
        self.hosts.iter().any(|pattern| {
            let (parts, labels) = (pattern.split('.'), host.split('.'));
            parts.clone().count() == labels.clone().count()
                && parts.zip(labels).all(|(part, labels)| part == "*" || part == labels)
        })
    }

    /// Returns the row that applies to a model.
    pub(super) fn row(&self, model: &str) -> Option<&ProviderModel> {
        names::best_match(&self.rows, model, ProviderModel::names)
    }

    /// Returns the prices of exactly this model: a variant does not count as the model.
    pub(super) fn prices_of(&self, model: &str) -> Option<&Prices> {
        let row = self.rows.iter().find(|row| row.names().any(|name| names::is_priced_as(model, name)));
        match row {
            Some(row) => row.prices.as_ref(),
            None => self.prices.as_ref().filter(|_| {
                let model = model.to_ascii_lowercase();
                !self.unpriced.iter().any(|end| model.ends_with(end.as_str()))
            }),
        }
    }
}

impl ProviderModel {
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.name).chain(&self.aliases)
    }
}
