//! Which news the runs of tasks are. A run says more of its end than its session does: one that took too long was stopped
//! there like any other, and one that could not begin has none.

use crate::notices::{Deed, NoticeKind};
use octo_protocol::{ApiError, RunId, RunStatus, SessionId, SkipReason, TaskRun};
use std::collections::BTreeMap;

/// What a notice says of a run of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunNews {
    /// The task's file.
    pub task: String,
    /// Why it asks or did not succeed; none for one that did.
    pub why: Option<Why>,
}

impl RunNews {
    /// What a notice of it offers: whether and how it is tried again is said in the list of tasks.
    pub const DEEDS: &'static [Deed] = &[Deed::Open];
}

/// Why a run asks or did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It failed, or could not begin.
    Error(ApiError),
    /// It took longer than it may.
    TimedOut,
    /// It cost what it may.
    OverBudget,
    /// Its time passed, and the person is asked whether it is to run now.
    Missed,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Asks,
    Open,
    Over,
}

/// Follows the list of runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    /// Whether the list was heard once.
    begun: bool,
    known: BTreeMap<RunId, (Stage, Option<SessionId>)>,
}

impl Runs {
    /// The runs that are further than they were, oldest first. What was over before the list was heard is no news; what
    /// asks is, however long it does: nothing else tells of it.
    pub(crate) fn heard<'a>(&mut self, list: &'a [TaskRun]) -> Vec<&'a TaskRun> {
        let first = !std::mem::replace(&mut self.begun, true);
        let known = list.iter().map(|run| (run.id, (stage(&run.status), run.session))).collect();
        let before = std::mem::replace(&mut self.known, known);
        let is_further = |run: &&TaskRun| {
            let stage = stage(&run.status);
            let known = before.get(&run.id).map(|(stage, _)| *stage);
            known != Some(stage) && !(first && stage == Stage::Over)
        };
        list.iter().rev().filter(is_further).collect()
    }

    /// How many missed ones ask.
    pub(crate) fn asking(&self) -> usize {
        self.known.values().filter(|(stage, _)| *stage == Stage::Asks).count()
    }

    /// Whether a run goes on in this session.
    pub(crate) fn is_open_in(&self, session: SessionId) -> bool {
        self.known.values().any(|known| *known == (Stage::Open, Some(session)))
    }
}

fn stage(status: &RunStatus) -> Stage {
    match status {
        RunStatus::Asked => Stage::Asks,
        RunStatus::Waiting { .. } | RunStatus::Running | RunStatus::NeedsYou => Stage::Open,
        RunStatus::Finished
        | RunStatus::Failed { .. }
        | RunStatus::TimedOut
        | RunStatus::OverBudget
        | RunStatus::Stopped
        | RunStatus::Interrupted
        | RunStatus::Skipped { .. } => Stage::Over,
    }
}

/// What a run tells as it stands; none for what the person did, knows or reads in the list. A question in its session is
/// told by that.
pub(crate) fn news(status: &RunStatus) -> Option<(NoticeKind, Option<Why>)> {
    match status {
        RunStatus::Asked => Some((NoticeKind::Question, Some(Why::Missed))),
        RunStatus::Finished => Some((NoticeKind::Finished, None)),
        RunStatus::Failed { error }
        | RunStatus::Skipped {
            reason: SkipReason::CouldNotStart { error } | SkipReason::Unrunnable { error },
        } => Some((NoticeKind::Failed, Some(Why::Error(error.clone())))),
        RunStatus::TimedOut => Some((NoticeKind::Failed, Some(Why::TimedOut))),
        RunStatus::OverBudget => Some((NoticeKind::Failed, Some(Why::OverBudget))),
        RunStatus::Waiting { .. }
        | RunStatus::Running
        | RunStatus::NeedsYou
        | RunStatus::Stopped
        | RunStatus::Interrupted
        | RunStatus::Skipped { .. } => None,
    }
}
