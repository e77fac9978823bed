//! The values an export must not contain: all keys and headers.

use super::Models;
use octo_keys::SecretKind;
use octo_llm::host_of;
use octo_protocol::{ApiError, KeyState};
use secrecy::SecretString;

impl Models {
    /// Returns the keys of all models and the values of their headers.
    ///
    /// # Errors
    /// `key.not_read`: unreadable keys cannot be removed from an export.
    pub async fn secrets(&self) -> Result<Vec<SecretString>, ApiError> {
        let mut secrets = Vec::new();
        for entry in self.entries() {
            // Nothing can be saved for an invalid address.
            let Ok(host) = host_of(&entry.base_url) else { continue };
            if entry.key != KeyState::Missing {
                secrets.extend(self.keys().load(entry.id, &host, SecretKind::Key).await?);
            }
            secrets.extend(self.headers(&entry, &host).await?.into_iter().map(|(_, value)| value));
        }
        Ok(secrets)
    }
}
