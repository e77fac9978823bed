//! Requests about skills and memories.

use super::{Library, MemoryDraft};
use crate::reply::json;
use octo_protocol::{Acknowledgement, ApiError, MemoryRequest, RemovedBy, SkillRequest};
use octo_trash::HomeTrash;
use serde_json::Value;
use std::path::{Path, PathBuf};

impl Library {
    /// Carries out a request about skills.
    pub(crate) async fn skill_request(
        &self,
        request: SkillRequest,
        trash: &HomeTrash,
    ) -> Result<Value, ApiError> {
        match request {
            SkillRequest::ListSkills(call) => json(self.skills(absolute(call.folder)).await?),
            SkillRequest::GetSkill(call) => json(self.sheet(call.skill).await?),
            SkillRequest::SwitchSkill(call) => {
                self.switch(call.skill, call.on, call.automatic).await?;
                json(Acknowledgement {})
            }
            SkillRequest::AcceptSkill(call) => {
                self.accept(call.skill, &call.seen).await?;
                json(Acknowledgement {})
            }
            SkillRequest::SaveSkill(call) => json(self.save(call.skill, &call.from, call.text).await?),
            SkillRequest::GetSkillVersion(call) => json(self.version(call.skill, call.number).await?),
            SkillRequest::DeleteSkill(call) => {
                self.delete(call.skill, trash).await?;
                json(Acknowledgement {})
            }
            SkillRequest::ExportSkill(call) => json(self.export(call.skill, PathBuf::from(call.to)).await?),
            SkillRequest::InspectSkills(call) => json(self.inspect(call.from).await?),
            SkillRequest::InstallSkills(call) => {
                json(self.install(call.offer, call.names, call.replace, trash).await?)
            }
            SkillRequest::FindOtherSkills(call) => json(self.find_others(absolute(call.folder)).await?),
            SkillRequest::ImportSkills(call) => json(self.import(call.choices, trash).await?),
            SkillRequest::ListSuggestions(_) => json(self.suggestions().await?),
            SkillRequest::AnswerSuggestion(call) => {
                self.answer(call.id, call.answer).await?;
                json(Acknowledgement {})
            }
        }
    }

    /// Carries out a request about memories.
    pub(crate) async fn memory_request(
        &self,
        request: MemoryRequest,
        trash: &HomeTrash,
    ) -> Result<Value, ApiError> {
        match request {
            MemoryRequest::ListMemories(call) => json(self.list_memories(call.query).await?),
            MemoryRequest::GetMemory(call) => json(self.memory(call.file).await?),
            MemoryRequest::SaveMemory(call) => {
                let draft = MemoryDraft {
                    file: call.file,
                    topic: call.topic,
                    description: call.description,
                    body: call.body,
                    version: call.version,
                };
                json(self.remember(draft, None).await?)
            }
            MemoryRequest::DeleteMemory(call) => {
                self.forget(call.file, RemovedBy::Person, None, trash).await?;
                json(Acknowledgement {})
            }
            MemoryRequest::GetPersona(_) => json(self.persona().await?),
            MemoryRequest::SavePersona(call) => json(self.write_persona(call.kind, call.text, trash).await?),
        }
    }
}

/// Returns a client's folder, if it names one.
pub(crate) fn absolute(folder: Option<String>) -> Option<PathBuf> {
    folder.filter(|folder| Path::new(folder).is_absolute()).map(PathBuf::from)
}
