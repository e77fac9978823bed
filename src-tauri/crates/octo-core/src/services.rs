//! The parts of the application that sessions use and that do not depend on sessions.

mod trash;

use crate::{
    base::Base,
    chats::Chats,
    hooks::Hooks,
    library::Library,
    models::Models,
    rules::PersonRules,
    schedule::{HomeTasks, Schedule},
    searching::SearchConfig,
};
use octo_browsing::HomeBrowser;
use octo_documents::DocumentReader;
use octo_policy::RunningCalls;
use octo_protocol::ApiError;
use octo_shell::LoginEnvironment;
use octo_store::ToolsetRow;
use octo_tools::{Toolset, WebSearch};
use octo_trash::HomeTrash;
use octo_workspace::TimeMachine;
use secrecy::SecretString;
use std::{path::PathBuf, sync::Arc};

/// The parts of the application that sessions use and that do not depend on sessions.
pub(crate) struct Services {
    pub models: Arc<Models>,
    pub toolset: Toolset,
    /// The capability to search the web.
    pub search: WebSearch,
    /// The configured search providers.
    pub searching: Arc<SearchConfig>,
    /// The attachment to the person's browser.
    pub browser: HomeBrowser,
    /// Reads documents in separate processes.
    pub documents: DocumentReader,
    pub login: LoginEnvironment,
    /// The person's own rules.
    pub rules: Arc<PersonRules>,
    /// The calls of all sessions that run because the policy judged them.
    pub running: RunningCalls,
    /// Skills and memories.
    pub library: Library,
    pub trash: HomeTrash,
    pub time: TimeMachine,
    /// Scheduled tasks.
    pub tasks: HomeTasks,
    /// The chat services through which a person can write to Octo.
    pub chats: Arc<Chats>,
}

impl Services {
    /// Returns the task state that all parts of the application share.
    pub fn schedule(&self) -> &Schedule {
        self.tasks.schedule()
    }

    /// Returns the current tools as a row.
    pub fn toolset_row(&self) -> Result<ToolsetRow, ApiError> {
        let tools_json = serde_json::to_string(&self.toolset.definitions())
            .map_err(|error| ApiError::new("internal").detail(error))?;
        Ok(ToolsetRow { hash: self.toolset.hash(), version: self.toolset.version(), tools_json })
    }

    /// Returns the person's hooks for a session in this folder.
    pub fn hooks(&self, base: &Base, folder: PathBuf) -> Hooks {
        Hooks {
            file: base.paths.hooks(),
            folder,
            tools: self.toolset.names().collect(),
            login: self.login.clone(),
            secret_variables: base.config.secret_variables.clone(),
            supervision: base.config.supervision.clone(),
        }
    }

    /// Returns every secret Octo was given: keys of models and of search providers, tokens of chat services,
    /// passwords of sites, and the values of these environment variables.
    ///
    /// # Errors
    /// `key.not_read`: an export cannot leave out a secret that Octo cannot read.
    pub async fn secrets(&self, variables: &[String]) -> Result<Vec<SecretString>, ApiError> {
        let mut secrets = self.models.secrets().await?;
        secrets.extend(self.searching.secrets().await?);
        secrets.extend(self.chats.secrets().await?);
        secrets.extend(self.browser.secrets().values().await?);
        let values = variables.iter().filter_map(|name| std::env::var(name).ok());
        secrets.extend(values.map(SecretString::from));
        Ok(secrets)
    }
}
