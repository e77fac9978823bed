//! Going to another task of the time machine: first the files, then what the model sees of the conversation.
//!
//! A crash in between is found at the next opening of the session, and the conversation follows.

use super::{
    Reply,
    state::{Change, Session},
    tasks::beside,
    turns::Step,
};
use crate::compaction;
use octo_protocol::{
    ApiError, Event, FileSelection, RestorePreview, RestoreReport, RestoreScope, RestoreTask, TaskNumber,
    TaskTree, TaskView, TurnId,
};
use octo_store::Journey;
use octo_workspace::Selection;
use std::{
    collections::{BTreeSet, HashSet},
    path::PathBuf,
};

impl Session {
    /// What going to a task would do to files. Every recorded file is read for it, so it happens beside the actor, which
    /// goes on meanwhile; a restore makes a plan of its own.
    pub(super) fn preview_restore(
        &self,
        task: TaskNumber,
        selection: FileSelection,
        reply: Reply<RestorePreview>,
    ) {
        if let Err(error) = self.must_rest() {
            let _gone = reply.send(Err(error));
            return;
        }
        let (machine, session) = (self.shared.time.clone(), self.id());
        tokio::spawn(async move {
            let preview = beside(move || {
                let selection = match selection {
                    FileSelection::All => Selection::All,
                    FileSelection::Chosen { paths } => {
                        Selection::Files(machine.paths_named(session, &paths)?.into_iter().collect())
                    }
                };
                Ok(machine.plan(session, task, selection)?.preview())
            });
            // A client that is gone needs no reply.
            let _gone = reply.send(preview.await);
        });
    }

    /// Goes to a task, or brings chosen files of it back.
    pub(super) async fn restore_task(&mut self, call: RestoreTask) -> Result<RestoreReport, ApiError> {
        self.must_rest()?;
        let RestoreTask { task, scope, selection, overwrite, .. } = call;
        match (scope, selection) {
            (RestoreScope::Conversation, _) => {
                let tree = self.tree().await?;
                if !tree.tasks.iter().any(|known| known.number == task) {
                    return Err(ApiError::new("time.unknown_task").arg("task", task));
                }
                self.show_conversation(task, &tree, None).await?;
                let kept = RestoreReport {
                    active: tree.active,
                    safety: None,
                    changed: 0,
                    kept: Vec::new(),
                    impossible: Vec::new(),
                };
                Ok(kept)
            }
            (_, FileSelection::Chosen { paths }) => {
                self.looked_after().await;
                let report = self.restore_files(task, Some(paths), overwrite).await?;
                self.commit(vec![Change::Event(Event::TasksChanged)]).await?;
                Ok(report)
            }
            (RestoreScope::Files, FileSelection::All) => {
                self.looked_after().await;
                let report = self.restore_files(task, None, overwrite).await?;
                self.commit(vec![Change::Event(Event::TasksChanged)]).await?;
                Ok(report)
            }
            (RestoreScope::Both, FileSelection::All) => self.go_to(task, overwrite, None).await,
        }
    }

    /// Gives the present state a name.
    pub(super) async fn add_checkpoint(&mut self, name: String) -> Result<TaskView, ApiError> {
        self.must_rest()?;
        if name.trim().is_empty() {
            return Err(ApiError::new("time.checkpoint_unnamed"));
        }
        let (machine, session, folder) = (self.shared.time.clone(), self.id(), self.folder.clone());
        let task = beside(move || machine.checkpoint(session, &folder, &name)).await?;
        self.commit(vec![Change::Event(Event::TasksChanged)]).await?;
        Ok(task)
    }

    /// `/undo`: to the task before the last one.
    pub(super) async fn undo(&mut self) -> Result<(), ApiError> {
        let target = self.tree().await?.undo;
        self.go_and_tell(target.ok_or_else(|| ApiError::new("time.at_start"))).await
    }

    /// `/redo`: to the newest task that went on from here.
    pub(super) async fn redo(&mut self) -> Result<(), ApiError> {
        let target = self.tree().await?.redo;
        self.go_and_tell(target.ok_or_else(|| ApiError::new("time.nothing_to_redo"))).await
    }

    async fn go_and_tell(&mut self, target: Result<TaskNumber, ApiError>) -> Result<(), ApiError> {
        let went = match (self.must_rest(), target) {
            (Ok(()), Ok(target)) => self.go_to(target, Vec::new(), None).await,
            (Err(error), _) | (_, Err(error)) => Err(error),
        };
        self.tell(went).await
    }

    /// A tool of the turn that has just ended asked for it; that turn stays visible to the model.
    pub(super) async fn go_as_wished(
        &mut self,
        target: TaskNumber,
        asked_by: TurnId,
    ) -> Result<(), ApiError> {
        let went = self.go_to(target, Vec::new(), Some(asked_by)).await;
        self.tell(went).await
    }

    async fn tell(&mut self, went: Result<RestoreReport, ApiError>) -> Result<(), ApiError> {
        let note = match went {
            Ok(report) if report.kept.is_empty() => {
                ApiError::new("time.went").arg("task", report.active).arg("changed", report.changed)
            }
            Ok(report) => ApiError::new("time.went_but_kept")
                .arg("task", report.active)
                .arg("changed", report.changed)
                .arg("kept", report.kept.join(", ")),
            Err(error) if error.is_of_the_store() => return Err(error),
            Err(error) => error,
        };
        self.commit(vec![Change::Event(Event::CommandAnswered { note })]).await
    }

    /// Files and conversation.
    async fn go_to(
        &mut self,
        task: TaskNumber,
        overwrite: Vec<String>,
        kept: Option<TurnId>,
    ) -> Result<RestoreReport, ApiError> {
        self.must_rest()?;
        self.looked_after().await;
        let (session, journey) = (self.id(), Journey { task, kept });
        let begun = self.shared.store.write(move |tx| tx.begin_journey(session, journey)).await;
        begun.map_err(ApiError::from)?;
        let report = match self.restore_files(task, None, overwrite).await {
            Ok(report) => report,
            // Its journal is there still, and the next start ends it, one way or the other.
            Err(error) if error.key == "time.stuck" || error.key == "time.failed" => return Err(error),
            Err(error) => {
                let dropped = self.shared.store.write(move |tx| tx.drop_journey(session)).await;
                dropped.map_err(ApiError::from)?;
                return Err(error);
            }
        };
        let tree = self.tree().await?;
        self.show_conversation(task, &tree, kept).await?;
        Ok(report)
    }

    /// After a crash: files that went to a task take the conversation with them.
    pub(super) async fn end_journey(&mut self) -> Result<(), ApiError> {
        let session = self.id();
        let read = self.shared.store.read(move |reader| reader.journey(session)).await;
        let Some(Journey { task, kept }) = read.map_err(ApiError::from)? else { return Ok(()) };
        let tree = self.tree().await?;
        if tree.active == task {
            return self.show_conversation(task, &tree, kept).await;
        }
        self.shared.store.write(move |tx| tx.drop_journey(session)).await.map_err(ApiError::from)
    }

    async fn restore_files(
        &self,
        task: TaskNumber,
        chosen: Option<Vec<String>>,
        overwrite: Vec<String>,
    ) -> Result<RestoreReport, ApiError> {
        let (machine, session) = (self.shared.time.clone(), self.id());
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
        let (machine, session) = (self.shared.time.clone(), self.id());
        beside(move || machine.tree(session)).await
    }

    /// The model sees the turns on the way to a task, and the one that asked for it.
    async fn show_conversation(
        &mut self,
        task: TaskNumber,
        tree: &TaskTree,
        kept: Option<TurnId>,
    ) -> Result<(), ApiError> {
        // What goes on beside the conversation was about another one.
        let mut step = Step::default();
        self.end_side_call(&mut step);
        self.swap = None;
        self.commit(step.changes).await?;
        let session = self.id();
        let undone = undone_at(tree, task, kept);
        let without: HashSet<TurnId> = undone.iter().copied().collect();
        let read = self.shared.store.read(move |reader| reader.conversation_without(session, &without)).await;
        let messages = read.map_err(ApiError::from)?;
        self.commit(vec![Change::NewContext(messages), Change::Event(Event::WentTo { task, undone })])
            .await?;
        let read = self.shared.store.read(move |reader| reader.context_of(session)).await;
        self.context = read.map_err(ApiError::from)?;
        let tokens = self.fixed_size() + self.context.iter().map(compaction::estimate).sum::<u64>();
        self.size.estimated(tokens, self.context.len());
        self.commit(vec![Change::Event(Event::ContextCompacted { tokens })]).await
    }

    /// Files must not change under a turn that works with them.
    fn must_rest(&self) -> Result<(), ApiError> {
        if self.running.is_some() {
            Err(ApiError::new("session.running"))
        } else if self.is_watching() {
            // What is put back would be taken for its work.
            Err(ApiError::new("time.commands_run"))
        } else {
            Ok(())
        }
    }
}

/// The turns that are not on the way to a task, but for the one that is kept.
fn undone_at(tree: &TaskTree, task: TaskNumber, kept: Option<TurnId>) -> Vec<TurnId> {
    let mut way = HashSet::new();
    let mut next = Some(task);
    while let Some(number) = next.filter(|number| way.insert(*number)) {
        next = tree.tasks.iter().find(|known| known.number == number).and_then(|known| known.parent);
    }
    let off = tree.tasks.iter().filter(|known| !way.contains(&known.number));
    off.filter_map(|known| known.turn).filter(|turn| Some(*turn) != kept).collect()
}
