//! The slow part of a restore: files.

use super::super::tasks::{PendingRecords, beside};
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
    Undone {
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
    Everything { kept: Vec<TurnId> },
    /// All files.
    Files,
    /// These files; the result becomes a step of its own.
    Chosen(Vec<String>),
    /// The conversation.
    Conversation,
}

/// The conversation of a step.
pub(super) struct StepConversation {
    task: StepNumber,
    tree: StepTree,
    kept: Vec<TurnId>,
}

impl StepConversation {
    /// Creates the conversation of a step, with these turns kept.
    pub(super) fn new(task: StepNumber, tree: StepTree, kept: Vec<TurnId>) -> Self {
        Self { task, tree, kept }
    }

    pub(super) fn task(&self) -> StepNumber {
        self.task
    }

    /// Returns the turns outside the conversation, except the kept ones.
    pub(super) fn undone(&self) -> Vec<TurnId> {
        let way = conversation(&self.tree, self.task);
        let off = self.tree.tasks.iter().filter(|known| !way.contains(&known.number));
        off.filter_map(|known| known.turn).filter(|turn| !self.kept.contains(turn)).collect()
    }
}

/// A restore and its dependencies.
pub(super) struct RestoreJob {
    machine: TimeMachine,
    store: Store,
    session: SessionId,
    loose: PendingRecords,
}

impl RestoreJob {
    pub(super) fn new(machine: TimeMachine, store: Store, session: SessionId, loose: PendingRecords) -> Self {
        Self { machine, store, session, loose }
    }

    /// Restores files. Returns the conversation to switch to.
    pub(super) async fn go(
        &self,
        target: RestoreTarget,
        extent: RestoreExtent,
        overwrite: Vec<String>,
    ) -> Result<(RestoreReport, Option<StepConversation>), ApiError> {
        self.loose.over().await;
        let tree = self.tree().await?;
        match extent {
            RestoreExtent::Everything { kept } => {
                let kept = with_attempts(&tree, kept);
                let (task, said) = target_steps(&tree, target, &kept)?;
                self.with_conversation(
                    RestoreRecord { task, conversation: said, kept_messages: kept },
                    overwrite,
                )
                .await
            }
            RestoreExtent::Files => {
                // The conversation stays at its step, even when the files leave that step.
                let (session, said) = (self.session, tree.conversation);
                let noted = self.store.write(move |tx| tx.set_conversation_step(session, said)).await;
                noted?;
                let (task, _) = target_steps(&tree, target, &[])?;
                let report = self.files(task, None, overwrite).await?;
                Ok((report, None))
            }
            RestoreExtent::Chosen(paths) => {
                let (task, _) = target_steps(&tree, target, &[])?;
                let report = self.files(task, Some(paths), overwrite).await?;
                Ok((report, None))
            }
            RestoreExtent::Conversation => {
                let (task, _) = target_steps(&tree, target, &[])?;
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
                Ok((report, Some(StepConversation::new(task, tree, Vec::new()))))
            }
        }
    }

    async fn with_conversation(
        &self,
        journey: RestoreRecord,
        overwrite: Vec<String>,
    ) -> Result<(RestoreReport, Option<StepConversation>), ApiError> {
        let (session, begins) = (self.session, journey.clone());
        let begun = self.store.write(move |tx| tx.begin_restore(session, &begins)).await;
        begun?;
        let report = match self.files(journey.task, None, overwrite).await {
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
        let RestoreRecord { conversation, kept_messages: kept, .. } = journey;
        Ok((report, Some(StepConversation::new(conversation, tree, kept))))
    }

    async fn files(
        &self,
        task: StepNumber,
        chosen: Option<Vec<String>>,
        overwrite: Vec<String>,
    ) -> Result<RestoreReport, ApiError> {
        let (machine, session) = (self.machine.clone(), self.session);
        beside(move || {
            let overwrite: BTreeSet<PathBuf> =
                machine.paths_named(session, &overwrite)?.into_iter().collect();
            let selection = match chosen {
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
        beside(move || machine.tree(session)).await
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
            let to = tree.undo.ok_or_else(|| ApiError::new("time.at_start"))?;
            (to, conversation_without(tree, undoable_step(tree, tree.active), kept))
        }
        RestoreTarget::Undone { task, to } => (to, conversation_without(tree, task, kept)),
        RestoreTarget::Redo => {
            let to = tree.redo.ok_or_else(|| ApiError::new("time.nothing_to_redo"))?;
            let follows = previous_conversation(tree, to) == Some(tree.conversation);
            (to, if follows { to } else { tree.conversation })
        }
    })
}

/// Adds the silent turns between those that ask: attempts that failed at once.
fn with_attempts(tree: &StepTree, asking: Vec<TurnId>) -> Vec<TurnId> {
    let asks = |task: &&StepView| task.turn.is_some_and(|turn| asking.contains(&turn));
    let way = conversation(tree, tree.conversation);
    let on_way = || tree.tasks.iter().filter(|task| way.contains(&task.number));
    let Some(first) = on_way().find(asks).map(|task| task.number) else { return asking };
    let between: Vec<TurnId> =
        on_way().filter(|task| task.number >= first).filter_map(|task| task.turn).collect();
    asking.into_iter().filter(|turn| !between.contains(turn)).chain(between.iter().copied()).collect()
}

/// Returns the step of the conversation without a certain step and without the turns that ask for its removal.
fn conversation_without(tree: &StepTree, task: StepNumber, asking: &[TurnId]) -> StepNumber {
    let mut at = tree.conversation;
    while let Some(turn) = known(tree, at).and_then(|known| known.turn)
        && asking.contains(&turn)
        && let Some(before) = previous_conversation(tree, at)
    {
        at = before;
    }
    match previous_conversation(tree, task) {
        Some(before) if conversation(tree, at).contains(&task) => before,
        _ => at,
    }
}

/// Returns the step that an undo reverts, skipping checkpoints, which are no work.
fn undoable_step(tree: &StepTree, from: StepNumber) -> StepNumber {
    let mut at = from;
    while let Some(checkpoint) = known(tree, at).filter(|known| known.kind == StepKind::Checkpoint)
        && let Some(parent) = checkpoint.parent
    {
        at = parent;
    }
    at
}

/// Returns the steps whose turns are in the conversation at the end of a step.
fn conversation(tree: &StepTree, task: StepNumber) -> HashSet<StepNumber> {
    let mut way = HashSet::new();
    let mut next = Some(task);
    while let Some(number) = next.filter(|number| way.insert(*number)) {
        next = previous_conversation(tree, number);
    }
    way
}

/// Returns the step whose conversation another one continued.
fn previous_conversation(tree: &StepTree, task: StepNumber) -> Option<StepNumber> {
    known(tree, task).and_then(|known| known.said_after.or(known.parent))
}

fn known(tree: &StepTree, number: StepNumber) -> Option<&StepView> {
    tree.tasks.iter().find(|known| known.number == number)
}
