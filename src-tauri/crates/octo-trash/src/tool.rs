//! Implements the trash for the model's tool.

use crate::{HomeTrash, removal::older_than};
use futures::future::BoxFuture;
use octo_protocol::{ApiError, TrashId, TrashKind, TrashTotals};
use octo_store::{TrashFilter, TrashRow};
use octo_tools::{ToolError, TrashFile, TrashListing, Trashcan, restore_error};
use octo_workspace::{TakenNamePolicy, TrashScan, path_bytes, path_of};
use std::path::Path;

/// Converts an error to a message for the model, and logs the error.
fn model_error(error: ApiError) -> ToolError {
    tracing::warn!(%error, "the trash could not be used by a tool");
    ToolError::new("The trash cannot be read right now. Nothing was changed.")
}

fn file(row: TrashRow) -> TrashFile {
    TrashFile { entry: row.entry, path: path_of(row.path) }
}

fn files(rows: Vec<TrashRow>) -> Vec<TrashFile> {
    rows.into_iter().map(file).collect()
}

fn only_files() -> TrashFilter {
    TrashFilter { kind: Some(TrashKind::File), ..TrashFilter::default() }
}

impl Trashcan for HomeTrash {
    fn files(&self, project: &Path, limit: u32) -> BoxFuture<'static, Result<TrashListing, ToolError>> {
        let (trash, project) = (self.clone(), project.to_string_lossy().into_owned());
        Box::pin(async move {
            trash.scan_and_log(TrashScan::New).await;
            let result = trash.store.read(move |reader| {
                let in_project = TrashFilter { project: Some(project.clone()), ..only_files() };
                let mut rows = reader.trash_page(&in_project, 0, limit)?.0;
                let of_project = rows.len();
                let elsewhere = reader.trash_page(&only_files(), 0, limit)?.0;
                rows.extend(elsewhere.into_iter().filter(|row| row.entry.project.as_ref() != Some(&project)));
                rows.truncate(limit as usize);
                Ok(TrashListing { files: files(rows), of_project, totals: reader.trash_totals()? })
            });
            result.await.map_err(|error| model_error(error.into()))
        })
    }

    fn at_path(&self, path: &Path) -> BoxFuture<'static, Result<Vec<TrashFile>, ToolError>> {
        let (trash, path) = (self.clone(), path_bytes(path));
        Box::pin(async move {
            trash.scan_and_log(TrashScan::New).await;
            let result = trash.store.read(move |reader| reader.trash_at_path(&path)).await;
            result.map(files).map_err(|error| model_error(error.into()))
        })
    }

    fn file(&self, id: TrashId) -> BoxFuture<'static, Result<Option<TrashFile>, ToolError>> {
        let trash = self.clone();
        Box::pin(async move {
            trash.scan_and_log(TrashScan::New).await;
            let result = trash.store.read(move |reader| reader.trash_row(id)).await;
            let row = result.map_err(|error| model_error(error.into()))?;
            Ok(row.filter(|row| row.entry.kind == TrashKind::File).map(file))
        })
    }

    fn find_named(&self, name: &str, limit: u32) -> BoxFuture<'static, Result<Vec<TrashFile>, ToolError>> {
        let (trash, query) = (self.clone(), name.to_owned());
        Box::pin(async move {
            let filter = TrashFilter { query, ..only_files() };
            let result = trash.store.read(move |reader| reader.trash_page(&filter, 0, limit)).await;
            result.map(|(rows, _)| files(rows)).map_err(|error| model_error(error.into()))
        })
    }

    fn restore(&self, id: TrashId, target: &Path) -> BoxFuture<'static, Result<(), ToolError>> {
        let (trash, target) = (self.clone(), target.to_owned());
        Box::pin(async move {
            match trash.restore_content(id, target, TakenNamePolicy::Refuse).await.map_err(model_error)? {
                Ok(_) => Ok(()),
                Err(error) => Err(restore_error(&error)),
            }
        })
    }

    fn count(&self, days: u32) -> BoxFuture<'static, Result<TrashTotals, ToolError>> {
        let trash = self.clone();
        Box::pin(async move {
            trash.scan_and_log(TrashScan::New).await;
            trash.count(older_than(days)).await.map_err(model_error)
        })
    }

    fn empty(&self, days: u32) -> BoxFuture<'static, Result<TrashTotals, ToolError>> {
        let trash = self.clone();
        Box::pin(async move { Ok(trash.empty(older_than(days)).await.map_err(model_error)?.removed) })
    }
}
