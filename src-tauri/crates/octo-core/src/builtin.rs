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
const MAX_ANSWER_CHARS: usize = 30_000;

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
    pub(crate) recipient: ReportRecipient,
}

/// Whether an agent's builtin commands are reported.
#[derive(Clone)]
pub(crate) enum ReportRecipient {
    None,
    Channel(mpsc::UnboundedSender<BuiltinReport>),
}

/// A reported effect of a builtin command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BuiltinReport {
    /// It wrote this memory.
    MemoryWritten(String),
    /// It proposed a skill.
    SkillProposed(SuggestionId),
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

    fn report(&self, report: BuiltinReport) {
        match &self.client.recipient {
            ReportRecipient::None => {}
            // A receiver that has ended needs no report.
            ReportRecipient::Channel(sender) => drop(sender.send(report)),
        }
    }
}

impl BuiltinCommands for HomeCommands {
    fn preview(
        &self,
        command: &BuiltinCommand,
        origin: &CommandOrigin,
    ) -> BoxFuture<'static, Result<ToolView, ToolError>> {
        let (commands, command, origin) = (self.clone(), command.clone(), origin.clone());
        Box::pin(async move { commands.view(command, &origin).await })
    }

    fn execute(
        &self,
        command: BuiltinCommand,
        origin: CommandOrigin,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<String, ToolError>> {
        let commands = self.clone();
        Box::pin(async move {
            if cancel.is_cancelled() {
                return Err(ToolError::new("Stopped before it began; nothing was changed."));
            }
            let text = match command {
                BuiltinCommand::Skill(command) => commands.skill(command, &origin).await,
                BuiltinCommand::Memory(command) => commands.memory(command, &origin).await,
                BuiltinCommand::Persona(command) => commands.persona(command).await,
                BuiltinCommand::Task(command) => commands.task(command, &origin).await,
                BuiltinCommand::Browser(query) => commands.browser(query).await,
                BuiltinCommand::Settings(query) => settings::answer(&commands.base.preferences(), query),
            }?;
            Ok(shorten(text))
        })
    }
}

impl HomeCommands {
    /// Returns a preview of the effect, for the person who is asked.
    async fn view(&self, command: BuiltinCommand, origin: &CommandOrigin) -> Result<ToolView, ToolError> {
        match command {
            BuiltinCommand::Skill(command) => self.skill_view(command, origin).await,
            BuiltinCommand::Memory(command) => self.memory_view(command).await,
            BuiltinCommand::Persona(command) => self.persona_view(command).await,
            BuiltinCommand::Task(command) => self.task_view(command, origin).await,
            BuiltinCommand::Browser(_) | BuiltinCommand::Settings(_) => {
                Ok(ToolView::Plain { text: String::new() })
            }
        }
    }

    /// Returns the session known to the person: for a sub-agent its parent.
    async fn writer(&self, origin: &CommandOrigin) -> SessionId {
        let id = origin.session;
        let sub_agent = self.base.store.read(move |reader| reader.sub_agent(id)).await;
        sub_agent.ok().flatten().map_or(id, |sub_agent| sub_agent.origin.session)
    }
}

fn diff(path: &Path, old: Option<&str>, new: &str) -> ToolView {
    ToolView::Diff(octo_workspace::diff(path, old.map(str::as_bytes), new.as_bytes()))
}

fn shorten(text: String) -> String {
    if text.chars().count() <= MAX_ANSWER_CHARS {
        return text;
    }
    let beginning: String = text.chars().take(MAX_ANSWER_CHARS).collect();
    format!("{beginning}\n(cut here)")
}

/// Returns an error in English, which the model reads whatever the window's language.
fn english_text(error: &ApiError) -> String {
    let args = error.args.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let prefixed = format!("error.{}", error.key);
    let text = words::say(octo_protocol::Language::En, &prefixed, &args);
    if text == prefixed { words::say(octo_protocol::Language::En, &error.key, &args) } else { text }
}

fn tool_error(error: ApiError) -> ToolError {
    let detail = error.detail.as_deref().map(|detail| format!(" ({detail})")).unwrap_or_default();
    ToolError::new(format!("{}{detail}", english_text(&error)))
}
