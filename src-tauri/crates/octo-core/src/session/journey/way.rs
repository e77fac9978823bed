//! The part of a journey that takes its time: files.

use super::super::tasks::{Loose, beside};
use octo_protocol::{ApiError, RestoreReport, SessionId, TaskNumber, TaskTree, TurnId};
use octo_store::{Journey, Store};
use octo_workspace::{Selection, TimeMachine};
use std::{collections::BTreeSet, path::PathBuf};

/// Where a journey goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// To this task.
    Task(TaskNumber),
    /// To the task before the active one.
    Undo,
    /// To the newest task that went on from the active one.
    Redo,
}

/// What of a task is gone to.
pub(crate) enum Extent {
    /// Files and conversation; a turn that asked for it stays visible.
    Everything { kept: Option<TurnId> },
    /// All files.
    Files,
    /// These files, which become a task of their own.
    Chosen(Vec<String>),
    /// The conversation.
    Conversation,
}

/// Files are where they were to go.
pub(super) struct Arrived {
    pub(super) report: RestoreReport,
    /// The conversation that is to follow.
    pub(super) conversation: Option<Conversation>,
}

/// The conversation on the way to a task.
pub(super) struct Conversation {
    pub(super) task: TaskNumber,
    pub(super) tree: TaskTree,
    pub(super) kept: Option<TurnId>,
}

/// What a journey needs.
pub(super) struct Way {
    pub(super) machine: TimeMachine,
    pub(super) store: Store,
    pub(super) session: SessionId,
    pub(super) loose: Loose,
}

impl Way {
    pub(super) async fn go(
        &self,
        target: Target,
        extent: Extent,
        overwrite: Vec<String>,
    ) -> Result<Arrived, ApiError> {
        self.loose.over().await;
        let tree = self.tree().await?;
        let task = match target {
            Target::Task(task) => task,
            Target::Undo => tree.undo.ok_or_else(|| ApiError::new("time.at_start"))?,
            Target::Redo => tree.redo.ok_or_else(|| ApiError::new("time.nothing_to_redo"))?,
        };
        match extent {
            Extent::Everything { kept } => self.with_conversation(task, overwrite, kept).await,
            Extent::Files => {
                let report = self.files(task, None, overwrite).await?;
                Ok(Arrived { report, conversation: None })
            }
            Extent::Chosen(paths) => {
                let report = self.files(task, Some(paths), overwrite).await?;
                Ok(Arrived { report, conversation: None })
            }
            Extent::Conversation => {
                if !tree.tasks.iter().any(|known| known.number == task) {
                    return Err(ApiError::new("time.unknown_task").arg("task", task));
                }
                let report = RestoreReport {
                    active: tree.active,
                    safety: None,
                    changed: 0,
                    kept: Vec::new(),
                    impossible: Vec::new(),
                };
                Ok(Arrived { report, conversation: Some(Conversation { task, tree, kept: None }) })
            }
        }
    }

    async fn with_conversation(
        &self,
        task: TaskNumber,
        overwrite: Vec<String>,
        kept: Option<TurnId>,
    ) -> Result<Arrived, ApiError> {
        let (session, journey) = (self.session, Journey { task, kept });
        let begun = self.store.write(move |tx| tx.begin_journey(session, journey)).await;
        begun.map_err(ApiError::from)?;
        let report = match self.files(task, None, overwrite).await {
            Ok(report) => report,
            // Its journal is there still, and the next start ends it, one way or the other.
            Err(error) if error.key == "time.stuck" || error.key == "time.failed" => return Err(error),
            Err(error) => {
                let dropped = self.store.write(move |tx| tx.drop_journey(session)).await;
                dropped.map_err(ApiError::from)?;
                return Err(error);
            }
        };
        let tree = self.tree().await?;
        Ok(Arrived { report, conversation: Some(Conversation { task, tree, kept }) })
    }

    async fn files(
        &self,
        task: TaskNumber,
        chosen: Option<Vec<String>>,
        overwrite: Vec<String>,
    ) -> Result<RestoreReport, ApiError> {
        let (machine, session) = (self.machine.clone(), self.session);
        beside(move || {
            let overwrite: BTreeSet<PathBuf> =
                machine.paths_named(session, &overwrite)?.into_iter().collect();
            let selection = match chosen {
                None => Selection::All,
                Some(paths) => Selection::Files(machine.paths_named(session, &paths)?.into_iter().collect()),
            };
            let plan = machine.plan(session, task, selection)?;
            machine.restore(&plan, &overwrite)
        })
        .await
    }

    async fn tree(&self) -> Result<TaskTree, ApiError> {
        let (machine, session) = (self.machine.clone(), self.session);
        beside(move || machine.tree(session)).await
    }
}
