//! Requests about the trash.

use super::Services;
use crate::{base::Base, reply::json};
use octo_protocol::{
    ApiError, Millis, OnConflict, RestoreOutcome, TrashEntry, TrashExcerpt, TrashId, TrashKind,
    TrashOverview, TrashPage, TrashPreview, TrashRequest, TrashRestoreResult,
};
use octo_store::{TrashFilter, TrashRow};
use octo_trash::existing_folder;
use octo_workspace::TrashScan;
use serde_json::Value;
use std::path::PathBuf;

/// Maximum number of list entries per request.
const MAX_PAGE: u32 = 500;

/// A day in milliseconds.
const DAY: Millis = 24 * 60 * 60 * 1_000;

/// Number of a session's messages shown, and the maximum length of each in characters.
const EXCERPT_LIMITS: (u32, usize) = (6, 200);

impl Services {
    /// Carries out a request about the trash.
    pub(crate) async fn trash_request(&self, base: &Base, request: TrashRequest) -> Result<Value, ApiError> {
        let (trash, store) = (&self.trash, &base.store);
        match request {
            TrashRequest::GetTrash(_) => {
                trash.scan_and_log(TrashScan::New).await;
                let result = store.read(|reader| {
                    Ok(TrashOverview { totals: reader.trash_totals()?, projects: reader.trash_projects()? })
                });
                json(result.await?)
            }
            TrashRequest::ListTrash(call) => {
                trash.scan_and_log(TrashScan::New).await;
                let filter = TrashFilter { query: call.query, kind: call.kind, project: call.project };
                let limit = call.limit.min(MAX_PAGE);
                let result = store.read(move |reader| reader.trash_page(&filter, call.offset, limit)).await;
                let (rows, total) = result?;
                json(TrashPage { entries: rows.into_iter().map(|row| row.entry).collect(), found: total })
            }
            TrashRequest::PreviewTrash(call) => json(self.preview_trash(base, call.id).await?),
            TrashRequest::RestoreTrash(call) => {
                let folder = call.to.as_deref().map(existing_folder).transpose()?;
                let mut outcomes = Vec::new();
                for id in call.ids {
                    outcomes.push(self.restore_one(base, id, folder.clone(), call.on_conflict).await);
                }
                json(TrashRestoreResult { outcomes })
            }
            TrashRequest::CountTrash(call) => {
                trash.scan_and_log(TrashScan::New).await;
                json(trash.count(call.which).await?)
            }
            TrashRequest::EmptyTrash(call) => json(trash.empty(call.which).await?),
        }
    }

    async fn restore_one(
        &self,
        base: &Base,
        id: TrashId,
        folder: Option<PathBuf>,
        on_conflict: OnConflict,
    ) -> RestoreOutcome {
        let restored = async {
            let row = self.trash.row(id).await?;
            match (row.entry.kind, row.entry.session) {
                (TrashKind::File | TrashKind::Skill | TrashKind::Memory, _) => {
                    self.trash.restore_file(&row, folder, on_conflict).await
                }
                (TrashKind::Task, _) => self.restore_task(&row, folder, on_conflict).await,
                (TrashKind::Session, Some(session)) => {
                    let result = base.store.write(move |tx| tx.undelete(session)).await;
                    Ok(RestoreOutcome::Done { id, at: result?.id.to_string() })
                }
                (TrashKind::Session, None) => Err(ApiError::new("trash.gone")),
            }
        };
        restored.await.unwrap_or_else(|error| RestoreOutcome::Failed { id, error })
    }

    /// Restores a scheduled task from the trash. If a scheduled time passed meanwhile it returns paused, so
    /// that nothing runs unexpectedly.
    async fn restore_task(
        &self,
        row: &TrashRow,
        folder: Option<PathBuf>,
        on_conflict: OnConflict,
    ) -> Result<RestoreOutcome, ApiError> {
        let (trash, tasks) = (&self.trash, &self.tasks);
        let outcome = match (folder, on_conflict) {
            // Task files are not named like other files when both are kept.
            (None, OnConflict::KeepBoth) => {
                let free_path = tasks.unused_path(&row.entry.name).await?;
                trash.restore_to(row, free_path, OnConflict::Ask).await?
            }
            (folder, on_conflict) => trash.restore_file(row, folder, on_conflict).await?,
        };
        match outcome {
            RestoreOutcome::Done { id, at } => {
                // The file is already restored, whatever the state of its task.
                let paused = tasks.update_restored(PathBuf::from(&at), row.entry.at).await;
                Ok(match paused {
                    Ok(Some(task)) => RestoreOutcome::Paused { id, at, task },
                    Ok(None) => RestoreOutcome::Done { id, at },
                    Err(error) => {
                        tracing::warn!(%error, "a task that came back was not looked at");
                        RestoreOutcome::Done { id, at }
                    }
                })
            }
            other => Ok(other),
        }
    }

    async fn preview_trash(&self, base: &Base, id: TrashId) -> Result<TrashPreview, ApiError> {
        let row = self.trash.row(id).await?;
        let (preview, is_present) = match row.entry.kind {
            TrashKind::File | TrashKind::Skill | TrashKind::Memory | TrashKind::Task => {
                let preview = self.trash.preview(id, base.blobs.clone()).await?;
                (preview, self.trash.item_at_path(row.path).await?)
            }
            TrashKind::Session => (session_excerpt(base, &row.entry).await?, None),
        };
        let days = base.preferences().trash.days.map(|days| Millis::from(days.max(1)));
        let session_title = match (row.entry.kind, row.entry.session) {
            (TrashKind::File | TrashKind::Skill | TrashKind::Memory | TrashKind::Task, Some(session)) => {
                let result = base.store.read(move |reader| reader.session(session)).await;
                result?.map(|info| info.title)
            }
            _ => None,
        };
        let counted_from = self.trash.effective_deletion_time(row.entry.at).await?;
        let until = days.map(|days| counted_from.saturating_add(days * DAY));
        Ok(TrashPreview { entry: row.entry, look: preview, present: is_present, until, session_title })
    }
}

/// Returns the last messages of a deleted session.
async fn session_excerpt(base: &Base, entry: &TrashEntry) -> Result<TrashExcerpt, ApiError> {
    let Some(session) = entry.session else { return Ok(TrashExcerpt::Nothing) };
    let (messages, characters) = EXCERPT_LIMITS;
    let result = base.store.read(move |reader| reader.last_texts(session, messages)).await;
    let lines = result?;
    let lines = lines.into_iter().map(|line| line.chars().take(characters).collect()).collect();
    Ok(TrashExcerpt::Session { lines })
}
