//! The slow part of a restore: files.

use super::super::tasks::{PendingRecords, run_blocking};
use octo_protocol::{ApiError, RestoreReport, SessionId, StepKind, StepNumber, StepTree, StepView, TurnId};
use octo_store::{RestoreRecord, Store};
use octo_workspace::{RestoreSelection, TimeMachine};
use std::{
    collections::{BTreeSet, HashSet},
    path::PathBuf,
};

/// The target of a restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RestoreTarget {
    /// This step.
    Task(StepNumber),
    /// The step before the active one.
    Undo,
    /// The predecessor of a step, as the step's own undo.
    UndoStep {
        /// The step.
        task: StepNumber,
        /// The predecessor of the step.
        to: StepNumber,
    },
    /// The newest successor of the active step.
    Redo,
}

/// The parts of a step to restore.
pub(crate) enum RestoreExtent {
    /// Files and conversation; the turns that asked for it stay visible.
    Everything { kept_turns: Vec<TurnId> },
    /// All files.
    Files,
    /// These files; the result becomes a step of its own.
    Selected(Vec<String>),
    /// The conversation.
    Conversation,
}

/// The conversation of a step.
pub(super) struct StepConversation {
    task: StepNumber,
    tree: StepTree,
    kept_turns: Vec<TurnId>,
}

impl StepConversation {
    /// Creates the conversation of a step, with these turns kept.
    pub(super) fn new(task: StepNumber, tree: StepTree, kept: Vec<TurnId>) -> Self {
        Self { task, tree, kept_turns: kept }
    }

    pub(super) fn task(&self) -> StepNumber {
        self.task
    }

    /// Returns the turns outside the conversation, except the kept ones.
    pub(super) fn undone_turns(&self) -> Vec<TurnId> {
        let path = conversation(&self.tree, self.task);
        let outside = self.tree.tasks.iter().filter(|step| !path.contains(&step.number));
        outside.filter_map(|step| step.turn).filter(|turn| !self.kept_turns.contains(turn)).collect()
    }
}

/// A restore and its dependencies.
pub(super) struct RestoreJob {
    machine: TimeMachine,
    store: Store,
    session: SessionId,
    pending: PendingRecords,
}

impl RestoreJob {
    pub(super) fn new(machine: TimeMachine, store: Store, session: SessionId, loose: PendingRecords) -> Self {
        Self { machine, store, session, pending: loose }
    }

    /// Restores files. Returns the conversation to switch to.
    pub(super) async fn run(
        &self,
        target: RestoreTarget,
        extent: RestoreExtent,
        overwrite: Vec<String>,
    ) -> Result<(RestoreReport, Option<StepConversation>), ApiError> {
        self.pending.wait().await;
        let tree = self.tree().await?;
        match extent {
            RestoreExtent::Everything { kept_turns } => {
                let kept = with_attempts(&tree, kept_turns);
                let (task, conversation_step) = target_steps(&tree, target, &kept)?;
                self.with_conversation(
                    RestoreRecord { task, conversation: conversation_step, kept_messages: kept },
                    overwrite,
                )
                .await
            }
            RestoreExtent::Files => {
                // The conversation stays at its step, even when the files leave that step.
                let (session, conversation_step) = (self.session, tree.conversation);
                let result =
                    self.store.write(move |tx| tx.set_conversation_step(session, conversation_step)).await;
                result?;
                let (task, _) = target_steps(&tree, target, &[])?;
                let report = self.files(task, None, overwrite).await?;
                Ok((report, None))
            }
            RestoreExtent::Selected(paths) => {
                let (task, _) = target_steps(&tree, target, &[])?;
                let report = self.files(task, Some(paths), overwrite).await?;
                Ok((report, None))
            }
            RestoreExtent::Conversation => {
                let (task, _) = target_steps(&tree, target, &[])?;
                if !tree.tasks.iter().any(|step| step.number == task) {
                    return Err(ApiError::new("time.unknown_task").arg("task", task));
                }
                let report = RestoreReport {
                    active: tree.active,
                    safety: None,
                    changed: 0,
                    kept: Vec::new(),
                    impossible: Vec::new(),
                };
                Ok((report, Some(StepConversation::new(task, tree, Vec::new()))))
            }
        }
    }

    async fn with_conversation(
        &self,
        record: RestoreRecord,
        overwrite: Vec<String>,
    ) -> Result<(RestoreReport, Option<StepConversation>), ApiError> {
        let (session, begun) = (self.session, record.clone());
        let result = self.store.write(move |tx| tx.begin_restore(session, &begun)).await;
        result?;
        let report = match self.files(record.task, None, overwrite).await {
            Ok(report) => report,
            // Its journal still exists; the next start completes or reverts it.
            Err(error) if error.key == "time.stuck" || error.key == "time.failed" => return Err(error),
            Err(error) => {
                let dropped = self.store.write(move |tx| tx.drop_restore(session)).await;
                dropped?;
                return Err(error);
            }
        };
        let tree = self.tree().await?;
        let RestoreRecord { conversation, kept_messages: kept, .. } = record;
        Ok((report, Some(StepConversation::new(conversation, tree, kept))))
    }

    async fn files(
        &self,
        task: StepNumber,
        selection: Option<Vec<String>>,
        overwrite: Vec<String>,
    ) -> Result<RestoreReport, ApiError> {
        let (machine, session) = (self.machine.clone(), self.session);
        run_blocking(move || {
            let overwrite: BTreeSet<PathBuf> =
                machine.paths_named(session, &overwrite)?.into_iter().collect();
            let selection = match selection {
                None => RestoreSelection::All,
                Some(paths) => {
                    RestoreSelection::Files(machine.paths_named(session, &paths)?.into_iter().collect())
                }
            };
            let plan = machine.plan(session, task, selection)?;
            machine.restore(&plan, &overwrite)
        })
        .await
    }

    async fn tree(&self) -> Result<StepTree, ApiError> {
        let (machine, session) = (self.machine.clone(), self.session);
        run_blocking(move || machine.tree(session)).await
    }
}

/// Returns the target steps of files and conversation. For a named step both are that step; otherwise each
/// undoes or redoes only its own part: if the person had moved the conversation away from the files, it stays
/// there.
fn target_steps(
    tree: &StepTree,
    target: RestoreTarget,
    kept: &[TurnId],
) -> Result<(StepNumber, StepNumber), ApiError> {
    Ok(match target {
        RestoreTarget::Task(task) => (task, task),
        RestoreTarget::Undo => {
            let target = tree.undo.ok_or_else(|| ApiError::new("time.at_start"))?;
            (target, conversation_without(tree, undoable_step(tree, tree.active), kept))
        }
        RestoreTarget::UndoStep { task, to: target } => (target, conversation_without(tree, task, kept)),
        RestoreTarget::Redo => {
            let target = tree.redo.ok_or_else(|| ApiError::new("time.nothing_to_redo"))?;
            let follows = previous_conversation(tree, target) == Some(tree.conversation);
            (target, if follows { target } else { tree.conversation })
        }
    })
}

/// Adds the silent turns between those that ask: attempts that failed at once.
fn with_attempts(tree: &StepTree, asking: Vec<TurnId>) -> Vec<TurnId> {
    let is_request = |task: &&StepView| task.turn.is_some_and(|turn| asking.contains(&turn));
    let path = conversation(tree, tree.conversation);
    let on_way = || tree.tasks.iter().filter(|task| path.contains(&task.number));
    let Some(start) = on_way().find(is_request).map(|task| task.number) else { return asking };
    let attempts: Vec<TurnId> =
        on_way().filter(|task| task.number >= start).filter_map(|task| task.turn).collect();
    asking.into_iter().filter(|turn| !attempts.contains(turn)).chain(attempts.iter().copied()).collect()
}

/// Returns the step of the conversation without a certain step and without the turns that ask for its removal.
fn conversation_without(tree: &StepTree, task: StepNumber, kept: &[TurnId]) -> StepNumber {
    let mut current = tree.conversation;
    while let Some(turn) = find_step(tree, current).and_then(|step| step.turn)
        && kept.contains(&turn)
        && let Some(previous) = previous_conversation(tree, current)
    {
        current = previous;
    }
    match previous_conversation(tree, task) {
        Some(previous) if conversation(tree, current).contains(&task) => previous,
        _ => current,
    }
}

/// Returns the step that an undo reverts, skipping checkpoints, which are no work.
fn undoable_step(tree: &StepTree, start: StepNumber) -> StepNumber {
    let mut current = start;
    while let Some(checkpoint) = find_step(tree, current).filter(|step| step.kind == StepKind::Checkpoint)
        && let Some(parent) = checkpoint.parent
    {
        current = parent;
    }
    current
}

/// Returns the steps whose turns are in the conversation at the end of a step.
fn conversation(tree: &StepTree, task: StepNumber) -> HashSet<StepNumber> {
    let mut path = HashSet::new();
    let mut next_step = Some(task);
    while let Some(number) = next_step.filter(|number| path.insert(*number)) {
        next_step = previous_conversation(tree, number);
    }
    path
}

/// Returns the step whose conversation another one continued.
fn previous_conversation(tree: &StepTree, task: StepNumber) -> Option<StepNumber> {
    find_step(tree, task).and_then(|step| step.said_after.or(step.parent))
}

fn find_step(tree: &StepTree, number: StepNumber) -> Option<&StepView> {
    tree.tasks.iter().find(|step| step.number == number)
}
