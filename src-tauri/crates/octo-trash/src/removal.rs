//! Restores entries of the trash, or deletes them permanently.

use crate::{
    HomeTrash, expiry,
    home_trash::{BATCH, explain_error, unreadable},
};
use octo_protocol::{
    ApiError, ConflictingFile, EmptyReport, Millis, OnConflict, RemovedBy, RestoreOutcome, SessionId,
    TrashChoice, TrashExcerpt, TrashId, TrashTotals,
};
use octo_runtime::blocking;
use octo_store::TrashRow;
use octo_workspace::{
    Blobs, ItemPreview, OccupyingItem, Removal, TakenNamePolicy, TrashError, TrashScan, path_of,
};
use std::{
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

impl HomeTrash {
    /// Returns one entry.
    pub async fn row(&self, id: TrashId) -> Result<TrashRow, ApiError> {
        let row = self.store.read(move |reader| reader.trash_row(id)).await?;
        row.ok_or_else(|| ApiError::new("trash.gone"))
    }

    /// Restores a file to its original path or into `folder`.
    pub async fn restore_file(
        &self,
        row: &TrashRow,
        folder: Option<PathBuf>,
        on_conflict: OnConflict,
    ) -> Result<RestoreOutcome, ApiError> {
        let original = self.home_location.current_path(&path_of(row.path.clone()));
        let target = match (folder, original.file_name()) {
            (Some(folder), Some(name)) => folder.join(name),
            _ => original,
        };
        self.restore_to(row, target, on_conflict).await
    }

    /// Restores a file to exactly this path.
    pub async fn restore_to(
        &self,
        row: &TrashRow,
        target: PathBuf,
        on_conflict: OnConflict,
    ) -> Result<RestoreOutcome, ApiError> {
        let id = row.entry.id;
        let replaced = Removal {
            remover: RemovedBy::Person,
            session: None,
            project: row.entry.project.clone(),
            command: None,
        };
        let taken_name_policy = match on_conflict {
            OnConflict::Ask => TakenNamePolicy::Refuse,
            OnConflict::Replace => TakenNamePolicy::Replace(replaced),
            OnConflict::KeepBoth => TakenNamePolicy::KeepBoth,
        };
        match self.restore_content(id, target, taken_name_policy).await? {
            Ok(path) => Ok(RestoreOutcome::Done { id, at: path.to_string_lossy().into_owned() }),
            Err(TrashError::Taken(present)) => {
                Ok(RestoreOutcome::Taken { id, present: to_conflicting_file(&present) })
            }
            Err(error) => Ok(RestoreOutcome::Failed { id, error: explain_error(&error) }),
        }
    }

    /// Restores a file and deletes its entry; a replaced file gets an entry.
    pub async fn restore_content(
        &self,
        id: TrashId,
        target: PathBuf,
        taken_name_policy: TakenNamePolicy,
    ) -> Result<Result<PathBuf, TrashError>, ApiError> {
        let files = self.files.clone();
        let outcome = blocking(move || Ok(files.restore(id, &target, &taken_name_policy))).await?;
        match outcome {
            Ok(restored) => {
                self.store.write(move |tx| tx.trash_drop(&[id])).await?;
                if restored.replaced.is_some() {
                    self.scan(TrashScan::New).await?;
                }
                Ok(Ok(restored.path))
            }
            Err(error) => {
                if matches!(error, TrashError::Gone) {
                    self.store.write(move |tx| tx.trash_drop(&[id])).await?;
                }
                Ok(Err(error))
            }
        }
    }

    /// Returns the totals of these entries.
    pub async fn count(&self, choice: TrashChoice) -> Result<TrashTotals, ApiError> {
        self.store.read(move |reader| reader.trash_count(&choice)).await.map_err(ApiError::from)
    }

    /// Permanently deletes entries, oldest first. Entries that cannot be deleted stay.
    pub async fn empty(&self, choice: TrashChoice) -> Result<EmptyReport, ApiError> {
        let _one_at_a_time = self.empty_lock.lock().await;
        let rows = self.store.read(move |reader| reader.trash_chosen(&choice)).await?;
        let mut report = EmptyReport { removed: TrashTotals::default(), kept: 0, error: None };
        let (files, sessions): (Vec<TrashRow>, Vec<TrashRow>) =
            rows.into_iter().partition(|row| row.entry.kind.is_on_disk());
        for batch in files.chunks(BATCH) {
            let (trash, ids) = (self.files.clone(), batch.iter().map(|row| row.entry.id).collect::<Vec<_>>());
            let failures = blocking(move || {
                let results = ids.into_iter().map(|id| (id, trash.purge(id)));
                Ok(results
                    .filter_map(|(id, result)| result.err().map(|error| (id, error)))
                    .collect::<Vec<_>>())
            })
            .await?;
            let mut purged_ids = Vec::new();
            for row in batch {
                match failures.iter().find(|(id, _)| *id == row.entry.id) {
                    Some((_, error)) => count_kept(&mut report, ApiError::new("trash.stays").detail(error)),
                    None => {
                        purged_ids.push(row.entry.id);
                        count_removed(&mut report, row);
                    }
                }
            }
            self.store.write(move |tx| tx.trash_drop(&purged_ids)).await?;
        }
        for row in sessions {
            match self.purge_session(&row).await {
                Ok(()) => count_removed(&mut report, &row),
                Err(error) => count_kept(&mut report, error),
            }
        }
        Ok(report)
    }

    /// Deletes a session's conversation and its files in the home.
    async fn purge_session(&self, row: &TrashRow) -> Result<(), ApiError> {
        let (id, session) = (row.entry.id, row.entry.session);
        let deleted = self.store.write(move |tx| {
            let mut sessions: Vec<SessionId> = session.into_iter().collect();
            if let Some(session) = session {
                // Its sub-agents are deleted with it.
                sessions.extend(tx.sub_agents(session)?);
                tx.purge_session(session)?;
            }
            tx.trash_drop(&[id])?;
            Ok(sessions)
        });
        let deleted = deleted.await?;
        let files = self.files.clone();
        blocking(move || {
            for session in deleted {
                files.forget_session(session).map_err(|error| ApiError::new("trash.stays").detail(error))?;
            }
            Ok(())
        })
        .await
    }

    /// Returns a preview of an entry. A picture is stored as a blob.
    pub async fn preview(&self, id: TrashId, blobs: Blobs) -> Result<TrashExcerpt, ApiError> {
        let files = self.files.clone();
        blocking(move || {
            Ok(match files.preview(id).map_err(unreadable)? {
                ItemPreview::Text { text, more } => TrashExcerpt::Text { text, more },
                ItemPreview::Picture(bytes) => match blobs.put(&bytes) {
                    Ok(blob) => TrashExcerpt::Picture { blob },
                    Err(error) => {
                        tracing::warn!(%error, "a picture in the trash cannot be shown");
                        TrashExcerpt::Nothing
                    }
                },
                ItemPreview::Folder { entries, total } => TrashExcerpt::Folder { entries, total },
                ItemPreview::Link(target) => TrashExcerpt::Link { target },
                ItemPreview::Nothing => TrashExcerpt::Nothing,
            })
        })
        .await
    }

    /// Returns the item that is now at the original path of a removed file.
    pub async fn item_at_path(&self, path: Vec<u8>) -> Result<Option<ConflictingFile>, ApiError> {
        let path = self.home_location.current_path(&path_of(path));
        blocking(move || Ok(OccupyingItem::at(&path).map(|present| to_conflicting_file(&present)))).await
    }
}

fn count_removed(report: &mut EmptyReport, row: &TrashRow) {
    report.removed.things += 1;
    report.removed.bytes += row.entry.size;
}

fn count_kept(report: &mut EmptyReport, error: ApiError) {
    report.kept += 1;
    report.error.get_or_insert(error);
}

fn to_conflicting_file(present: &OccupyingItem) -> ConflictingFile {
    let modified = present.modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    ConflictingFile {
        path: present.path.to_string_lossy().into_owned(),
        form: present.form,
        size: present.size,
        modified: modified.and_then(|elapsed| Millis::try_from(elapsed.as_millis()).ok()),
    }
}

/// Chooses the entries at least this many days old.
pub(crate) fn older_than(days: u32) -> TrashChoice {
    TrashChoice::Before {
        at: octo_runtime::now().saturating_sub(Millis::from(days) * expiry::DAY).saturating_add(1),
    }
}

/// Returns the resolved path of a folder that the person picked.
///
/// # Errors
/// `trash.no_folder` if the path is not absolute or not an existing folder.
pub fn existing_folder(folder: &str) -> Result<PathBuf, ApiError> {
    let invalid = || ApiError::new("trash.no_folder").arg("path", folder);
    let path = Path::new(folder);
    let resolved = path.is_absolute().then(|| path.canonicalize().ok()).flatten().ok_or_else(invalid)?;
    if resolved.is_dir() { Ok(resolved) } else { Err(invalid()) }
}
