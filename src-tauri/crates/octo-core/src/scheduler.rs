//! The scheduler: it begins the runs of tasks in sessions of their own, and follows them.

mod requests;
mod run_loop;

use crate::{
    base::Base,
    schedule::HomeTasks,
    session::{Runtime, midnight},
    sessions::{NewSessionKind, Sessions},
};
use octo_protocol::{ApiError, Block, Millis, TaskPlan};
use octo_store::RunRow;
use octo_workspace::session_folder;
use run_loop::SchedulerLoop;
use std::{path::Path, sync::Arc};
use tokio::sync::Mutex;

/// Begins the runs of tasks and follows them.
pub(crate) struct Scheduler {
    base: Arc<Base>,
    runtime: Arc<Runtime>,
    tasks: HomeTasks,
    sessions: Sessions,
    /// Locked while runs are begun and followed.
    state: Mutex<SchedulerState>,
}

/// Whether this process begins runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SchedulerState {
    Open,
    Closed,
}

impl Scheduler {
    pub(crate) fn new(sessions: Sessions) -> Self {
        let runtime = Arc::clone(sessions.runtime());
        Self {
            base: Arc::clone(&runtime.base),
            tasks: runtime.services.tasks.clone(),
            runtime,
            sessions,
            state: Mutex::new(SchedulerState::Open),
        }
    }

    /// Runs scheduled tasks for as long as the application runs.
    pub(crate) fn begin(self: &Arc<Self>) {
        self.tasks.watch_folder();
        SchedulerLoop::begin(self);
    }

    /// Stops beginning runs and lets other processes do so.
    pub(crate) async fn release(&self) {
        *self.state.lock().await = SchedulerState::Closed;
        let token = self.base.lease.token.clone();
        if let Err(error) = self.base.store.write(move |tx| tx.release_schedule_lease(&token)).await {
            // The next process recognises a remaining lease as dead.
            tracing::warn!(%error, "the schedule's lease is not released");
        }
    }

    /// Begins a waiting run: creates its session and stores the run as begun, in one transaction.
    async fn start_run(&self, plan: &TaskPlan, row: &RunRow, now: Millis) -> Result<(), ApiError> {
        let model = self.sessions.model_or_default(plan.model).await?;
        let folder = session_folder(Path::new(&plan.folder))?;
        let mut run = row.clone();
        run.run.started_at = Some(now);
        // From the current plan, which may have changed while the run waited.
        run.budget = plan.budget;
        run.minutes = plan.minutes;
        let kind = NewSessionKind::Task { model, run: Box::new(run) };
        let blocks = vec![Block::Text { text: plan.prompt.clone() }];
        self.sessions.start(folder, plan.profile.clone(), plan.mode, kind, blocks).await.map(|_| ())
    }

    /// Whether the person's budget for the day is used up.
    async fn is_day_spent(&self) -> Result<bool, ApiError> {
        let Some(limit) = self.base.preferences().budgets.day else { return Ok(false) };
        let spending = self.base.store.read(|reader| reader.spending_since(midnight())).await;
        Ok(spending?.cost >= limit)
    }
}
