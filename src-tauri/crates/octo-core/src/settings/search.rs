//! Requests about web search providers.

use super::LiveSettings;
use crate::searching;
use octo_protocol::{ApiError, SearchProviderDraft, SearchProviderKind, SettingsSnapshot};

impl LiveSettings {
    pub(super) async fn save_search_provider(
        &self,
        draft: SearchProviderDraft,
    ) -> Result<SettingsSnapshot, ApiError> {
        let provider = self.services.searching.accept(draft).await?;
        self.change(move |_, settings| {
            searching::put(&mut settings.search, provider);
            Ok(())
        })
        .await?;
        // A new key or address deserves another try.
        self.services.search.end_pauses();
        Ok(self.snapshot().await?.1)
    }

    pub(super) async fn remove_search_provider(
        &self,
        kind: SearchProviderKind,
    ) -> Result<SettingsSnapshot, ApiError> {
        self.change(move |_, settings| {
            settings.search.0.retain(|provider| provider.kind != kind);
            Ok(())
        })
        .await?;
        self.services.searching.forget(kind).await?;
        Ok(self.snapshot().await?.1)
    }

    pub(super) async fn order_search_providers(
        &self,
        order: Vec<SearchProviderKind>,
    ) -> Result<SettingsSnapshot, ApiError> {
        self.change(move |_, settings| {
            searching::order(&mut settings.search, &order);
            Ok(())
        })
        .await?;
        Ok(self.snapshot().await?.1)
    }
}
