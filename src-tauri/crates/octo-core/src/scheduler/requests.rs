//! Requests about tasks that run at their time.

use super::Scheduler;
use crate::reply::json;
use octo_protocol::{
    Acknowledgement, ApiError, RemovedBy, ScheduleRequest, SessionId, TaskContent, TaskNotifications,
};
use serde_json::Value;

/// Number of newest runs searched for the run of a session. A run with news is among them, since at most three
/// are in progress at once.
const SEARCHED_RUNS: u32 = 200;

impl Scheduler {
    /// Carries out a request.
    pub(crate) async fn request(&self, request: ScheduleRequest) -> Result<Value, ApiError> {
        let tasks = &self.tasks;
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
                json(Acknowledgement {})
            }
            ScheduleRequest::ListRuns(call) => json(tasks.runs(call.task, call.after, call.limit).await?),
            ScheduleRequest::AnswerMissed(call) => {
                tasks.answer(call.run, call.answer).await?;
                json(Acknowledgement {})
            }
            ScheduleRequest::StopRun(call) => {
                tasks.stop(call.run).await?;
                json(Acknowledgement {})
            }
        }
    }

    /// Returns which news of a scheduled session the person wants; see [`crate::Octo::task_notifications`].
    pub(crate) async fn task_notifications(&self, session: SessionId) -> Option<TaskNotifications> {
        let recent = self.base.store.read(|reader| reader.runs(None, None, SEARCHED_RUNS)).await.ok()?;
        let task = recent.into_iter().find(|run| run.session == Some(session))?.task;
        match self.tasks.get(task).await.ok()?.content {
            TaskContent::Plan { plan } => Some(plan.tell),
            TaskContent::Broken { .. } => None,
        }
    }
}
