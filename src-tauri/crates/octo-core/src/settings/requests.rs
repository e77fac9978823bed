//! Requests about settings and the application.

use super::LiveSettings;
use crate::{
    attachments::{attach_files, put_blob},
    library::absolute,
    models,
    reply::json,
    slash,
};
use octo_protocol::{About, ApiError, AppRequest, CommandNetwork, Commands, Language, Profiles, words};
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
                if call.patch.command_network == Some(CommandNetwork::AllowList) {
                    octo_shell::try_network(&self.base.config.supervision)
                        .await
                        .map_err(|error| ApiError::new("settings.no_command_network").detail(error))?;
                }
                let retimed = call.patch.tasks.is_some();
                self.change(move |_, settings| {
                    call.patch.apply(settings);
                    Ok(())
                })
                .await?;
                self.services.trash.expire_in_background(self.base.preferences().trash);
                if retimed {
                    self.services.tasks.notify_change();
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
                let profiles = tokio::task::spawn_blocking(move || agents.profiles()).await;
                let profiles = profiles.map_err(|error| ApiError::new("internal").detail(error))?;
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
        let skill_set = self.services.library.skill_set(absolute(folder)).await?;
        let builtin: Vec<String> = commands.iter().map(|command| command.name.clone()).collect();
        commands.extend(skill_set.commands().filter(|command| !builtin.contains(&command.name)));
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
