//! Tasks restored from the trash.

use super::HomeTasks;
use octo_protocol::{ApiError, Millis, Switch};
use octo_runtime::blocking;
use octo_schedule::{ZonedTiming, is_accepted};
use octo_store::TaskStateRow;
use std::path::PathBuf;

impl HomeTasks {
    /// Returns an unused path for a task's file of this name.
    pub(crate) async fn unused_path(&self, file: &str) -> Result<PathBuf, ApiError> {
        let (tasks, name) = (self.clone(), file.strip_suffix(".md").unwrap_or(file).to_owned());
        blocking(move || {
            let files = &tasks.schedule().files;
            files.path(&files.free_name(&name))
        })
        .await
    }

    /// Updates a task whose deleted file was restored. Its runs and the person's choices were kept; if one of
    /// its times passed since the deletion it is paused, and its name is returned. Does nothing for a file that
    /// is not a task or is in another folder.
    pub(crate) async fn update_restored(
        &self,
        path: PathBuf,
        deleted: Millis,
    ) -> Result<Option<String>, ApiError> {
        let name = path.file_stem().and_then(|name| name.to_str()).map(str::to_owned);
        let Some(name) = name else { return Ok(None) };
        let (tasks, task) = (self.clone(), name.clone());
        let is_here = blocking(move || {
            let task_path = tasks.schedule().files.path(&task)?;
            Ok(octo_workspace::resolve_links(&task_path).is_ok_and(|expected| {
                octo_workspace::resolve_links(&path).is_ok_and(|restored| restored == expected)
            }))
        });
        if !is_here.await.unwrap_or(false) {
            return Ok(None);
        }
        let file = self.file(name.clone()).await?;
        let (now, state) = (self.now(), self.states().await?.remove(&name));
        let is_on = state.as_ref().is_some_and(|state| state.on == Switch::On);
        // By the schedule's clock, if it observed the deletion.
        let deleted_at = self.schedule().with_deletion_times(|times| times.remove(&name));
        let deleted_at = deleted_at.or_else(|| state.as_ref()?.decided_until).unwrap_or(deleted);
        let has_passed = file.plan.as_ref().is_ok_and(|plan| {
            ZonedTiming::new(&plan.when, &plan.zone)
                .is_ok_and(|times| times.after(deleted_at).next().is_some_and(|time| time <= now))
        });
        let pauses = has_passed && is_on && is_accepted(&file, state.as_ref());
        if let Some(state) = state {
            let on = if pauses { Switch::Off } else { state.on };
            // The missed times are over, whether the task runs from now on or not.
            let row = TaskStateRow { on, decided_until: Some(now), ..state };
            let task = name.clone();
            self.store().write(move |tx| tx.put_task_state(&task, &row)).await?;
        }
        self.notify_change();
        Ok(pauses.then_some(name))
    }
}
