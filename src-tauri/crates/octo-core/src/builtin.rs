//! The built-in `octo …` commands, which the terminal tool answers in this process. With them an agent works
//! with skills, memories and tasks, and asks about the browser and the settings.

mod browser;
mod memory;
mod settings;
mod skills;
mod tasks;

use crate::{base::Base, library::Library, schedule::HomeTasks, services::Services};
use futures::future::BoxFuture;
use octo_browsing::HomeBrowser;
use octo_protocol::{ApiError, SessionId, SuggestionId, ToolView, TurnId, words};
use octo_tools::{BuiltinCommand, BuiltinCommands, CommandOrigin, ToolError};
use octo_trash::HomeTrash;
use std::{path::Path, sync::Arc};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Maximum length of an answer, in characters.
const MOST: usize = 30_000;

/// The built-in commands of a home, for one client.
#[derive(Clone)]
pub(crate) struct HomeCommands {
    base: Arc<Base>,
    library: Library,
    trash: HomeTrash,
    tasks: HomeTasks,
    browser: HomeBrowser,
    client: Client,
}

/// On whose behalf an agent runs a command.
#[derive(Clone)]
pub(crate) struct Client {
    /// The turn the person asked for; for a sub-agent its parent's. `None` between turns.
    pub(crate) turn: Option<TurnId>,
    /// The recipient of reports about executed commands.
    pub(crate) witness: Witness,
}

/// Whether an agent's builtin commands are reported.
#[derive(Clone)]
pub(crate) enum Witness {
    Nobody,
    Told(mpsc::UnboundedSender<Deed>),
}

/// A reported effect of a builtin command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// It wrote this memory.
    Remembered(String),
    /// It proposed a skill.
    Proposed(SuggestionId),
}

impl HomeCommands {
    /// Creates the application's commands for this client.
    pub(crate) fn new(base: Arc<Base>, services: &Services, client: Client) -> Self {
        Self {
            base,
            library: services.library.clone(),
            trash: services.trash.clone(),
            tasks: services.tasks.clone(),
            browser: services.browser.clone(),
            client,
        }
    }

    fn done(&self, deed: Deed) {
        match &self.client.witness {
            Witness::Nobody => {}
            // A receiver that has ended needs no report.
            Witness::Told(told) => drop(told.send(deed)),
        }
    }
}

impl BuiltinCommands for HomeCommands {
    fn preview(
        &self,
        errand: &BuiltinCommand,
        asker: &CommandOrigin,
    ) -> BoxFuture<'static, Result<ToolView, ToolError>> {
        let (desk, errand, asker) = (self.clone(), errand.clone(), asker.clone());
        Box::pin(async move { desk.view(errand, &asker).await })
    }

    fn execute(
        &self,
        errand: BuiltinCommand,
        asker: CommandOrigin,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<String, ToolError>> {
        let desk = self.clone();
        Box::pin(async move {
            if cancel.is_cancelled() {
                return Err(ToolError::new("Stopped before it began; nothing was changed."));
            }
            let text = match errand {
                BuiltinCommand::Skill(errand) => desk.skill(errand, &asker).await,
                BuiltinCommand::Memory(errand) => desk.memory(errand, &asker).await,
                BuiltinCommand::Persona(errand) => desk.persona(errand).await,
                BuiltinCommand::Task(errand) => desk.task(errand, &asker).await,
                BuiltinCommand::Browser(query) => desk.browser(query).await,
                BuiltinCommand::Settings(query) => settings::answer(&desk.base.preferences(), query),
            }?;
            Ok(capped(text))
        })
    }
}

impl HomeCommands {
    /// Returns a preview of the effect, for the person who is asked.
    async fn view(&self, errand: BuiltinCommand, asker: &CommandOrigin) -> Result<ToolView, ToolError> {
        match errand {
            BuiltinCommand::Skill(errand) => self.skill_view(errand, asker).await,
            BuiltinCommand::Memory(errand) => self.memory_view(errand).await,
            BuiltinCommand::Persona(errand) => self.persona_view(errand).await,
            BuiltinCommand::Task(errand) => self.task_view(errand, asker).await,
            BuiltinCommand::Browser(_) | BuiltinCommand::Settings(_) => {
                Ok(ToolView::Plain { text: String::new() })
            }
        }
    }

    /// Returns the session known to the person: for a sub-agent its parent.
    async fn writer(&self, asker: &CommandOrigin) -> SessionId {
        let id = asker.session;
        let fork = self.base.store.read(move |reader| reader.sub_agent(id)).await;
        fork.ok().flatten().map_or(id, |fork| fork.origin.session)
    }
}

fn diff(path: &Path, before: Option<&str>, after: &str) -> ToolView {
    ToolView::Diff(octo_workspace::diff(path, before.map(str::as_bytes), after.as_bytes()))
}

fn capped(text: String) -> String {
    if text.chars().count() <= MOST {
        return text;
    }
    let kept: String = text.chars().take(MOST).collect();
    format!("{kept}\n(cut here)")
}

/// Returns an error in English, which the model reads whatever the window's language.
fn in_english(error: &ApiError) -> String {
    let args = error.args.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let prefixed = format!("error.{}", error.key);
    let said = words::say(octo_protocol::Language::En, &prefixed, &args);
    if said == prefixed { words::say(octo_protocol::Language::En, &error.key, &args) } else { said }
}

fn told(error: ApiError) -> ToolError {
    let detail = error.detail.as_deref().map(|detail| format!(" ({detail})")).unwrap_or_default();
    ToolError::new(format!("{}{detail}", in_english(&error)))
}
