//! `octo memory …` and `octo persona …`: an agent's work with memories, SOUL.md and USER.md.

use super::{BuiltinReport, HomeCommands, diff, tool_error};
use crate::library::MemoryDraft;
use octo_protocol::{PersonaKind, RemovedBy, ToolView};
use octo_runtime::blocking;
use octo_tools::{CommandOrigin, MemoryCommand, PersonaCommand, ToolError};
use std::{
    fmt::Write,
    path::{Path, PathBuf},
};

impl HomeCommands {
    /// Returns a preview of a memory command's effect, for the person who is asked.
    pub(super) async fn memory_view(&self, command: MemoryCommand) -> Result<ToolView, ToolError> {
        let library = &self.library;
        match command {
            MemoryCommand::Save { file, body, topic, .. } => {
                let before = match &file {
                    Some(file) => Some(library.memory(file.clone()).await.map_err(tool_error)?),
                    None => None,
                };
                let path = match &before {
                    Some(memory) => PathBuf::from(&memory.path),
                    None => self.base.paths.memories().join(topic),
                };
                Ok(diff(&path, before.as_ref().map(|memory| memory.body.as_str()), &body))
            }
            MemoryCommand::Delete { file } => {
                let memory = library.memory(file).await.map_err(tool_error)?;
                Ok(diff(Path::new(&memory.path), Some(&memory.body), ""))
            }
            MemoryCommand::List { .. } | MemoryCommand::Read { .. } => {
                Ok(ToolView::Plain { text: String::new() })
            }
        }
    }

    /// Executes a memory command; the text is for the model.
    pub(super) async fn memory(
        &self,
        command: MemoryCommand,
        origin: &CommandOrigin,
    ) -> Result<String, ToolError> {
        let (library, trash) = (&self.library, &self.trash);
        match command {
            MemoryCommand::List { query } => {
                let matches = library.list_memories(query.unwrap_or_default()).await.map_err(tool_error)?;
                if matches.memories.is_empty() {
                    return Ok("No memories.".to_owned());
                }
                Ok(matches
                    .memories
                    .iter()
                    .map(|memory| format!("- {} | {}: {}\n", memory.file, memory.topic, memory.description))
                    .collect())
            }
            MemoryCommand::Read { file } => {
                let memory = library.recall(file).await.map_err(tool_error)?;
                Ok(format!(
                    "topic: {}\ndescription: {}\n\n{}",
                    memory.card.topic, memory.card.description, memory.body
                ))
            }
            MemoryCommand::Save { file, topic, description, body } => {
                let draft = MemoryDraft { file, topic, description, body, version: None };
                let writer = self.writer(origin).await;
                let saved = library.remember(draft, Some(writer)).await.map_err(tool_error)?;
                self.report(BuiltinReport::MemoryWritten(saved.card.file.clone()));
                Ok(format!("Remembered in {}.", saved.card.file))
            }
            MemoryCommand::Delete { file } => {
                let result = library.forget(file.clone(), RemovedBy::Agent, Some(origin.session), trash);
                result.await.map_err(tool_error)?;
                Ok(format!("{file} is in the trash."))
            }
        }
    }

    /// Returns a preview of the effect of a command on SOUL.md and USER.md, for the person who is asked.
    pub(super) async fn persona_view(&self, command: PersonaCommand) -> Result<ToolView, ToolError> {
        let library = &self.library;
        match command {
            PersonaCommand::Write { kind, text } => {
                let agents = library.agents().clone();
                let file = blocking(move || Ok(agents.file(kind))).await.map_err(tool_error)?;
                let current = if file.text.is_empty() { &file.standard } else { &file.text };
                Ok(diff(Path::new(&file.path), Some(current), &text))
            }
            PersonaCommand::Show => Ok(ToolView::Plain { text: String::new() }),
        }
    }

    /// Executes a command on SOUL.md and USER.md; the text is for the model.
    pub(super) async fn persona(&self, command: PersonaCommand) -> Result<String, ToolError> {
        let (library, trash) = (&self.library, &self.trash);
        match command {
            PersonaCommand::Show => {
                let persona = library.persona().await.map_err(tool_error)?;
                let mut text = String::new();
                for file in persona.files {
                    let name = persona_name(file.kind);
                    let (content, origin) = match file.text.as_str() {
                        "" => (file.standard.as_str(), "Octo's own words"),
                        text => (text, "the person's"),
                    };
                    // Writing to a string cannot fail.
                    let _written = write!(text, "# {name} ({origin})\n\n{content}\n\n");
                }
                Ok(text)
            }
            PersonaCommand::Write { kind, text } => {
                library.write_persona(kind, text, trash).await.map_err(tool_error)?;
                Ok(format!(
                    "{} is written. Sessions that begin from now on start with it.",
                    persona_name(kind)
                ))
            }
        }
    }
}

fn persona_name(kind: PersonaKind) -> &'static str {
    match kind {
        PersonaKind::Soul => "SOUL.md",
        PersonaKind::User => "USER.md",
    }
}
