//! Requests about reading, branching, exporting and importing conversations.

use super::{Sessions, unknown_session};
use crate::{export, naming, reply::json};
use octo_protocol::{
    ApiError, BranchPoint, ImportPreview, Mode, SessionId, SessionInfo, Source, TranscriptRequest,
};
use octo_runtime::now;
use octo_store::{NewBranch, NewImport, NewSession, StoreError};
use octo_transfer::ImportedSession;
use octo_workspace::session_folder;
use serde_json::Value;
use std::path::{Path, PathBuf};

impl Sessions {
    /// Carries out a request about conversations.
    pub(crate) async fn transcripts(&self, request: TranscriptRequest) -> Result<Value, ApiError> {
        let language = self.runtime.base.preferences().language;
        match request {
            TranscriptRequest::ReadTranscript(call) => {
                let limit = call.limit.clamp(1, 500);
                let result = self
                    .runtime
                    .base
                    .store
                    .read(move |reader| reader.transcript_part(call.session, call.place, limit));
                json(result.await?)
            }
            TranscriptRequest::BranchSession(call) => json(self.branch(call.session, call.at).await?),
            TranscriptRequest::PreviewExport(call) => {
                let session =
                    export::gather(&self.runtime.base, &self.runtime.services, call.session).await?;
                json(session.preview(call.form, language).await?)
            }
            TranscriptRequest::ExportSession(call) => {
                let session =
                    export::gather(&self.runtime.base, &self.runtime.services, call.session).await?;
                let unfinished = self.runtime.base.unfinished_writes.clone();
                json(session.write(call.form, language, PathBuf::from(call.to), unfinished).await?)
            }
            TranscriptRequest::InspectSessionFile(call) => json(self.inspect_file(call.from).await?),
            TranscriptRequest::ImportSession(call) => {
                json(self.import_session(call.from, &call.folder).await?)
            }
        }
    }

    /// Creates a session that continues from a point in another one's conversation.
    async fn branch(&self, from: SessionId, point: BranchPoint) -> Result<SessionInfo, ApiError> {
        self.check_owned_here(from).await?;
        let result = self.runtime.base.store.read(move |reader| reader.session(from)).await;
        let original = result?.ok_or_else(unknown_session)?;
        if original.source == Source::Demo {
            return Err(ApiError::new("session.branch_demo"));
        }
        let source = self.runtime.base.config.source;
        let created = self.runtime.base.store.write(move |tx| {
            let origin = tx.session(from)?.ok_or(StoreError::UnknownSession(from))?;
            let created_at = now();
            let info = SessionInfo {
                title: tx.free_title(&origin.title)?,
                profile: origin.profile,
                mode: origin.mode,
                model: origin.model,
                effort: origin.effort,
                read_at: Some(created_at),
                ..SessionInfo::new(SessionId::new(), origin.folder, source, created_at)
            };
            tx.create_branch(&NewBranch { info: info.clone(), from, at: point })?;
            Ok(info)
        });
        created.await.map_err(|error| match error {
            // The message exists, but no model ever saw it, so no conversation can continue from it.
            StoreError::UnknownMessage(_) => ApiError::new("session.branch_unseen"),
            other => ApiError::from(other),
        })
    }

    async fn inspect_file(&self, source: String) -> Result<ImportPreview, ApiError> {
        Ok(read_file(source).await?.preview)
    }

    /// Creates a session with the conversation of a file.
    async fn import_session(&self, source: String, folder: &str) -> Result<SessionInfo, ApiError> {
        let folder = session_folder(Path::new(folder))?;
        let model = self.model_or_default(None).await?;
        let file = Path::new(&source).file_name().map(|name| name.to_string_lossy().into_owned());
        let incoming = read_file(source).await?;
        let agents = self.runtime.services.library.agents().clone();
        let profiles = tokio::task::spawn_blocking(move || agents.profiles()).await;
        let profiles = profiles.map_err(|error| ApiError::new("internal").detail(error))?;
        let profile = incoming.profile.filter(|profile| profiles.iter().any(|info| info.profile == *profile));
        let profile = profile.unwrap_or_default();
        let skill_set = self.runtime.services.library.skill_set(Some(folder.clone())).await?;
        let system =
            self.runtime.services.library.system_prompt(profile.clone(), folder.clone(), &skill_set).await?;
        let (blobs, pictures) = (self.runtime.base.blobs.clone(), incoming.pictures);
        let result = tokio::task::spawn_blocking(move || {
            pictures.iter().try_for_each(|bytes| blobs.put(bytes).map(|_| ()))
        });
        result
            .await
            .map_err(|error| ApiError::new("internal").detail(error))?
            .map_err(|error| ApiError::new("blob.not_kept").detail(error))?;
        let created_at = now();
        let info = SessionInfo {
            title: incoming.title,
            profile,
            // Whatever its mode was at its origin.
            mode: Mode::AskRisky,
            model: Some(model),
            created_at: incoming.created_at.clamp(0, created_at),
            read_at: Some(created_at),
            ..SessionInfo::new(SessionId::new(), folder.display().to_string(), incoming.source, created_at)
        };
        let session =
            NewSession { info: info.clone(), system, toolset: self.runtime.services.toolset_row()? };
        let new = NewImport { session, file: file.unwrap_or_default(), conversation: incoming.conversation };
        let created = self.runtime.base.store.write(move |tx| tx.create_import(&new));
        created.await?;
        self.settings.remember_folder(&folder).await?;
        Ok(info)
    }
}

async fn read_file(source: String) -> Result<ImportedSession, ApiError> {
    let read =
        tokio::task::spawn_blocking(move || octo_transfer::read(Path::new(&source), naming::given_title));
    read.await.map_err(|error| ApiError::new("internal").detail(error))?
}
