//! The companion model named by the presets: a cheaper one for side calls, or a fallback.

use super::Models;
use octo_keys::SecretKind;
use octo_llm::host_of;
use octo_protocol::{
    ApiError, CompanionRole, HeaderDraft, ModelDraft, ModelEntry, ModelId, Protocol, Secret,
};
use secrecy::ExposeSecret;

/// A companion of a model.
pub(crate) enum Companion {
    /// It is already connected.
    Connected(ModelId),
    /// It is not connected; this draft connects it.
    Draft(ModelDraft),
}

impl Models {
    /// Returns the companion of a model, at the same address and with the same secrets, which stay with the
    /// host they were saved for.
    pub async fn companion(&self, model: ModelId, role: CompanionRole) -> Result<Companion, ApiError> {
        let entries = self.entries();
        let find = |id| entries.iter().find(|entry| entry.id == id);
        let entry = find(model).ok_or_else(|| ApiError::new("model.unknown"))?;
        let (name, protocol) =
            self.suggest(entry, role).ok_or_else(|| ApiError::new("model.no_companion"))?;
        let host = host_of(&entry.base_url).map_err(|error| error.to_api())?;
        let is_it = |entry: &&ModelEntry| {
            entry.model == name && host_of(&entry.base_url).is_ok_and(|entry_host| entry_host == host)
        };
        if let Some(existing) = entries.iter().find(is_it) {
            return Ok(Companion::Connected(existing.id));
        }
        let key = self.keys.load(model, &host, SecretKind::Key).await?;
        let headers = self
            .headers(entry, &host)
            .await?
            .into_iter()
            .map(|(name, value)| HeaderDraft { name, value: Some(Secret::new(value.expose_secret())) });
        Ok(Companion::Draft(ModelDraft {
            id: None,
            protocol,
            base_url: entry.base_url.clone(),
            model: name,
            key: key.map(|key| Secret::new(key.expose_secret())),
            headers: Some(headers.collect()),
        }))
    }

    fn suggest(&self, entry: &ModelEntry, role: CompanionRole) -> Option<(String, Protocol)> {
        let preset = self.presets.provider_of(&entry.base_url)?;
        let name = match role {
            CompanionRole::Light => preset.light_of(&entry.model),
            CompanionRole::Fallback => preset.fallback_of(&entry.model),
        }?;
        Some((name.to_owned(), preset.protocol_of(name)))
    }
}
