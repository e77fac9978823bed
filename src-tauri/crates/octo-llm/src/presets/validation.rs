//! Checks that the data of a preset table is consistent.

use super::file::{Preset, PresetTable, ProviderModel};
use crate::{CacheKind, Caching, Prices, endpoint};
use reqwest::Url;
use std::collections::HashSet;

impl PresetTable {
    /// Returns the first contradiction in the table as an error.
    pub(super) fn check(&self) -> Result<(), String> {
        if !self.date.is_empty() && !is_day(&self.date) {
            return Err(format!("{:?} is no day", self.date));
        }
        let mut ids = HashSet::new();
        for preset in &self.providers {
            let with_provider = |reason: String| format!("provider {}: {reason}", preset.id);
            if preset.id.is_empty() || !ids.insert(&preset.id) {
                return Err(with_provider("its id is empty or there twice".to_owned()));
            }
            preset.check().map_err(with_provider)?;
        }
        let mut names = HashSet::new();
        for definition in &self.models {
            for name in std::iter::once(&definition.name).chain(&definition.aliases) {
                check_name(name, &mut names)
                    .map_err(|reason| format!("model {}: {reason}", definition.name))?;
            }
            if definition.window == 0 || definition.output == 0 || definition.output > definition.window {
                return Err(format!("model {}: an answer does not fit its window", definition.name));
            }
            if !definition.efforts.is_sorted_by(|before, after| before < after) {
                return Err(format!("model {}: the efforts do not rise", definition.name));
            }
        }
        Ok(())
    }
}

impl Preset {
    fn check(&self) -> Result<(), String> {
        for address in &self.addresses {
            let url = crate::host_of(&address.url)
                .ok()
                .and_then(|_| Url::parse(&address.url).ok())
                .ok_or_else(|| format!("{} is no address", address.url))?;
            // The search for local servers must never leave this machine, whatever a file says.
            if self.local.is_some() && endpoint::network_distance(&url) != endpoint::NetworkDistance::Machine
            {
                return Err(format!("{} is not on this machine", address.url));
            }
        }
        if let Some(page) = &self.key_page
            && !page.starts_with("https://")
        {
            return Err(format!("{page} is no https address"));
        }
        if self.default.as_ref().is_some_and(|default| !self.models.contains(default)) {
            return Err("the default model is not among its models".to_owned());
        }
        let mut names = HashSet::new();
        for row in &self.rows {
            row.check(&mut names).map_err(|reason| format!("row {}: {reason}", row.name))?;
        }
        self.caching.as_ref().map_or(Ok(()), check_caching)?;
        self.prices.as_ref().map_or(Ok(()), check_prices)
    }
}

impl ProviderModel {
    fn check(&self, names: &mut HashSet<String>) -> Result<(), String> {
        for name in self.names() {
            check_name(name, names)?;
        }
        if self.window == Some(0) || self.output == Some(0) {
            return Err("a figure is 0".to_owned());
        }
        self.caching.as_ref().map_or(Ok(()), check_caching)?;
        self.prices.as_ref().map_or(Ok(()), check_prices)
    }
}

fn check_name(name: &str, names: &mut HashSet<String>) -> Result<(), String> {
    if name.trim().is_empty() || *name != name.trim().to_ascii_lowercase() {
        return Err(format!("{name:?} is not a name in small letters"));
    }
    if names.insert(name.to_owned()) { Ok(()) } else { Err(format!("{name} is there twice")) }
}

fn check_prices(prices: &Prices) -> Result<(), String> {
    if !is_day(&prices.date) {
        return Err(format!("{:?} is no day", prices.date));
    }
    if prices.is_monotonic() { Ok(()) } else { Err("long requests are cheaper than short ones".to_owned()) }
}

fn check_caching(caching: &Caching) -> Result<(), String> {
    let is_valid = match &caching.kind {
        CacheKind::None | CacheKind::Units { .. } => true,
        CacheKind::Markers { limit, lookback, lifetimes } => {
            *limit > 0 && *lookback > 0 && !lifetimes.is_empty()
        }
        CacheKind::Breakpoints { limit, lookback, .. } => *limit > 0 && *lookback > 0,
        CacheKind::Prefix { step, .. } => *step > 0,
        CacheKind::Probabilistic { probability, .. } => (0.0..=1.0).contains(probability),
    };
    if is_valid { Ok(()) } else { Err("its cache has no room".to_owned()) }
}

/// Returns whether the text is a day as in `2026-11-21`.
fn is_day(text: &str) -> bool {
    let parts: Vec<Option<u32>> = text.split('-').map(|part| part.parse().ok()).collect();
    matches!(parts.as_slice(), [Some(2020..=2199), Some(1..=12), Some(1..=31)]) && text.len() == 10
}
