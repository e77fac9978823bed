//! A session's frozen prefix: the system prompt and the tools at the beginning of every request. See
//! `crate::prompt`.

use super::{Runtime, meter::SentRequests};
use crate::library::SEARCH_TIMEOUT;
use octo_llm::ToolSchema;
use octo_protocol::ApiError;
use octo_store::StoredSession;
use octo_tools::ToolDefinition;
use std::{path::PathBuf, sync::Arc};

/// The system prompt and the tools. Clones share them.
#[derive(Clone)]
pub(super) struct Prefix {
    system: Arc<str>,
    tools: Arc<[ToolSchema]>,
}

impl Prefix {
    /// Loads the stored prefix, and the models' knowledge of it. If an update of Octo changed the tools, the
    /// prefix is frozen again, once, and the ledger records that: the model must learn the tools' present
    /// behaviour. If the folder does not answer, this waits until the session is opened next.
    pub(super) async fn load(
        runtime: &Runtime,
        stored: &StoredSession,
    ) -> Result<(Self, SentRequests), ApiError> {
        let newest_toolset = runtime.services.toolset_row()?;
        let as_stored = || -> Result<_, ApiError> {
            let (system, tools) = (stored.system.as_str().into(), schemas(&stored.toolset.tools_json)?);
            Ok((Self { system, tools }, SentRequests::default()))
        };
        if stored.toolset.hash == newest_toolset.hash {
            return as_stored();
        }
        let (profile, folder) = (stored.info.profile.clone(), PathBuf::from(&stored.info.folder));
        let new_prefix = async {
            let skill_set = runtime.services.library.skill_set(Some(folder.clone())).await?;
            // A profile deleted since then remains in effect for this session.
            Ok::<_, ApiError>(runtime.services.library.system_prompt(profile, folder, &skill_set).await.unwrap_or_else(|error| {
                tracing::warn!(session = %stored.info.id, %error, "the system prompt is kept as it was");
                stored.system.clone()
            }))
        };
        let Ok(system) = tokio::time::timeout(SEARCH_TIMEOUT, new_prefix).await else {
            tracing::warn!(session = %stored.info.id, "its folder does not answer: tools and system prompt stay");
            return as_stored();
        };
        let system = system?;
        let tools = schemas(&newest_toolset.tools_json)?;
        let (id, text) = (stored.info.id, system.clone());
        let refrozen =
            runtime.base.store.write(move |tx| tx.replace_frozen_prompt(id, &text, &newest_toolset)).await;
        refrozen?;
        tracing::info!(session = %id, from = stored.toolset.version, "tools and system prompt frozen anew");
        Ok((Self { system: system.into(), tools }, SentRequests::with_refrozen(stored.context_tokens)))
    }

    /// Creates a system prompt without tools, which no cache contains.
    pub(super) fn system_only(system: &str) -> Self {
        Self { system: system.into(), tools: Arc::from([]) }
    }

    pub(super) fn system(&self) -> &str {
        &self.system
    }

    /// Returns the estimated size in tokens.
    pub(super) fn tokens(&self) -> u64 {
        let tools: usize = self
            .tools
            .iter()
            .map(|tool| tool.name.len() + tool.description.len() + tool.parameters.to_string().len())
            .sum();
        (tools + self.system.len()) as u64 / 4
    }

    /// Returns the system prompt and the tools for a request.
    pub(super) fn into_parts(self) -> (Arc<str>, Arc<[ToolSchema]>) {
        (self.system, self.tools)
    }
}

/// Parses tools into the form sent to providers.
fn schemas(tools_json: &str) -> Result<Arc<[ToolSchema]>, ApiError> {
    let definitions: Vec<ToolDefinition> =
        serde_json::from_str(tools_json).map_err(|error| ApiError::new("session.damaged").detail(error))?;
    Ok(definitions
        .into_iter()
        .map(|tool| ToolSchema {
            name: tool.name,
            description: tool.description,
            parameters: tool.parameters,
        })
        .collect())
}
