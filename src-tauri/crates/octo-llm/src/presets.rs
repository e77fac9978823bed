//! Facts about providers and models, as dated data.
//!
//! `presets.json` in this crate's folder contains the table and is compiled in; a file of the same format in
//! Octo's home overrides it ([`Presets::load`]). A model's properties (window, pictures, efforts) are in the
//! table of models; its prices and caching belong to the provider that serves it, since the same model has
//! other prices elsewhere. Facts that no row states are unknown: the figures are then those of
//! [`ModelCard::unknown`], and the price is `None`.

mod card;
mod file;
mod names;
mod validation;

pub use card::ModelCard;
pub use file::{LocalKind, LocalServerKind, Preset, PresetId, ProviderAddress};

use crate::host_of;
use card::PriceScope;
use file::{ModelDefinition, PresetTable};
use octo_protocol::{ApiError, PresetAddress, PresetInfo, PresetList, PresetModel, Protocol};
use std::{collections::HashSet, path::Path, sync::LazyLock};

/// Built-in table.
const BUILT_IN: &str = include_str!("../presets.json");
/// Format version this code reads. It changes when older files become unreadable.
const FORMAT_VERSION: u32 = 1;
/// Maximum size of the file in the home. The built-in one has a twentieth of it.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// Facts about providers and models.
#[derive(Clone, Debug)]
pub struct Presets {
    table: PresetTable,
    warnings: Vec<PresetsError>,
}

/// Reason why a table was not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PresetsError {
    /// The file cannot be read.
    #[error("{path}: {reason}")]
    Unreadable {
        /// Path of the file.
        path: String,
        /// Message of the system.
        reason: String,
    },
    /// The file does not follow the format.
    #[error("{path}: {reason}")]
    Malformed {
        /// Path of the file.
        path: String,
        /// Parse error, with line and column.
        reason: String,
    },
    /// This Octo does not know the file's version.
    #[error("{path}: version {version}")]
    Version {
        /// Path of the file.
        path: String,
        /// The file's version.
        version: u32,
    },
    /// The file follows the format, but states something impossible.
    #[error("{path}: {reason}")]
    Unsound {
        /// Path of the file.
        path: String,
        /// The impossible statement.
        reason: String,
    },
}

impl From<&PresetsError> for ApiError {
    fn from(error: &PresetsError) -> Self {
        match error {
            PresetsError::Unreadable { path, reason } => {
                ApiError::new("presets.unreadable").arg("path", path).detail(reason)
            }
            PresetsError::Malformed { path, reason } => {
                ApiError::new("presets.malformed").arg("path", path).detail(reason)
            }
            PresetsError::Version { path, version } => {
                ApiError::new("presets.version").arg("path", path).arg("version", version)
            }
            PresetsError::Unsound { path, reason } => {
                ApiError::new("presets.unsound").arg("path", path).detail(reason)
            }
        }
    }
}

static COMPILED_IN: LazyLock<Presets> = LazyLock::new(|| match PresetTable::read(BUILT_IN, "presets.json") {
    Ok(table) => Presets { table, warnings: Vec::new() },
    // The tests rule this out; if it did happen, every model would be unknown and the page would say why.
    Err(error) => Presets { table: PresetTable::default(), warnings: vec![error] },
});

impl Presets {
    /// Returns the table built into Octo.
    pub fn built_in() -> Self {
        COMPILED_IN.clone()
    }

    /// Loads the built-in table and overrides it with the person's own file: its providers (by id) and models
    /// (by name) replace those of the table or are added. Usually there is no file. An unusable one is ignored
    /// and named in the warnings.
    pub fn load(path: &Path) -> (Self, Vec<PresetsError>) {
        let mut presets = Self::built_in();
        match read(path).and_then(|custom| {
            custom.map_or(Ok(None), |custom| presets.table.overridden_by(custom, path).map(Some))
        }) {
            Ok(None) => {}
            Ok(Some(table)) => presets.table = table,
            Err(error) => presets.warnings.push(error),
        }
        let warnings = presets.warnings.clone();
        (presets, warnings)
    }

    /// Returns the provider an address belongs to: one with this address or a parent of it, otherwise one
    /// served from the same host. All names of this machine count as one host.
    pub fn provider_of(&self, base_url: &str) -> Option<&Preset> {
        self.locate(base_url).map(|(preset, _)| preset)
    }

    /// Returns the facts about a model at an address.
    pub fn card(&self, protocol: Protocol, base_url: &str, model: &str) -> ModelCard {
        self.table.card(self.locate(base_url), protocol, model)
    }

    fn locate(&self, base_url: &str) -> Option<(&Preset, PriceScope)> {
        let requested = NormalizedAddress::parse(base_url)?;
        let addresses = || {
            self.table.providers.iter().flat_map(|preset| {
                preset.addresses.iter().filter_map(move |address| {
                    Some((preset, address, NormalizedAddress::parse(&address.url)?))
                })
            })
        };
        let parents = addresses().filter(|(_, _, known)| requested.is_below(known));
        if let Some((preset, address, _)) = parents.max_by_key(|(_, _, known)| known.path.len()) {
            return Some((preset, if address.priced { PriceScope::AsListed } else { PriceScope::Otherwise }));
        }
        // Elsewhere at its host may be another offer of the provider: a plan, a batch queue.
        if let Some((preset, _, _)) = addresses().find(|(_, _, known)| known.host == requested.host) {
            return Some((preset, PriceScope::Otherwise));
        }
        let preset = self.table.providers.iter().find(|preset| preset.is_at(&requested.host))?;
        Some((preset, PriceScope::AsListed))
    }

    /// Returns the providers, in display order.
    pub fn providers(&self) -> &[Preset] {
        &self.table.providers
    }

    /// Returns the provider with an id.
    pub fn provider(&self, id: &str) -> Option<&Preset> {
        self.table.providers.iter().find(|preset| preset.id == id)
    }

    /// Converts the table to the form a page shows.
    pub fn list(&self) -> PresetList {
        PresetList {
            presets: self.table.providers.iter().map(|preset| self.info(preset)).collect(),
            date: self.table.date.clone(),
            warnings: self.warnings.iter().map(ApiError::from).collect(),
        }
    }

    fn info(&self, preset: &Preset) -> PresetInfo {
        let model = |name: &String| {
            let protocol = preset.protocol_of(name);
            PresetModel {
                name: name.clone(),
                protocol,
                light: preset.light_of(name).map(str::to_owned),
                fallback: preset.fallback_of(name).map(str::to_owned),
                facts: self.table.card(Some((preset, PriceScope::AsListed)), protocol, name).facts(),
            }
        };
        let address = |address: &ProviderAddress| PresetAddress {
            url: address.url.clone(),
            label: address.label.clone(),
        };
        PresetInfo {
            id: preset.id.clone(),
            name: preset.name.clone(),
            name_zh: preset.name_zh.clone().unwrap_or_else(|| preset.name.clone()),
            addresses: preset.addresses.iter().map(address).collect(),
            protocol: preset.protocol,
            spoken: preset.spoken.clone(),
            key_page: preset.key_page.clone(),
            local: preset.local.is_some(),
            models: preset.models.iter().map(model).collect(),
            default_model: preset.default.clone(),
        }
    }
}

impl PresetTable {
    fn read(text: &str, path: &str) -> Result<Self, PresetsError> {
        /// Fields that every version of the format has.
        #[derive(serde::Deserialize)]
        struct VersionHeader {
            version: u32,
        }
        let malformed = |error: serde_json::Error| PresetsError::Malformed {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        let VersionHeader { version } = serde_json::from_str(text).map_err(malformed)?;
        if version != FORMAT_VERSION {
            return Err(PresetsError::Version { path: path.to_owned(), version });
        }
        let table: Self = serde_json::from_str(text).map_err(malformed)?;
        table.check().map_err(|reason| PresetsError::Unsound { path: path.to_owned(), reason })?;
        Ok(table)
    }

    /// Returns this table overridden by another.
    fn overridden_by(&self, custom: Self, path: &Path) -> Result<Self, PresetsError> {
        let mut table = self.clone();
        merge_rows(&mut table.providers, custom.providers, |preset| preset.id.clone());
        merge_rows(&mut table.models, custom.models, |model| model.name.clone());
        table
            .check()
            .map_err(|reason| PresetsError::Unsound { path: path.display().to_string(), reason })
            .map(|()| table)
    }

    fn model_definition(&self, name: &str) -> Option<&ModelDefinition> {
        names::best_match(&self.models, name, |model| std::iter::once(&model.name).chain(&model.aliases))
    }
}

fn merge_rows<T>(rows: &mut Vec<T>, custom: Vec<T>, id: impl Fn(&T) -> String) {
    let replaced: HashSet<String> = custom.iter().map(&id).collect();
    let mut custom: Vec<Option<T>> = custom.into_iter().map(Some).collect();
    // A replaced row keeps its position, which is the display order of providers.
    for row in rows.iter_mut().filter(|row| replaced.contains(&id(row))) {
        let wanted_id = id(row);
        let found =
            custom.iter_mut().find(|custom| custom.as_ref().is_some_and(|custom| id(custom) == wanted_id));
        if let Some(replacement) = found.and_then(Option::take) {
            *row = replacement;
        }
    }
    rows.extend(custom.into_iter().flatten());
}

/// Reads the person's own table; `None` if there is no file.
fn read(path: &Path) -> Result<Option<PresetTable>, PresetsError> {
    use std::io::{ErrorKind, Read};
    let name = || path.display().to_string();
    let unreadable = |reason: String| PresetsError::Unreadable { path: name(), reason };
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error.to_string())),
    };
    let mut text = String::new();
    file.take(MAX_FILE_BYTES + 1).read_to_string(&mut text).map_err(|error| unreadable(error.to_string()))?;
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > MAX_FILE_BYTES {
        return Err(unreadable(format!("larger than {MAX_FILE_BYTES} bytes")));
    }
    PresetTable::read(&text, &name()).map(Some)
}

/// Normalized address, for comparison.
struct NormalizedAddress {
    /// Scheme, host and port; all names of this machine become one.
    host: String,
    /// Path without a trailing slash.
    path: String,
}

impl NormalizedAddress {
    fn parse(base_url: &str) -> Option<Self> {
        let host = host_of(base_url).ok()?;
        let url = reqwest::Url::parse(base_url.trim()).ok()?;
        let host = ["localhost", "[::1]"].iter().fold(host, |host, name| match host.split_once("://") {
            Some((scheme, rest)) if rest == *name || rest.starts_with(&format!("{name}:")) => {
                host.replacen(&format!("{scheme}://{name}"), &format!("{scheme}://127.0.0.1"), 1)
            }
            Some(_) | None => host,
        });
        Some(Self { host, path: url.path().trim_end_matches('/').to_owned() })
    }

    fn is_below(&self, other: &Self) -> bool {
        let subpath = self.path.strip_prefix(other.path.as_str());
        self.host == other.host
            && subpath.is_some_and(|subpath| subpath.is_empty() || subpath.starts_with('/'))
    }
}

#[cfg(test)]
mod tests;
