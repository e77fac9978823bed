//! The tree of a session's steps, and the state of every path at the end of each. Pure: rows in, answers out.

use octo_protocol::{FileImage, StepKind, StepNumber, StepPosition, StepTree, StepView, TurnId};
use octo_store::{RecordedState, StateMoment, StateSource, TimeStep, TimeSteps};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::{Path, PathBuf},
};

use super::{bytes::path_of, content::is_same_image};

/// The steps of a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionStepTree {
    active: StepNumber,
    conversation: Option<StepNumber>,
    steps: BTreeMap<StepNumber, TimeStep>,
}

impl SessionStepTree {
    pub(crate) fn new(tasks: TimeSteps) -> Self {
        Self {
            active: tasks.active,
            conversation: tasks.conversation,
            steps: tasks.steps.into_iter().map(|task| (task.number, task)).collect(),
        }
    }

    pub(crate) fn active(&self) -> StepNumber {
        self.active
    }

    /// Returns the step at which the conversation is.
    pub(crate) fn conversation(&self) -> StepNumber {
        self.conversation.filter(|task| self.steps.contains_key(task)).unwrap_or(self.active)
    }

    pub(crate) fn task(&self, number: StepNumber) -> Option<&TimeStep> {
        self.steps.get(&number)
    }

    pub(crate) fn of_turn(&self, turn: TurnId) -> Option<&TimeStep> {
        self.steps.values().find(|task| task.turn == Some(turn))
    }

    pub(crate) fn running(&self) -> impl Iterator<Item = StepNumber> {
        self.steps.values().filter(|task| task.ended_at.is_none()).map(|task| task.number)
    }

    /// Returns the folders the steps worked in.
    pub(crate) fn folders(&self) -> BTreeSet<PathBuf> {
        self.steps.values().map(|task| path_of(&task.folder)).collect()
    }

    /// Returns the step and its ancestors, nearest first.
    pub(crate) fn chain(&self, start: StepNumber) -> Vec<StepNumber> {
        let mut chain = Vec::new();
        let mut step = self.steps.get(&start);
        while let Some(task) = step {
            chain.push(task.number);
            // A parent's number is always smaller, so a damaged row cannot create a cycle.
            step =
                task.parent.filter(|parent| *parent < task.number).and_then(|parent| self.steps.get(&parent));
        }
        chain
    }

    /// Returns the target of an undo: the parent of the active step. A checkpoint is no work: undoing it undoes
    /// the step it was made from.
    pub(crate) fn undo(&self) -> Option<StepNumber> {
        let mut step = self.steps.get(&self.active)?;
        while step.kind == StepKind::Checkpoint {
            step = self.steps.get(&step.parent?)?;
        }
        step.parent
    }

    /// Returns the target of a redo: the newest step of work whose parent is the active step.
    pub(crate) fn redo(&self) -> Option<StepNumber> {
        let follows = |task: &&TimeStep| task.parent == Some(self.active) && task.kind != StepKind::Safety;
        self.steps.values().rev().find(follows).map(|task| task.number)
    }

    /// Returns the turns whose work is not in the files now: the model must not see their messages.
    pub(crate) fn undone_turns(&self) -> BTreeSet<TurnId> {
        let past_steps: BTreeSet<StepNumber> = self.chain(self.active).into_iter().collect();
        self.steps
            .values()
            .filter(|task| !past_steps.contains(&task.number))
            .filter_map(|task| task.turn)
            .collect()
    }

    pub(crate) fn view(
        &self,
        changed: &HashMap<StepNumber, u32>,
        effects: &HashMap<StepNumber, u32>,
    ) -> StepTree {
        let past_steps: BTreeSet<StepNumber> = self.chain(self.active).into_iter().collect();
        let mut children: HashMap<StepNumber, u32> = HashMap::new();
        for parent in
            self.steps.values().filter(|task| task.kind != StepKind::Safety).filter_map(|task| task.parent)
        {
            *children.entry(parent).or_default() += 1;
        }
        let tasks = self.steps.values().map(|task| StepView {
            number: task.number,
            parent: task.parent,
            kind: task.kind,
            turn: task.turn,
            summary: task.summary.clone(),
            status: if task.number == self.active {
                StepPosition::Current
            } else if past_steps.contains(&task.number) {
                StepPosition::Past
            } else {
                StepPosition::Undone
            },
            branch: task.kind != StepKind::Safety
                && task.parent.is_some_and(|parent| children.get(&parent).is_some_and(|count| *count > 1)),
            started_at: task.started_at,
            ended_at: task.ended_at,
            changed: changed.get(&task.number).copied().unwrap_or(0),
            lasting: effects.get(&task.number).copied().unwrap_or(0).saturating_add(task.lasting_more),
            said_after: task.said_after,
        });
        StepTree {
            tasks: tasks.collect(),
            active: self.active,
            conversation: self.conversation(),
            undo: self.undo(),
            redo: self.redo(),
        }
    }
}

/// The recorded states of paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateRecords(BTreeMap<PathBuf, Vec<RecordedState>>);

impl StateRecords {
    /// Builds the records from rows in any order.
    pub(crate) fn new(states: Vec<RecordedState>) -> Self {
        let mut records: BTreeMap<PathBuf, Vec<RecordedState>> = BTreeMap::new();
        for state in states {
            records.entry(path_of(&state.path)).or_default().push(state);
        }
        for states in records.values_mut() {
            states.sort_by_key(|state| (state.number, state.side));
        }
        Self(records)
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.keys()
    }

    pub(crate) fn at(&self, path: &Path, number: StepNumber, moment: StateMoment) -> Option<&FileImage> {
        let found = self.0.get(path)?.iter().find(|state| state.number == number && state.side == moment)?;
        Some(&found.image)
    }

    /// Whether a file tool named the path: only then may it be outside the session's folders.
    pub(crate) fn is_named(&self, path: &Path) -> bool {
        self.0.get(path).is_some_and(|states| states.iter().any(|state| state.source == StateSource::Named))
    }

    /// Returns the state of the path at the end of the first step of the chain (nearest first): the state the
    /// nearest step left, else the state before the first change by any step. `None` for a path that was never
    /// recorded.
    ///
    /// If others changed a file between two steps, the state the later one found counts as the end of the
    /// earlier one: undoing the later one reverts its own changes only.
    pub(crate) fn at_end(&self, chain: &[StepNumber], path: &Path) -> Option<&FileImage> {
        let states = self.0.get(path)?;
        let image_of = |number: StepNumber, moment: StateMoment| {
            states.iter().find(|state| state.number == number && state.side == moment)
        };
        chain
            .iter()
            .find_map(|number| {
                image_of(*number, StateMoment::Left).or_else(|| image_of(*number, StateMoment::After))
            })
            .or_else(|| states.iter().find(|state| state.side == StateMoment::Before))
            .map(|state| &state.image)
    }

    /// Returns the newest state that others gave the path between the steps of a restore, which leads from the
    /// first step of one chain to the first of the other (nearest first). `None` if no others changed it there.
    pub(crate) fn by_others(
        &self,
        leaving: &[StepNumber],
        going: &[StepNumber],
        path: &Path,
    ) -> Option<&FileImage> {
        let undone = leaving.iter().position(|number| going.contains(number)).unwrap_or(leaving.len());
        let (undone, common) = leaving.split_at(undone);
        let of_undone = (0..undone.len()).find_map(|at| {
            let chain = leaving.get(at..)?;
            self.left_by_others(chain, path).or_else(|| self.at(path, *chain.first()?, StateMoment::Between))
        });
        of_undone.or_else(|| {
            // Steps that are redone began from what others had made, unless others have changed it since.
            let theirs = self.left_by_others(common, path)?;
            let redone = going.iter().take_while(|number| !common.contains(number));
            let begun_from =
                redone.filter_map(|number| self.at(path, *number, StateMoment::Before)).last()?;
            (!is_same_image(begun_from, theirs)).then_some(theirs)
        })
    }

    /// Returns the state in which others left the path after the first step of the chain: the one a later step
    /// found, if it is not the one that the steps had left.
    fn left_by_others(&self, chain: &[StepNumber], path: &Path) -> Option<&FileImage> {
        let (number, earlier) = chain.split_first()?;
        let found = self.at(path, *number, StateMoment::Left)?;
        let own = self.at(path, *number, StateMoment::After).or_else(|| self.at_end(earlier, path));
        own.is_none_or(|own| !is_same_image(own, found)).then_some(found)
    }
}

#[cfg(test)]
mod tests;
