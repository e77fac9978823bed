//! Requests about settings and the application.

use super::LiveSettings;
use crate::{
    attachments::{attach_files, put_blob},
    library::absolute,
    models,
    reply::json,
    slash,
};
use octo_protocol::{
    About, ApiError, AppRequest, Commands, Language, Profiles, Settings, SettingsPatch, words,
};
use serde_json::Value;

impl LiveSettings {
    /// Carries out a request about settings and the application.
    pub(crate) async fn app(&self, request: AppRequest) -> Result<Value, ApiError> {
        match request {
            AppRequest::GetSettings(_) => json(self.snapshot().await?.1),
            AppRequest::ChangeSettings(call) => {
                call.patch.proxy.as_ref().map_or(Ok(()), models::check_proxy)?;
                if !call.patch.shortcuts.as_ref().is_none_or(octo_protocol::are_valid) {
                    return Err(ApiError::new("settings.shortcut_wrong"));
                }
                let retimed = call.patch.tasks.is_some();
                self.change(move |_, settings| {
                    apply(settings, call.patch);
                    Ok(())
                })
                .await?;
                self.services.trash.expire_in_background(self.base.preferences().trash);
                if retimed {
                    self.services.tasks.changed();
                }
                json(self.snapshot().await?.1)
            }
            AppRequest::TrustCertificates(call) => {
                self.trust(call.source).await?;
                json(self.snapshot().await?.1)
            }
            AppRequest::TryProxy(call) => json(self.try_proxy(call.proxy).await?),
            AppRequest::SaveSearchProvider(call) => json(self.save_search_provider(call.draft).await?),
            AppRequest::RemoveSearchProvider(call) => json(self.remove_search_provider(call.kind).await?),
            AppRequest::OrderSearchProviders(call) => json(self.order_search_providers(call.order).await?),
            AppRequest::GetAbout(_) => json(self.about()),
            AppRequest::ListCommands(call) => json(self.commands(call.folder).await?),
            AppRequest::ListProfiles(_) => {
                let agents = self.services.library.agents().clone();
                let listed = tokio::task::spawn_blocking(move || agents.profiles()).await;
                let profiles = listed.map_err(|error| ApiError::new("internal").detail(error))?;
                json(Profiles { profiles })
            }
            AppRequest::PutBlob(call) => {
                json(put_blob(self.base.blobs.clone(), &call.base64, call.name).await?)
            }
            AppRequest::AttachFiles(call) => json(attach_files(self.base.blobs.clone(), call.paths).await?),
        }
    }

    /// Returns the built-in commands, then the skills a person may call. For equal names the built-in one
    /// counts.
    async fn commands(&self, folder: Option<String>) -> Result<Commands, ApiError> {
        let mut commands = slash::commands();
        let shelf = self.services.library.skill_set(absolute(folder)).await?;
        let own: Vec<String> = commands.iter().map(|command| command.name.clone()).collect();
        commands.extend(shelf.commands().filter(|command| !own.contains(&command.name)));
        Ok(Commands { commands })
    }

    fn about(&self) -> About {
        let system_language = match words::resolve_language(Language::System) {
            Language::Zh => "zh",
            Language::En | Language::System => "en",
        };
        About {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            home: self.base.config.home.display().to_string(),
            user_home: std::env::home_dir().unwrap_or_default().display().to_string(),
            system_language: system_language.to_owned(),
        }
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
