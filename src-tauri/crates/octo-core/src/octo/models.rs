//! Requests about models.

use super::{Octo, json};
use octo_protocol::{ApiError, Done, ModelRequest};
use serde_json::Value;

impl Octo {
    pub(super) async fn models(&self, request: ModelRequest) -> Result<Value, ApiError> {
        match request {
            ModelRequest::SaveModel(call) => {
                let entry = self.shared.models.accept(call.draft).await?;
                let stored = entry.clone();
                self.change_settings(move |tx, settings| {
                    tx.put_model(&stored)?;
                    if settings.default_model.is_none() {
                        settings.default_model = Some(stored.id);
                    }
                    settings.welcomed = true;
                    Ok(())
                })
                .await?;
                self.shared.models.put(entry.clone());
                json(entry)
            }
            ModelRequest::TestModel(call) => json(self.shared.models.test(call.draft).await),
            ModelRequest::RemoveModel(call) => {
                let model = call.model;
                self.change_settings(move |tx, settings| {
                    tx.remove_model(model)?;
                    if settings.default_model == Some(model) {
                        settings.default_model = tx.models()?.first().map(|entry| entry.id);
                    }
                    Ok(())
                })
                .await?;
                self.shared.models.remove(model).await?;
                json(Done {})
            }
        }
    }
}
