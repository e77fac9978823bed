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
    pub fn record_lasting(&self, task: StepId, effects: Vec<LastingEffect>) -> Result<(), TimeError> {
        let StepId { session, number } = task;
        Ok(self.inner.store.write_blocking(move |tx| tx.record_time_lasting(session, number, &effects))?)
    }
}

/// Returns the steps that are undone or redone between the two.
pub(super) fn steps_between(
    tree: &SessionStepTree,
    start: StepNumber,
    target: StepNumber,
) -> Vec<StepNumber> {
    let start_chain: BTreeSet<StepNumber> = tree.chain(start).into_iter().collect();
    let entered: BTreeSet<StepNumber> = tree.chain(target).into_iter().collect();
    start_chain.symmetric_difference(&entered).copied().collect()
}

/// Returns the part that is shown before a restore.
pub(super) fn truncate(mut effects: LastingEffects) -> LastingEffects {
    let omitted = effects.effects.split_off(MAX_LISTED.min(effects.effects.len()));
    let more: u32 = omitted.iter().map(|effect| effect.times).sum();
    effects.more = effects.more.saturating_add(more);
    effects
}
