//! Requests about the trash.

use super::{Octo, json};
use crate::trash::picked;
use octo_protocol::{
    ApiError, Millis, Restored, TrashEntry, TrashId, TrashKind, TrashLook, TrashOverview, TrashPage,
    TrashPreview, TrashRequest, TrashRestored,
};
use octo_store::TrashFilter;
use octo_workspace::Sweep;
use serde_json::Value;
use std::path::PathBuf;

/// The most of a list that is given at a time.
const PAGE: u32 = 500;

/// A day in milliseconds.
const DAY: Millis = 24 * 60 * 60 * 1_000;

/// Messages of a session that are shown, and the most of each in characters.
const SHOWN: (u32, usize) = (6, 200);

impl Octo {
    pub(super) async fn trash(&self, request: TrashRequest) -> Result<Value, ApiError> {
        let (trash, store) = (&self.shared.trash, &self.shared.store);
        match request {
            TrashRequest::GetTrash(_) => {
                trash.look(Sweep::New).await;
                let read = store.read(|reader| {
                    Ok(TrashOverview { totals: reader.trash_totals()?, projects: reader.trash_projects()? })
                });
                json(read.await.map_err(ApiError::from)?)
            }
            TrashRequest::ListTrash(call) => {
                trash.look(Sweep::New).await;
                let filter = TrashFilter { query: call.query, kind: call.kind, project: call.project };
                let limit = call.limit.min(PAGE);
                let read = store.read(move |reader| reader.trash_page(&filter, call.offset, limit)).await;
                let (rows, found) = read.map_err(ApiError::from)?;
                json(TrashPage { entries: rows.into_iter().map(|row| row.entry).collect(), found })
            }
            TrashRequest::PreviewTrash(call) => json(self.preview_trash(call.id).await?),
            TrashRequest::RestoreTrash(call) => {
                let folder = call.to.as_deref().map(picked).transpose()?;
                let mut outcomes = Vec::new();
                for id in call.ids {
                    outcomes.push(self.restore_one(id, folder.clone(), call.on_conflict).await);
                }
                json(TrashRestored { outcomes })
            }
            TrashRequest::CountTrash(call) => {
                trash.look(Sweep::New).await;
                json(trash.count(call.which).await?)
            }
            TrashRequest::EmptyTrash(call) => json(trash.empty(call.which).await?),
        }
    }

    async fn restore_one(
        &self,
        id: TrashId,
        folder: Option<PathBuf>,
        on_conflict: octo_protocol::OnConflict,
    ) -> Restored {
        let restored = async {
            let row = self.shared.trash.row(id).await?;
            match (row.entry.kind, row.entry.session) {
                (TrashKind::File | TrashKind::Skill | TrashKind::Memory, _) => {
                    self.shared.trash.restore_file(&row, folder, on_conflict).await
                }
                (TrashKind::Session, Some(session)) => {
                    let back = self.shared.store.write(move |tx| tx.undelete(session)).await;
                    Ok(Restored::Done { id, at: back.map_err(ApiError::from)?.id.to_string() })
                }
                (TrashKind::Session, None) => Err(ApiError::new("trash.gone")),
            }
        };
        restored.await.unwrap_or_else(|error| Restored::Failed { id, error })
    }

    async fn preview_trash(&self, id: TrashId) -> Result<TrashPreview, ApiError> {
        let row = self.shared.trash.row(id).await?;
        let (look, present) = match row.entry.kind {
            TrashKind::File | TrashKind::Skill | TrashKind::Memory => {
                let look = self.shared.trash.look_at(id, self.shared.blobs.clone()).await?;
                (look, self.shared.trash.present(row.path).await?)
            }
            TrashKind::Session => (self.last_words(&row.entry).await?, None),
        };
        let days = self.shared.preferences().trash.days.map(|days| Millis::from(days.max(1)));
        let session_title = match (row.entry.kind, row.entry.session) {
            (TrashKind::File | TrashKind::Skill | TrashKind::Memory, Some(session)) => {
                let read = self.shared.store.read(move |reader| reader.session(session)).await;
                read.map_err(ApiError::from)?.map(|info| info.title)
            }
            _ => None,
        };
        let until = days.map(|days| row.entry.at.saturating_add(days * DAY));
        Ok(TrashPreview { entry: row.entry, look, present, until, session_title })
    }

    /// How a deleted session ended.
    async fn last_words(&self, entry: &TrashEntry) -> Result<TrashLook, ApiError> {
        let Some(session) = entry.session else { return Ok(TrashLook::Nothing) };
        let (messages, characters) = SHOWN;
        let read = self.shared.store.read(move |reader| reader.last_words(session, messages)).await;
        let lines = read.map_err(ApiError::from)?;
        let lines = lines.into_iter().map(|line| line.chars().take(characters).collect()).collect();
        Ok(TrashLook::Session { lines })
    }
}
