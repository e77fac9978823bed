//! Requests about running work.

use crate::{reply::json, topics::Topics};
use octo_protocol::{
    Acknowledgement, ActivityId, ActivityRequest, ActivityStatus, ApiError, ErrorCode, SessionId,
};
use serde_json::Value;

impl Topics {
    /// Carries out a request about running work.
    pub(crate) async fn activity_request(&self, request: ActivityRequest) -> Result<Value, ApiError> {
        match request {
            ActivityRequest::GetActivity(_) => json(self.activity().await?),
            ActivityRequest::StopActivity(call) => {
                self.stop_activity(call.id).await?;
                json(Acknowledgement {})
            }
            ActivityRequest::StopAllActivity(_) => {
                json(octo_protocol::StoppedActivity { count: self.stop_all().await? })
            }
        }
    }

    /// Stops one running item.
    async fn stop_activity(&self, id: ActivityId) -> Result<(), ApiError> {
        let stopped = match id {
            ActivityId::Session { session } | ActivityId::SubAgent { session } => {
                self.stop_session(session).await
            }
            ActivityId::Task { run } => self.services.tasks.stop(run).await,
            ActivityId::Command { session, handle } => self.sessions.stop_command(session, handle).await,
        };
        match stopped {
            Err(error) if error.code == Some(ErrorCode::Gone) || error.key == "task.run_gone" => Ok(()),
            other => other,
        }
    }

    async fn stop_session(&self, session: SessionId) -> Result<(), ApiError> {
        let handle = self.runtime.open.get(session).await;
        match handle {
            Some(handle) if handle.is_open() => handle.stop().await,
            // A closed session has nothing to stop, unless another process works on it.
            Some(_) | None => self.sessions.request_turn_stop(session).await.map(|_| ()),
        }
    }

    /// Stops everything and returns how many items. Those waiting for a permit are stopped first, so that they
    /// do not get one now.
    ///
    /// # Errors
    /// Why an item could not be stopped, once all were tried.
    async fn stop_all(&self) -> Result<u32, ApiError> {
        let rows = self.activity().await?.rows;
        let (queued, running): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|row| matches!(row.status, ActivityStatus::Queued { .. }));
        let (mut count, mut refusal): (u32, _) = (0, None);
        for rows in [queued, running] {
            let results = rows.into_iter().map(|row| async move {
                let stopped = self.stop_activity(row.id.clone()).await;
                // The scheduler stops its session in a moment: by then it could have a permit.
                if let (Ok(()), ActivityId::Task { .. }, Some(session)) = (&stopped, &row.id, row.session) {
                    return (row.id, self.stop_session(session).await);
                }
                (row.id, stopped)
            });
            for (id, stopped) in futures::future::join_all(results).await {
                match stopped {
                    Ok(()) => count = count.saturating_add(1),
                    Err(error) => {
                        tracing::warn!(?id, %error, "not stopped with everything");
                        refusal = refusal.or(Some(error));
                    }
                }
            }
        }
        refusal.map_or(Ok(count), Err)
    }
}
