//! The form of the table.

use super::names;
use crate::{Caching, Prices};
use octo_protocol::{Effort, Protocol};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Names a preset, as in `anthropic`.
pub type PresetId = String;

/// A whole table. Unknown fields are refused: a misspelt one would silently say nothing.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    /// The form's version; read before the rest.
    #[expect(dead_code, reason = "read by itself, before the form is known to fit")]
    pub version: u32,
    /// The day it was made, as in `2026-11-21`.
    #[serde(default)]
    pub date: String,
    /// In the order they are offered.
    #[serde(default)]
    pub providers: Vec<Preset>,
    /// What models are, whoever serves them.
    #[serde(default)]
    pub models: Vec<Line>,
}

/// A model, whoever serves it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    /// Its name, in small letters, without a router's prefix.
    pub name: String,
    /// Other names of it.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Tokens of input and output together.
    pub window: u64,
    /// Tokens one answer may have.
    pub output: u64,
    /// Whether it takes pictures.
    pub vision: bool,
    /// Whether it calls tools.
    #[serde(default = "yes")]
    pub tools: bool,
    /// How much it may be asked to reason, rising.
    #[serde(default)]
    pub efforts: Vec<Effort>,
    /// The shortest prefix its vendor keeps, in tokens, where that is the model's and not the provider's.
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
    /// Its name in Chinese, where it has another there.
    #[serde(default)]
    pub name_zh: Option<String>,
    /// Where it is, the usual place first.
    #[serde(default)]
    pub addresses: Vec<Address>,
    /// Hosts it has beside those of its addresses; `*` stands for one part of a name.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// How it is spoken to.
    pub protocol: Protocol,
    /// How models whose names begin so are spoken to instead.
    #[serde(default)]
    pub spoken: BTreeMap<String, Protocol>,
    /// Where a person gets a key.
    #[serde(default)]
    pub key_page: Option<String>,
    /// How it is recognised, where it runs on this machine.
    #[serde(default)]
    pub local: Option<Local>,
    /// Whether its models take PDF documents as they are.
    #[serde(default)]
    pub documents: bool,
    /// The models to offer, best first.
    #[serde(default)]
    pub models: Vec<String>,
    /// The one to begin with.
    #[serde(default)]
    pub default: Option<String>,
    /// The cheaper model that serves beside a model.
    #[serde(default)]
    pub light: BTreeMap<String, String>,
    /// The model that may take over from a model.
    #[serde(default)]
    pub fallback: BTreeMap<String, String>,
    /// What its cache does, where no row says otherwise.
    #[serde(default)]
    pub caching: Option<Caching>,
    /// What all its models cost that have no row.
    #[serde(default)]
    pub prices: Option<Prices>,
    /// Ends of names that `prices` does not speak for.
    #[serde(default)]
    pub unpriced: Vec<String>,
    /// What it says of single models.
    #[serde(default)]
    pub(super) rows: Vec<Row>,
}

/// Where a provider is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Address {
    /// The address, without a trailing slash.
    pub url: String,
    /// What tells it from the others: a word of the catalogue, `preset.at.<label>`.
    #[serde(default)]
    pub label: Option<String>,
    /// Whether the prices are those of this address: a plan is paid otherwise, and so is another country.
    #[serde(default = "yes")]
    pub priced: bool,
}

/// A server on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Local {
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

/// What a provider says of a model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    /// The model's name, in small letters.
    pub name: String,
    /// Other names of it.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Its window here, where it is not the model's own.
    #[serde(default)]
    pub window: Option<u64>,
    /// Its longest answer here, where it is not the model's own.
    #[serde(default)]
    pub output: Option<u64>,
    /// Whether it takes pictures here, where it is not the model's own word.
    #[serde(default)]
    pub vision: Option<bool>,
    /// Whether it takes PDF documents here, where not as the provider's others.
    #[serde(default)]
    pub documents: Option<bool>,
    /// How it is cached, where not as the provider's others.
    #[serde(default)]
    pub caching: Option<Caching>,
    /// What it costs.
    #[serde(default)]
    pub prices: Option<Prices>,
}

fn yes() -> bool {
    true
}

impl Preset {
    /// How one of its models is spoken to.
    pub fn protocol_of(&self, model: &str) -> Protocol {
        let model = model.to_ascii_lowercase();
        let begins = self.spoken.iter().filter(|(begin, _)| model.starts_with(begin.as_str()));
        begins.max_by_key(|(begin, _)| begin.len()).map_or(self.protocol, |(_, protocol)| *protocol)
    }

    /// The cheaper model that serves beside a model; none where there is none or it is one itself.
    pub fn light_of(&self, model: &str) -> Option<&str> {
        self.light.get(model).map(String::as_str)
    }

    /// The model that may take over when a model's service fails.
    pub fn fallback_of(&self, model: &str) -> Option<&str> {
        self.fallback.get(model).map(String::as_str)
    }

    /// Whether it is at a host that none of its addresses names.
    pub(super) fn is_at(&self, host: &str) -> bool {
        let Some(host) = host.strip_prefix("https://") else { return false };
        self.hosts.iter().any(|pattern| {
            let (parts, asked) = (pattern.split('.'), host.split('.'));
            parts.clone().count() == asked.clone().count()
                && parts.zip(asked).all(|(part, asked)| part == "*" || part == asked)
        })
    }

    /// The row whose facts stand for a model.
    pub(super) fn row(&self, model: &str) -> Option<&Row> {
        names::longest(&self.rows, model, Row::names)
    }

    /// The prices of exactly this model: a variant is not the model.
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

impl Row {
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.name).chain(&self.aliases)
    }
}
