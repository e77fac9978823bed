//! Requests about skills and memories.

use super::{Octo, json};
use crate::library::MemoryDraft;
use octo_protocol::{Acknowledgement, ApiError, MemoryRequest, RemovedBy, SkillRequest};
use serde_json::Value;
use std::path::{Path, PathBuf};

impl Octo {
    pub(super) async fn skills(&self, request: SkillRequest) -> Result<Value, ApiError> {
        let (library, trash) = (&self.services.library, &self.services.trash);
        match request {
            SkillRequest::ListSkills(call) => json(library.skills(absolute(call.folder)).await?),
            SkillRequest::GetSkill(call) => json(library.sheet(call.skill).await?),
            SkillRequest::SwitchSkill(call) => {
                library.switch(call.skill, call.on, call.automatic).await?;
                json(Acknowledgement {})
            }
            SkillRequest::AcceptSkill(call) => {
                library.accept(call.skill, &call.seen).await?;
                json(Acknowledgement {})
            }
            SkillRequest::SaveSkill(call) => json(library.save(call.skill, &call.from, call.text).await?),
            SkillRequest::GetSkillVersion(call) => json(library.version(call.skill, call.number).await?),
            SkillRequest::DeleteSkill(call) => {
                library.delete(call.skill, trash).await?;
                json(Acknowledgement {})
            }
            SkillRequest::ExportSkill(call) => {
                json(library.export(call.skill, PathBuf::from(call.to)).await?)
            }
            SkillRequest::InspectSkills(call) => json(library.inspect(call.from).await?),
            SkillRequest::InstallSkills(call) => {
                json(library.install(call.offer, call.names, call.replace, trash).await?)
            }
            SkillRequest::FindOtherSkills(call) => json(library.find_others(absolute(call.folder)).await?),
            SkillRequest::ImportSkills(call) => json(library.import(call.choices, trash).await?),
            SkillRequest::ListSuggestions(_) => json(library.suggestions().await?),
            SkillRequest::AnswerSuggestion(call) => {
                library.answer(call.id, call.answer).await?;
                json(Acknowledgement {})
            }
        }
    }

    pub(super) async fn memory(&self, request: MemoryRequest) -> Result<Value, ApiError> {
        let (library, trash) = (&self.services.library, &self.services.trash);
        match request {
            MemoryRequest::ListMemories(call) => json(library.list_memories(call.query).await?),
            MemoryRequest::GetMemory(call) => json(library.memory(call.file).await?),
            MemoryRequest::SaveMemory(call) => {
                let draft = MemoryDraft {
                    file: call.file,
                    topic: call.topic,
                    description: call.description,
                    body: call.body,
                    version: call.version,
                };
                json(library.remember(draft, None).await?)
            }
            MemoryRequest::DeleteMemory(call) => {
                library.forget(call.file, RemovedBy::Person, None, trash).await?;
                json(Acknowledgement {})
            }
            MemoryRequest::GetPersona(_) => json(library.persona().await?),
            MemoryRequest::SavePersona(call) => {
                json(library.write_persona(call.kind, call.text, trash).await?)
            }
        }
    }
}

/// Returns a client's folder, if it names one.
pub(super) fn absolute(folder: Option<String>) -> Option<PathBuf> {
    folder.filter(|folder| Path::new(folder).is_absolute()).map(PathBuf::from)
}
