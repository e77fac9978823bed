//! What must not leave in an export: the values of all keys and headers.

use super::Models;
use crate::keys::Slot;
use octo_llm::host_of;
use octo_protocol::{ApiError, KeyState};
use secrecy::SecretString;

impl Models {
    /// The keys of all models, and the values of their headers.
    ///
    /// # Errors
    /// `key.not_read`: who cannot know the keys cannot leave them out.
    pub async fn secrets(&self) -> Result<Vec<SecretString>, ApiError> {
        let mut secrets = Vec::new();
        for entry in self.entries() {
            // At an address that is none, nothing can be kept.
            let Ok(host) = host_of(&entry.base_url) else { continue };
            if entry.key != KeyState::Missing {
                secrets.extend(self.keys().load(entry.id, &host, Slot::Key).await?);
            }
            secrets.extend(self.headers(&entry, &host).await?.into_iter().map(|(_, value)| value));
        }
        Ok(secrets)
    }
}
