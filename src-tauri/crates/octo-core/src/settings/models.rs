//! Requests about models.

use super::LiveSettings;
use crate::models::Companion;
use crate::reply::json;
use octo_protocol::{Acknowledgement, ApiError, CompanionRole, ModelEntry, ModelId, ModelRequest, Source};
use serde_json::Value;

impl LiveSettings {
    /// Carries out a request about models.
    pub(crate) async fn models(&self, request: ModelRequest) -> Result<Value, ApiError> {
        let models = &self.services.models;
        match request {
            ModelRequest::SaveModel(call) => json(self.save_model(models.accept(call.draft).await?).await?),
            ModelRequest::TestModel(call) => json(models.test(call.draft).await),
            ModelRequest::RemoveModel(call) => {
                self.remove_model(call.model).await?;
                json(Acknowledgement {})
            }
            ModelRequest::ListPresets(_) => json(models.presets()),
            ModelRequest::FindLocalServers(_) => json(models.local_servers().await?),
            ModelRequest::ListRemoteModels(call) => json(models.remote_models(call.draft).await?),
            ModelRequest::MeasureModel(call) => json(models.measure(call.model).await?),
            ModelRequest::StopMeasuring(_) => {
                models.stop_measuring();
                json(Acknowledgement {})
            }
            ModelRequest::ChooseLightModel(call) => {
                self.known_model(call.model)?;
                self.change(move |_, settings| {
                    settings.light_model = call.model;
                    Ok(())
                })
                .await?;
                json(Acknowledgement {})
            }
            ModelRequest::AddCompanion(call) => json(self.add_companion(call.model, call.role).await?),
            ModelRequest::ChooseFallback(call) => {
                self.choose_fallback(call.model, call.fallback).await?;
                json(Acknowledgement {})
            }
        }
    }

    /// Connects the companion of a model, unless it is connected, and chooses it.
    async fn add_companion(&self, model: ModelId, role: CompanionRole) -> Result<ModelEntry, ApiError> {
        let models = &self.services.models;
        let companion = match models.companion(model, role).await? {
            Companion::Connected(id) => id,
            Companion::Draft(draft) => self.save_model(models.accept(draft).await?).await?.id,
        };
        match role {
            CompanionRole::Light => {
                self.change(move |_, settings| {
                    settings.light_model = Some(companion);
                    Ok(())
                })
                .await?;
            }
            CompanionRole::Fallback => self.choose_fallback(model, Some(companion)).await?,
        }
        let entry = models.entries().into_iter().find(|entry| entry.id == companion);
        entry.ok_or_else(|| ApiError::new("model.unknown"))
    }

    async fn save_model(&self, entry: ModelEntry) -> Result<ModelEntry, ApiError> {
        let stored_entry = entry.clone();
        // A headless run that only passes a key through names its own model: it makes no choice for the person,
        // who may never have opened Octo.
        let config = &self.base.config;
        let chooses = config.source != Source::Headless || !self.services.models.keys().is_pass_through();
        self.change(move |tx, settings| {
            tx.put_model(&stored_entry)?;
            if chooses {
                settings.default_model.get_or_insert(stored_entry.id);
                settings.welcomed = true;
            }
            Ok(())
        })
        .await?;
        self.services.models.put(entry.clone());
        Ok(entry)
    }

    /// Removes a model, its key, and every mention of it.
    async fn remove_model(&self, model: ModelId) -> Result<(), ApiError> {
        self.change(move |tx, settings| {
            tx.remove_model(model)?;
            let remaining = tx.models()?;
            if settings.default_model == Some(model) {
                settings.default_model = remaining.first().map(|entry| entry.id);
            }
            if settings.light_model == Some(model) {
                settings.light_model = None;
            }
            for entry in remaining.into_iter().filter(|entry| entry.fallback == Some(model)) {
                tx.put_model(&ModelEntry { fallback: None, ..entry })?;
            }
            Ok(())
        })
        .await?;
        self.services.models.remove(model).await
    }

    async fn choose_fallback(&self, model: ModelId, fallback: Option<ModelId>) -> Result<(), ApiError> {
        self.known_model(Some(model))?;
        self.known_model(fallback)?;
        if fallback == Some(model) {
            return Err(ApiError::new("model.fallback_itself"));
        }
        self.change(move |tx, _| match tx.models()?.into_iter().find(|entry| entry.id == model) {
            Some(entry) => tx.put_model(&ModelEntry { fallback, ..entry }),
            None => Ok(()),
        })
        .await?;
        self.services.models.set_fallback(model, fallback);
        Ok(())
    }

    /// Checks that a model, if given, exists.
    fn known_model(&self, model: Option<ModelId>) -> Result<(), ApiError> {
        match model {
            Some(id) if self.services.models.vendor_name(id).is_none() => Err(ApiError::new("model.unknown")),
            Some(_) | None => Ok(()),
        }
    }
}
