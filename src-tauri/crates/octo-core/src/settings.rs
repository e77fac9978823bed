//! The settings: changed in the store, then applied by every part that uses them.

mod browser;
mod certificates;
mod models;
mod proxy;
mod requests;
mod search;

use crate::{base::Base, services::Services, session::Runtime};
use octo_protocol::{ApiError, Event, Settings, SettingsSnapshot, StoredTopic};
use octo_store::{StoreError, Tx};
use std::{path::Path, sync::Arc};

/// Number of folders remembered.
const RECENT_FOLDERS: usize = 10;

/// The stored and applied settings of a home. Clones share them.
#[derive(Clone)]
pub(crate) struct LiveSettings {
    base: Arc<Base>,
    services: Arc<Services>,
    runtime: Arc<Runtime>,
}

impl LiveSettings {
    pub(crate) fn new(runtime: Arc<Runtime>) -> Self {
        Self { base: Arc::clone(&runtime.base), services: Arc::clone(&runtime.services), runtime }
    }

    /// Returns settings, models and the keychain's state, as of the topic's number.
    pub(crate) async fn snapshot(&self) -> Result<(u64, SettingsSnapshot), ApiError> {
        let state = self.base.store.read(|reader| reader.settings_state()).await?;
        let keychain = self.services.models.keys().state();
        Ok((
            state.seq,
            SettingsSnapshot {
                settings: adapt_to_run(&self.services, state.settings),
                models: self.services.models.adapt_to_run(state.models),
                keychain,
            },
        ))
    }

    /// Changes settings (and models with them) in one transaction and notifies everyone.
    pub(crate) async fn change(
        &self,
        change: impl FnOnce(&mut Tx<'_>, &mut Settings) -> Result<(), StoreError> + Send + 'static,
    ) -> Result<(), ApiError> {
        let keychain = self.services.models.keys().state();
        let services = Arc::clone(&self.services);
        let _in_order = self.base.settings_lock.lock().await;
        let result = self.base.store.write(move |tx| {
            let mut settings = tx.settings()?;
            change(tx, &mut settings)?;
            tx.put_settings(&settings)?;
            let snapshot = SettingsSnapshot {
                settings: adapt_to_run(&services, settings.clone()),
                models: services.models.adapt_to_run(tx.models()?),
                keychain,
            };
            tx.emit(StoredTopic::Settings, Event::SettingsChanged { snapshot })?;
            Ok(settings)
        });
        let settings = result.await?;
        let previous = self.base.preferences();
        self.services.models.apply_settings(&settings);
        if previous.proxy != settings.proxy || previous.certificates != settings.certificates {
            self.services.chats.signal_change();
        }
        self.services.searching.apply_settings(&settings.search);
        self.services.chats.follow(&settings.chats);
        self.services.library.apply_settings(&settings);
        self.services.browser.choose(&settings.browser).await;
        self.services.browser.secrets().apply_list(&settings.site_secrets);
        self.runtime.admission.set_limit(settings.live_turns.effective());
        self.base.set_preferences(settings);
        self.runtime.sub_agents.limit_changed();
        Ok(())
    }

    /// Puts a folder first among the recent ones.
    pub(crate) async fn remember_folder(&self, folder: &Path) -> Result<(), ApiError> {
        let folder = folder.display().to_string();
        self.change(move |_, settings| {
            settings.recent_folders.retain(|recent| *recent != folder);
            settings.recent_folders.insert(0, folder);
            settings.recent_folders.truncate(RECENT_FOLDERS);
            Ok(())
        })
        .await
    }
}

/// Adapts stored settings to this run.
fn adapt_to_run(services: &Services, settings: Settings) -> Settings {
    Settings {
        search: services.searching.adapt_to_run(settings.search.clone()),
        chats: services.chats.adapt_to_run(settings.chats.clone()),
        ..settings
    }
}
