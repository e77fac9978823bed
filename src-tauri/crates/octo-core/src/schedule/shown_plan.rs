//! Plans that were shown to the person in a question: exactly what was shown is saved.

use super::HomeTasks;
use octo_protocol::{CallId, TaskPlan};

/// Maximum number of questions whose plans are kept until they are answered.
const KEPT: usize = 16;

/// A plan as the person was asked about it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShownPlan {
    /// The call that asks.
    pub(crate) call: CallId,
    /// The task it changes; none for a new one.
    pub(crate) task: Option<String>,
    /// The version of the file it changes.
    pub(crate) version: Option<String>,
    pub(crate) plan: TaskPlan,
}

/// A call asks about one plan, and comes with another.
#[derive(Debug)]
pub(crate) struct PlanChanged;

impl HomeTasks {
    /// Keeps a plan until its question is answered.
    ///
    /// # Errors
    /// If the same call was shown another plan.
    pub(crate) fn hold(&self, plan: ShownPlan) -> Result<(), PlanChanged> {
        let mut plans = self.schedule().shown_plans.lock();
        if let Some(pending) = plans.iter().find(|pending| pending.call == plan.call) {
            return if *pending == plan { Ok(()) } else { Err(PlanChanged) };
        }
        let excess = plans.len().saturating_sub(KEPT - 1);
        plans.drain(..excess);
        plans.push(plan);
        Ok(())
    }

    /// The plan a call asked about; given once.
    pub(crate) fn take_held(&self, call: CallId) -> Option<ShownPlan> {
        let mut plans = self.schedule().shown_plans.lock();
        let position = plans.iter().position(|pending| pending.call == call)?;
        Some(plans.remove(position))
    }
}
