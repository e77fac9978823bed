//! Facts about one model at one address.

use super::file::{Preset, PresetTable};
use crate::{CacheKind, CacheLifetime, Caching, Prices, codec};
use octo_protocol::{CachingFacts, Effort, ModelFacts, Protocol};

/// Facts about one model at one address.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCard {
    /// Preset that its address belongs to.
    pub preset: Option<String>,
    /// Whether the table knows the model. If not, the figures are those of [`ModelCard::unknown`].
    pub known: bool,
    /// Maximum tokens of input and output together.
    pub context_window: u64,
    /// Maximum tokens of one answer.
    pub max_output: u64,
    /// Whether it takes pictures.
    pub vision: bool,
    /// Whether it takes PDF documents unconverted.
    pub documents: bool,
    /// Whether it calls tools.
    pub tools: bool,
    /// Supported reasoning efforts, ascending; empty if it supports none.
    pub efforts: Vec<Effort>,
    /// Behaviour of the provider's prompt cache for it.
    pub caching: Caching,
    /// Its prices; `None` if unknown.
    pub prices: Option<Prices>,
}

impl ModelCard {
    /// Returns the assumptions about an unknown model. Pictures are assumed to be accepted: a refusal is
    /// visible at once, a picture silently replaced by words is not. Markers belong to the Messages protocol,
    /// so a server that speaks it accepts them, even if it ignores them.
    pub fn unknown(protocol: Protocol) -> Self {
        Self {
            preset: None,
            known: false,
            context_window: 128_000,
            max_output: 8_192,
            vision: true,
            // Not assumed: a document named by its path can still be read by a tool.
            documents: false,
            tools: true,
            efforts: Vec::new(),
            caching: (codec(protocol).caching)(),
            prices: None,
        }
    }

    /// Converts the card to the form a page shows.
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
                CacheKind::Markers { lifetimes, .. } if lifetimes.contains(&CacheLifetime::Hour) => {
                    CachingFacts::MarkedLong
                }
                CacheKind::Markers { .. } | CacheKind::Breakpoints { .. } => CachingFacts::Marked,
                CacheKind::Prefix { .. } | CacheKind::Units { .. } => CachingFacts::Automatic,
                CacheKind::Probabilistic { .. } => CachingFacts::Chance,
            },
        }
    }
}

/// Whether a provider's prices apply to one of its addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PriceScope {
    AsListed,
    Otherwise,
}

impl PresetTable {
    /// Returns the facts about a model at a provider: the model's own entry, overridden by the provider's.
    pub(super) fn card(
        &self,
        location: Option<(&Preset, PriceScope)>,
        protocol: Protocol,
        model: &str,
    ) -> ModelCard {
        let mut card = ModelCard::unknown(protocol);
        let definition = self.model_definition(model);
        if let Some(definition) = definition {
            card.known = true;
            card.context_window = definition.window;
            card.max_output = definition.output;
            card.vision = definition.vision;
            card.tools = definition.tools;
            card.efforts.clone_from(&definition.efforts);
        }
        if let Some((preset, priced)) = location {
            let row = preset.row(model);
            card.documents = preset.documents;
            card.preset = Some(preset.id.clone());
            card.prices = match priced {
                PriceScope::AsListed => preset.prices_of(model).cloned(),
                PriceScope::Otherwise => None,
            };
            let row_caching = row.and_then(|row| row.caching.as_ref());
            if let Some(caching) = row_caching.or(preset.caching.as_ref()) {
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
            (definition.and_then(|definition| definition.cache_minimum), card.caching.kind == CacheKind::None)
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
