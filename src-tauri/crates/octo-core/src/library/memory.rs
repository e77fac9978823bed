//! Operations on memories, SOUL.md and USER.md.

use super::Library;
use crate::prompt::MAX_PERSONA;
use octo_protocol::{
    ApiError, MEMORY_BODY_MAX_CHARS, Memories, MemoryCard, MemorySheet, Persona, PersonaKind, RemovedBy,
    SessionId,
};
use octo_runtime::{blocking, now};
use octo_skills::{Memory, MemoryError, NewMemory};
use octo_store::MemoryWriter;
use octo_trash::HomeTrash;
use octo_workspace::{Removal, TakenNamePolicy, private_folder, write_draft};
use std::collections::HashMap;

/// A memory to write.
pub(crate) struct MemoryDraft {
    /// Its file, or `None` for a new one.
    pub(crate) file: Option<String>,
    pub(crate) topic: String,
    pub(crate) description: String,
    pub(crate) body: String,
    /// The version of the file the writer saw, or `None` if they did not read it.
    pub(crate) version: Option<String>,
}

impl Library {
    /// Returns the memories that contain all words of `query`, newest first.
    pub(crate) async fn list_memories(&self, query: String) -> Result<Memories, ApiError> {
        let writers = self.writers().await?;
        let memories = self.0.memories.clone();
        let matches = blocking(move || Ok(memories.search(&query))).await?;
        Ok(Memories { memories: matches.iter().map(|memory| card(memory, &writers)).collect() })
    }

    /// Returns one memory.
    pub(crate) async fn memory(&self, file: String) -> Result<MemorySheet, ApiError> {
        let writers = self.writers().await?;
        let memories = self.0.memories.clone();
        blocking(move || {
            let memory = memories.get(&file).map_err(memory_error)?;
            let path = memories.path(&file).map_err(memory_error)?;
            Ok(MemorySheet {
                card: card(&memory, &writers),
                body: memory.body,
                version: memory.version,
                path: path.display().to_string(),
            })
        })
        .await
    }

    /// Records that an agent read a memory, which makes it one of the newest again.
    pub(crate) async fn recall(&self, file: String) -> Result<MemorySheet, ApiError> {
        let memories = self.0.memories.clone();
        let name = file.clone();
        blocking(move || memories.mark_recalled(&name).map_err(memory_error)).await?;
        self.memory(file).await
    }

    /// Writes a memory, for a person or a session.
    pub(crate) async fn remember(
        &self,
        draft: MemoryDraft,
        writer: Option<SessionId>,
    ) -> Result<MemorySheet, ApiError> {
        let memories = self.0.memories.clone();
        let result = blocking(move || {
            let MemoryDraft { file, topic, description, body, version } = draft;
            let new = NewMemory { topic: &topic, description: &description, body: &body };
            match (file, version) {
                (None, _) => memories.add(new),
                (Some(file), Some(version)) => memories.change(&file, new, &version),
                // Not read before: the present text is replaced.
                (Some(file), None) => {
                    let version = memories.get(&file).map_err(memory_error)?.version;
                    memories.change(&file, new, &version)
                }
            }
            .map_err(memory_error)
        })
        .await?;
        let file = result.file.clone();
        let recorded = self.0.store.write(move |tx| tx.record_memory_writer(&file, writer, now())).await;
        recorded?;
        self.notify_change();
        self.memory(result.file).await
    }

    /// Puts a memory into the trash.
    pub(crate) async fn forget(
        &self,
        file: String,
        remover: RemovedBy,
        session: Option<SessionId>,
        trash: &HomeTrash,
    ) -> Result<(), ApiError> {
        let path = self.0.memories.path(&file).map_err(memory_error)?;
        let memories = self.0.memories.clone();
        blocking(move || memories.get(&file).map(|_| ()).map_err(memory_error)).await?;
        trash.move_in(path, Removal { remover, session, project: None, command: None }).await?;
        self.notify_change();
        Ok(())
    }

    /// Returns the newest memories, one per line, for a model.
    pub(crate) async fn overview(&self) -> Result<String, ApiError> {
        let memories = self.0.memories.clone();
        blocking(move || Ok(memories.overview())).await
    }

    /// Returns SOUL.md and USER.md.
    pub(crate) async fn persona(&self) -> Result<Persona, ApiError> {
        let agents = self.0.agents.clone();
        blocking(move || {
            Ok(Persona {
                files: [PersonaKind::Soul, PersonaKind::User].map(|kind| agents.file(kind)).to_vec(),
            })
        })
        .await
    }

    /// Writes SOUL.md or USER.md; empty text restores Octo's default. The former text goes to the trash.
    pub(crate) async fn write_persona(
        &self,
        kind: PersonaKind,
        text: String,
        trash: &HomeTrash,
    ) -> Result<Persona, ApiError> {
        if text.len() > MAX_PERSONA {
            return Err(ApiError::new("memory.persona_too_long").arg("most", MAX_PERSONA / 1_000));
        }
        let path = self.0.agents.path(kind);
        let file = path.clone();
        let unwritable = move |error: std::io::Error| {
            ApiError::new("memory.unwritable").arg("path", file.display()).detail(error)
        };
        // The new text is completely on disk before the old one is removed: a full disk loses nothing.
        let draft = if text.trim().is_empty() {
            None
        } else {
            let (folder, file, unwritable) =
                (self.0.agents.folder().to_owned(), path.clone(), unwritable.clone());
            let drafted = blocking(move || {
                private_folder(&folder).map_err(&unwritable)?;
                write_draft(&file, format!("{}\n", text.trim()).as_bytes()).map_err(&unwritable)
            });
            Some(drafted.await?)
        };
        let mut old = None;
        if path.symlink_metadata().is_ok() {
            let removal = Removal { remover: RemovedBy::Person, session: None, project: None, command: None };
            old = Some(trash.move_in(path.clone(), removal).await?);
        }
        if let Some(draft) = draft
            && let Err(error) = blocking(move || draft.commit().map_err(unwritable)).await
        {
            if let Some(old) = old
                && let Err(error) = trash.restore_content(old, path, TakenNamePolicy::Refuse).await?
            {
                tracing::error!(%error, "what was there stays in the trash");
            }
            return Err(error);
        }
        self.notify_change();
        self.persona().await
    }

    async fn writers(&self) -> Result<HashMap<String, MemoryWriter>, ApiError> {
        self.0.store.read(|reader| reader.memory_writers()).await.map_err(ApiError::from)
    }
}

fn card(memory: &Memory, writers: &HashMap<String, MemoryWriter>) -> MemoryCard {
    // A deleted session cannot be opened.
    let writer = writers.get(&memory.file).filter(|writer| writer.title.is_some());
    MemoryCard {
        file: memory.file.clone(),
        topic: memory.topic.clone(),
        description: memory.description.clone(),
        at: memory.at,
        size: memory.size,
        session: writer.map(|writer| writer.session),
        title: writer.and_then(|writer| writer.title.clone()),
        preview: memory.preview(),
    }
}

/// Converts an error for the person.
fn memory_error(error: MemoryError) -> ApiError {
    let for_file = |key: &str, file: &String| ApiError::new(key).arg("file", file);
    match &error {
        MemoryError::Name(file) => for_file("memory.name", file),
        MemoryError::Missing(file) => for_file("memory.missing", file),
        MemoryError::Exists(file) => for_file("memory.taken", file),
        MemoryError::Changed(file) => for_file("memory.changed", file),
        MemoryError::Unreadable(file) => for_file("memory.unreadable", file),
        MemoryError::TooLong(length) => {
            ApiError::new("memory.too_long").arg("length", length).arg("most", MEMORY_BODY_MAX_CHARS)
        }
        MemoryError::Empty => ApiError::new("memory.empty"),
        MemoryError::Disk(error) => ApiError::new("memory.disk").detail(error),
    }
}
