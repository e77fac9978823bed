//! Requests about the providers of web searches.

use super::Octo;
use crate::searching;
use octo_protocol::{ApiError, SearchProviderDraft, SearchProviderKind, SettingsSnapshot};

impl Octo {
    pub(super) async fn save_search_provider(
        &self,
        draft: SearchProviderDraft,
    ) -> Result<SettingsSnapshot, ApiError> {
        let provider = self.shared.searching.accept(draft).await?;
        self.change_settings(move |_, settings| {
            searching::put(&mut settings.search, provider);
            Ok(())
        })
        .await?;
        // A new key or address deserves another try.
        self.shared.search.wake();
        Ok(self.settings_snapshot().await?.1)
    }

    pub(super) async fn remove_search_provider(
        &self,
        kind: SearchProviderKind,
    ) -> Result<SettingsSnapshot, ApiError> {
        self.change_settings(move |_, settings| {
            settings.search.0.retain(|provider| provider.kind != kind);
            Ok(())
        })
        .await?;
        self.shared.searching.forget(kind).await?;
        Ok(self.settings_snapshot().await?.1)
    }

    pub(super) async fn order_search_providers(
        &self,
        order: Vec<SearchProviderKind>,
    ) -> Result<SettingsSnapshot, ApiError> {
        self.change_settings(move |_, settings| {
            searching::order(&mut settings.search, &order);
            Ok(())
        })
        .await?;
        Ok(self.settings_snapshot().await?.1)
    }
}
