//! What a task does that going to another one does not take back: noted before it begins, listed where it matters.

use super::{TaskId, TimeError, TimeMachine, tree::Tree};
use octo_protocol::{Lasting, LastingMark, TaskNumber};
use std::collections::BTreeSet;

/// Things listed before a restore. Beyond them they are counted.
const SHOWN: usize = 60;

impl TimeMachine {
    /// Notes what a running task is about to do that lasts. To be called before it begins.
    ///
    /// # Errors
    /// Those of the store. It must not be done then, for nobody would be told that it lasts.
    pub fn record_lasting(&self, task: TaskId, marks: Vec<LastingMark>) -> Result<(), TimeError> {
        let TaskId { session, number } = task;
        Ok(self.inner.store.write_blocking(move |tx| tx.record_time_lasting(session, number, &marks))?)
    }
}

/// The tasks whose work is taken back or repeated on the way from one to the other.
pub(super) fn between(tree: &Tree, from: TaskNumber, to: TaskNumber) -> Vec<TaskNumber> {
    let left: BTreeSet<TaskNumber> = tree.chain(from).into_iter().collect();
    let entered: BTreeSet<TaskNumber> = tree.chain(to).into_iter().collect();
    left.symmetric_difference(&entered).copied().collect()
}

/// As much of it as is shown before a restore.
pub(super) fn shown(mut lasting: Lasting) -> Lasting {
    let beyond = lasting.marks.split_off(SHOWN.min(lasting.marks.len()));
    let more: u32 = beyond.iter().map(|mark| mark.times).sum();
    lasting.more = lasting.more.saturating_add(more);
    lasting
}
