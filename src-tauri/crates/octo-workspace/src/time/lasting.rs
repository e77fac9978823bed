//! The effects of a step that a restore cannot undo: noted before they begin, listed before a restore.

use super::{StepId, TimeError, TimeMachine, tree::SessionStepTree};
use octo_protocol::{LastingEffect, LastingEffects, StepNumber};
use std::collections::BTreeSet;

/// The maximum number of effects listed before a restore; the rest is only counted.
const MAX_LISTED: usize = 60;

impl TimeMachine {
    /// Notes lasting effects of a running step. Call it before they begin.
    ///
    /// # Errors
    ///
    /// Errors of the store. The effect must then not happen, because the person would not learn that it lasts.
    pub fn record_lasting(&self, task: StepId, marks: Vec<LastingEffect>) -> Result<(), TimeError> {
        let StepId { session, number } = task;
        Ok(self.inner.store.write_blocking(move |tx| tx.record_time_lasting(session, number, &marks))?)
    }
}

/// Returns the steps that are undone or redone between the two.
pub(super) fn steps_between(tree: &SessionStepTree, from: StepNumber, to: StepNumber) -> Vec<StepNumber> {
    let left: BTreeSet<StepNumber> = tree.chain(from).into_iter().collect();
    let entered: BTreeSet<StepNumber> = tree.chain(to).into_iter().collect();
    left.symmetric_difference(&entered).copied().collect()
}

/// Returns the part that is shown before a restore.
pub(super) fn truncate(mut lasting: LastingEffects) -> LastingEffects {
    let beyond = lasting.marks.split_off(MAX_LISTED.min(lasting.marks.len()));
    let more: u32 = beyond.iter().map(|mark| mark.times).sum();
    lasting.more = lasting.more.saturating_add(more);
    lasting
}
