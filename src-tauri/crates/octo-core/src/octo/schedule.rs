//! Requests about tasks that run at their time.

use super::{Octo, json};
use octo_protocol::{ApiError, Done, RemovedBy, ScheduleRequest, SessionId, TaskContent, TaskNews};
use serde_json::Value;

/// How many of the newest runs are looked through for the one a session is of. A run that is news is among them: there
/// are three at most at once.
const RECENT: u32 = 200;

impl Octo {
    pub(super) async fn schedule(&self, request: ScheduleRequest) -> Result<Value, ApiError> {
        let tasks = &self.services.tasks;
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

    /// Of what the person wants to be told of a session that a task began; none of any other session, and of a task
    /// that is gone. For whoever shows notices.
    pub async fn told_of(&self, session: SessionId) -> Option<TaskNews> {
        let recent = self.base.store.read(|reader| reader.runs(None, None, RECENT)).await.ok()?;
        let task = recent.into_iter().find(|run| run.session == Some(session))?.task;
        match self.services.tasks.get(task).await.ok()?.content {
            TaskContent::Plan { plan } => Some(plan.tell),
            TaskContent::Broken { .. } => None,
        }
    }
}
