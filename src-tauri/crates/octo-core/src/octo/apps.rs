//! Requests about settings and the application.

use super::{Octo, json, library::absolute};
use crate::{models, schedule::Tasks, shared::Shared, slash};
use octo_protocol::{
    About, ApiError, AppRequest, Commands, Event, Language, Profiles, Settings, SettingsPatch,
    SettingsSnapshot, Topic, words,
};
use octo_store::{StoreError, Tx};
use serde_json::Value;
use std::path::Path;

/// How many folders are remembered.
const RECENT_FOLDERS: usize = 10;

impl Octo {
    pub(super) async fn app(&self, request: AppRequest) -> Result<Value, ApiError> {
        match request {
            AppRequest::GetSettings(_) => json(self.settings_snapshot().await?.1),
            AppRequest::ChangeSettings(call) => {
                call.patch.proxy.as_ref().map_or(Ok(()), models::check_proxy)?;
                if !call.patch.shortcuts.as_ref().is_none_or(octo_protocol::are_sound) {
                    return Err(ApiError::new("settings.shortcut_wrong"));
                }
                let retimed = call.patch.tasks.is_some();
                self.change_settings(move |_, settings| {
                    apply(settings, call.patch);
                    Ok(())
                })
                .await?;
                self.shared.trash.keep_within(self.shared.preferences().trash);
                if retimed {
                    Tasks::of(&self.shared).changed();
                }
                json(self.settings_snapshot().await?.1)
            }
            AppRequest::TrustCertificates(call) => {
                self.trust(call.source).await?;
                json(self.settings_snapshot().await?.1)
            }
            AppRequest::TryProxy(call) => json(self.try_proxy(call.proxy).await?),
            AppRequest::SaveSearchProvider(call) => json(self.save_search_provider(call.draft).await?),
            AppRequest::RemoveSearchProvider(call) => json(self.remove_search_provider(call.kind).await?),
            AppRequest::OrderSearchProviders(call) => json(self.order_search_providers(call.order).await?),
            AppRequest::GetAbout(_) => json(self.about()),
            AppRequest::ListCommands(call) => json(self.commands(call.folder).await?),
            AppRequest::ListProfiles(_) => {
                let agents = self.shared.library.agents().clone();
                let listed = tokio::task::spawn_blocking(move || agents.profiles()).await;
                let profiles = listed.map_err(|error| ApiError::new("internal").detail(error))?;
                json(Profiles { profiles })
            }
            AppRequest::PutBlob(call) => json(self.put_blob(&call.base64, call.name).await?),
            AppRequest::AttachFiles(call) => json(self.attach_files(call.paths).await?),
        }
    }

    /// The built-in commands, then the skills a person may call. Of one name the built-in one counts.
    async fn commands(&self, folder: Option<String>) -> Result<Commands, ApiError> {
        let mut commands = slash::commands();
        let shelf = self.shared.library.shelf(absolute(folder)).await?;
        let own: Vec<String> = commands.iter().map(|command| command.name.clone()).collect();
        commands.extend(shelf.commands().filter(|command| !own.contains(&command.name)));
        Ok(Commands { commands })
    }

    fn about(&self) -> About {
        let system_language = match words::resolve(Language::System) {
            Language::Zh => "zh",
            Language::En | Language::System => "en",
        };
        About {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            home: self.shared.config.home.display().to_string(),
            user_home: std::env::home_dir().unwrap_or_default().display().to_string(),
            system_language: system_language.to_owned(),
        }
    }

    /// Settings, models and the keychain's state, as of the topic's number.
    pub(super) async fn settings_snapshot(&self) -> Result<(u64, SettingsSnapshot), ApiError> {
        let state = self.shared.store.read(|reader| reader.settings_state()).await?;
        let keychain = self.shared.models.keys().state();
        Ok((
            state.seq,
            SettingsSnapshot {
                settings: self.as_of_now(state.settings),
                models: self.shared.models.as_of_now(state.models),
                keychain,
            },
        ))
    }

    /// Stored settings as they are true for this run.
    fn as_of_now(&self, settings: Settings) -> Settings {
        as_of_now(&self.shared, settings)
    }

    /// Changes settings (and models with them) in one transaction and tells everyone.
    pub(super) async fn change_settings(
        &self,
        change: impl FnOnce(&mut Tx<'_>, &mut Settings) -> Result<(), StoreError> + Send + 'static,
    ) -> Result<(), ApiError> {
        let keychain = self.shared.models.keys().state();
        let shared = self.shared.clone();
        // What is in use afterwards must be what was stored last.
        let _in_order = self.shared.changing.lock().await;
        let written = self.shared.store.write(move |tx| {
            let mut settings = tx.settings()?;
            change(tx, &mut settings)?;
            tx.put_settings(&settings)?;
            let snapshot = SettingsSnapshot {
                settings: as_of_now(&shared, settings.clone()),
                models: shared.models.as_of_now(tx.models()?),
                keychain,
            };
            tx.emit(Topic::Settings, Event::SettingsChanged { snapshot })?;
            Ok(settings)
        });
        let settings = written.await?;
        let before = self.shared.preferences();
        self.shared.models.follow(&settings);
        if before.proxy != settings.proxy || before.certificates != settings.certificates {
            self.shared.chats.changed();
        }
        self.shared.searching.follow(&settings.search);
        self.shared.chats.follow(&settings.chats);
        self.shared.library.follow(&settings);
        self.shared.browser.choose(&settings.browser).await;
        self.shared.browser.secrets().follow(&settings.site_secrets);
        self.shared.prefer(settings);
        Ok(())
    }

    /// Puts a folder first among those used lately.
    pub(super) async fn remember_folder(&self, folder: &Path) -> Result<(), ApiError> {
        let folder = folder.display().to_string();
        self.change_settings(move |_, settings| {
            settings.recent_folders.retain(|known| *known != folder);
            settings.recent_folders.insert(0, folder);
            settings.recent_folders.truncate(RECENT_FOLDERS);
            Ok(())
        })
        .await
    }
}

fn as_of_now(shared: &Shared, settings: Settings) -> Settings {
    Settings {
        search: shared.searching.as_of_now(settings.search.clone()),
        chats: shared.chats.as_of_now(settings.chats.clone()),
        ..settings
    }
}

fn apply(settings: &mut Settings, patch: SettingsPatch) {
    let SettingsPatch {
        language,
        theme,
        default_model,
        default_mode,
        default_profile,
        compact_at,
        keep_warm,
        suggestions,
        confinement,
        budgets,
        proxy,
        trash,
        sub_agents,
        live_turns,
        library,
        desktop,
        welcomed,
        onboarding,
        appearance,
        shortcuts,
        tasks,
    } = patch;
    settings.compact_at = compact_at.unwrap_or(settings.compact_at);
    settings.keep_warm = keep_warm.unwrap_or(settings.keep_warm);
    settings.suggestions = suggestions.unwrap_or(settings.suggestions);
    settings.confinement = confinement.unwrap_or(settings.confinement);
    settings.budgets = budgets.unwrap_or(settings.budgets);
    settings.language = language.unwrap_or(settings.language);
    settings.theme = theme.unwrap_or(settings.theme);
    settings.default_model = default_model.or(settings.default_model);
    settings.default_mode = default_mode.unwrap_or(settings.default_mode);
    if let Some(profile) = default_profile {
        settings.default_profile = profile;
    }
    settings.trash = trash.unwrap_or(settings.trash);
    settings.sub_agents = sub_agents.unwrap_or(settings.sub_agents);
    settings.live_turns = live_turns.unwrap_or(settings.live_turns);
    settings.library = library.unwrap_or(settings.library);
    settings.welcomed = welcomed.unwrap_or(settings.welcomed);
    settings.appearance = appearance.unwrap_or(settings.appearance);
    settings.tasks = tasks.unwrap_or(settings.tasks);
    if let Some(shortcuts) = shortcuts {
        settings.shortcuts = shortcuts;
    }
    if let Some(onboarding) = onboarding {
        settings.onboarding = onboarding;
    }
    if let Some(desktop) = desktop {
        settings.desktop = desktop;
    }
    if let Some(proxy) = proxy {
        settings.proxy = proxy;
    }
}
