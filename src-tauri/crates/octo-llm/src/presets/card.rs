//! What is known of one model at one address.

use super::file::{Preset, Table};
use crate::{CacheKind, Caching, Life, Prices};
use octo_protocol::{CachingFacts, Effort, ModelFacts, Protocol};

/// What is known of one model at one address.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCard {
    /// The preset its address belongs to.
    pub preset: Option<String>,
    /// Whether the table knows the model. Where not, the figures are [`ModelCard::unknown`]'s.
    pub known: bool,
    /// Tokens of input and output together.
    pub context_window: u64,
    /// Tokens one answer may have.
    pub max_output: u64,
    /// Whether it takes pictures.
    pub vision: bool,
    /// Whether it takes PDF documents as they are.
    pub documents: bool,
    /// Whether it calls tools.
    pub tools: bool,
    /// How much it may be asked to reason, rising; empty where it takes no such wish.
    pub efforts: Vec<Effort>,
    /// What the provider's prompt cache does for it.
    pub caching: Caching,
    /// What it costs; none where that is unknown.
    pub prices: Option<Prices>,
}

impl ModelCard {
    /// What is assumed of a model nothing is known of. Pictures are assumed to be taken: a refusal is visible at
    /// once, a picture silently replaced by words is not. Markers belong to the Messages protocol, so a server
    /// that speaks it takes them, also where it does nothing with them.
    pub fn unknown(protocol: Protocol) -> Self {
        Self {
            preset: None,
            known: false,
            context_window: 128_000,
            max_output: 8_192,
            vision: true,
            // Assumed of none: one named by its path can still be read by a tool.
            documents: false,
            tools: true,
            efforts: Vec::new(),
            caching: common_caching(protocol),
            prices: None,
        }
    }

    /// As a page shows it.
    pub fn facts(&self) -> ModelFacts {
        ModelFacts {
            preset: self.preset.clone(),
            known: self.known,
            context_window: self.context_window,
            max_output: self.max_output,
            vision: self.vision,
            documents: self.documents,
            tools: self.tools,
            efforts: self.efforts.clone(),
            price: self.prices.as_ref().map(Prices::facts),
            caching: match &self.caching.kind {
                CacheKind::None => CachingFacts::Unknown,
                CacheKind::Markers { lives, .. } if lives.contains(&Life::Hour) => CachingFacts::MarkedLong,
                CacheKind::Markers { .. } | CacheKind::Breakpoints { .. } => CachingFacts::Marked,
                CacheKind::Prefix { .. } | CacheKind::Units { .. } => CachingFacts::Automatic,
                CacheKind::Chance { .. } => CachingFacts::Chance,
            },
        }
    }
}

/// What a server of the protocol does whose provider is not known.
fn common_caching(protocol: Protocol) -> Caching {
    match protocol {
        Protocol::Anthropic => Caching::anthropic(),
        Protocol::OpenaiChat | Protocol::OpenaiResponses | Protocol::Bedrock => Caching::NONE,
    }
}

/// Whether a provider's prices are those of an address of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Priced {
    AsListed,
    Otherwise,
}

impl Table {
    /// What is known of a model at a provider: the model's own line, over it what the provider says.
    pub(super) fn card(&self, at: Option<(&Preset, Priced)>, protocol: Protocol, model: &str) -> ModelCard {
        let mut card = ModelCard::unknown(protocol);
        let line = self.line(model);
        if let Some(line) = line {
            card.known = true;
            card.context_window = line.window;
            card.max_output = line.output;
            card.vision = line.vision;
            card.tools = line.tools;
            card.efforts.clone_from(&line.efforts);
        }
        if let Some((preset, priced)) = at {
            let row = preset.row(model);
            card.documents = preset.documents;
            card.preset = Some(preset.id.clone());
            card.prices = match priced {
                Priced::AsListed => preset.prices_of(model).cloned(),
                Priced::Otherwise => None,
            };
            let own = row.and_then(|row| row.caching.as_ref());
            if let Some(caching) = own.or(preset.caching.as_ref()) {
                card.caching = caching.clone();
            }
            if let Some(row) = row {
                card.context_window = row.window.unwrap_or(card.context_window);
                card.max_output = row.output.unwrap_or(card.max_output);
                card.vision = row.vision.unwrap_or(card.vision);
                card.documents = row.documents.unwrap_or(card.documents);
            }
        }
        if let (Some(minimum), false) =
            (line.and_then(|line| line.cache_minimum), card.caching.kind == CacheKind::None)
        {
            card.caching.minimum = minimum;
        }
        // A document is shown as pictures of its pages.
        card.documents &= card.vision;
        // Asking for the whole window as output would leave no room for input.
        card.max_output = card.max_output.min(card.context_window / 2).max(1);
        card
    }
}
