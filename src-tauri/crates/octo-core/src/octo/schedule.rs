//! Requests about tasks that run at their time, and how their runs begin.

use super::{Octo, json, sessions::Kind};
use crate::{
    schedule::{Tasks, must_hold},
    session::midnight,
};
use octo_protocol::{
    ApiError, Block, Done, Millis, RemovedBy, RunStatus, ScheduleRequest, SessionId, TaskContent, TaskNews,
    TaskPlan,
};
use octo_store::{RunRow, StoreError, Tx};
use octo_workspace::session_folder;
use serde_json::Value;
use std::path::Path;

/// How many of the newest runs are looked through for the one a session is of. A run that is news is among them: there
/// are three at most at once.
const RECENT: u32 = 200;

impl Octo {
    pub(super) async fn schedule(&self, request: ScheduleRequest) -> Result<Value, ApiError> {
        let tasks = Tasks::of(&self.shared);
        match request {
            ScheduleRequest::ListTasks(_) => json(tasks.list().await?),
            ScheduleRequest::GetTask(call) => json(tasks.get(call.task).await?),
            ScheduleRequest::PreviewTask(call) => json(tasks.preview(*call.plan).await?),
            ScheduleRequest::SaveTask(call) => json(tasks.save(call.task, *call.plan, call.version).await?),
            ScheduleRequest::AcceptTask(call) => json(tasks.accept(call.task, &call.version).await?),
            ScheduleRequest::SwitchTask(call) => json(tasks.switch(call.task, call.on).await?),
            ScheduleRequest::RunTask(call) => json(tasks.run_now(call.task).await?),
            ScheduleRequest::DuplicateTask(call) => json(tasks.duplicate(call.task).await?),
            ScheduleRequest::DeleteTask(call) => {
                tasks.delete(call.task, RemovedBy::Person, None).await?;
                json(Done {})
            }
            ScheduleRequest::ListRuns(call) => json(tasks.runs(call.task, call.after, call.limit).await?),
            ScheduleRequest::AnswerMissed(call) => {
                tasks.answer(call.run, call.answer).await?;
                json(Done {})
            }
            ScheduleRequest::StopRun(call) => {
                tasks.stop(call.run).await?;
                json(Done {})
            }
        }
    }

    /// Begins a run that waits: its session is made, and the run stored as begun, in one transaction.
    pub(crate) async fn start_run(&self, plan: &TaskPlan, row: &RunRow, now: Millis) -> Result<(), ApiError> {
        let model = self.model_or_default(plan.model).await?;
        let folder = session_folder(Path::new(&plan.folder))?;
        let mut run = row.clone();
        run.run.started_at = Some(now);
        // As the plan is now: it may have changed while the run waited.
        run.budget = plan.budget;
        run.minutes = plan.minutes;
        let kind = Kind::Task { model, run: Box::new(run) };
        let blocks = vec![Block::Text { text: plan.prompt.clone() }];
        self.start_session(folder, plan.profile.clone(), plan.mode, kind, blocks).await.map(|_| ())
    }

    /// Of what the person wants to be told of a session that a task began; none of any other session, and of a task
    /// that is gone. For whoever shows notices.
    pub async fn told_of(&self, session: SessionId) -> Option<TaskNews> {
        let recent = self.shared.store.read(|reader| reader.runs(None, None, RECENT)).await.ok()?;
        let task = recent.into_iter().find(|run| run.session == Some(session))?.task;
        match Tasks::of(&self.shared).get(task).await.ok()?.content {
            TaskContent::Plan { plan } => Some(plan.tell),
            TaskContent::Broken { .. } => None,
        }
    }

    /// Whether the person's budget for the day is used up.
    pub(crate) async fn is_day_spent(&self) -> Result<bool, ApiError> {
        let Some(limit) = self.shared.preferences().budgets.day else { return Ok(false) };
        let spent = self.shared.store.read(|reader| reader.spending_since(midnight())).await;
        Ok(spent?.cost >= limit)
    }
}

/// A run begins once, and where the schedule is: it fails for one that was taken back or begun meanwhile.
pub(super) fn must_wait(tx: &Tx<'_>, row: &RunRow, token: &str) -> Result<(), StoreError> {
    must_hold(tx, token)?;
    match tx.run(row.run.id)?.map(|known| known.run.status) {
        Some(RunStatus::Waiting { .. }) => Ok(()),
        Some(_) | None => Err(StoreError::Busy),
    }
}

/// A run that has its session now.
pub(super) fn running(mut row: Box<RunRow>, session: SessionId) -> RunRow {
    row.run.status = RunStatus::Running;
    row.run.session = Some(session);
    *row
}
