//! Requests about what runs.

use super::{Octo, json};
use crate::{
    activity::{Known, state},
    schedule::Tasks,
};
use octo_protocol::{
    ActivityId, ActivityRequest, ActivityState, ActivityStatus, ApiError, Done, ErrorCode, SessionId,
};
use octo_store::StoreError;
use serde_json::Value;
use std::collections::HashMap;
use tokio::sync::watch;

impl Octo {
    pub(super) async fn activity(&self, request: ActivityRequest) -> Result<Value, ApiError> {
        match request {
            ActivityRequest::GetActivity(_) => json(self.activity_state().await?),
            ActivityRequest::StopActivity(call) => {
                self.stop_activity(call.id).await?;
                json(Done {})
            }
            ActivityRequest::StopAllActivity(_) => {
                json(octo_protocol::StoppedActivity { count: self.stop_all().await? })
            }
        }
    }

    /// Another number whenever something runs otherwise.
    pub(crate) fn activity_news(&self) -> watch::Receiver<u64> {
        self.shared.board.change().watch()
    }

    /// All that runs, in this process and in others of the home.
    pub(crate) async fn activity_state(&self) -> Result<ActivityState, ApiError> {
        let shared = &self.shared;
        let lines = shared.board.lines();
        let neighbours = self.neighbours().await?;
        let theirs =
            neighbours.iter().filter_map(|work| Some((work.info.id, work.fork.is_some(), work.turn?.0)));
        let turns: Vec<_> = lines
            .iter()
            .filter_map(|(session, doing)| Some((*session, doing.fork.is_some(), doing.turn?.turn)))
            .chain(theirs)
            .collect();
        let ahead = turns.iter().filter_map(|(_, _, turn)| Some((*turn, shared.admission.ahead(*turn)?)));
        let (ahead, places) = (ahead.collect(), shared.admission.places());
        let (token, now) = (shared.lease.token.clone(), Tasks::of(shared).now());
        let known = shared.store.read(move |reader| {
            let mut spent = HashMap::new();
            for (session, is_fork, turn) in turns {
                // A sub-agent has one turn, and its calls are in the ledger under its session.
                let spending =
                    if is_fork { reader.session_spending(session) } else { reader.turn_spending(turn) };
                match spending {
                    Ok(spending) => {
                        spent.insert(session, spending);
                    }
                    // Deleted under it.
                    Err(StoreError::UnknownSession(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            let tends = reader.schedule_lease()?.filter(|holder| holder.token == token).map(|_| now);
            let runs = reader.open_runs()?.into_iter().map(|row| row.run).collect();
            Ok(Known { runs, spent, ahead, places, tends, neighbours })
        });
        Ok(state(&lines, &known.await?))
    }

    /// Stops one thing that runs.
    async fn stop_activity(&self, id: ActivityId) -> Result<(), ApiError> {
        let stopped = match id {
            ActivityId::Session { session } | ActivityId::SubAgent { session } => {
                self.stop_session(session).await
            }
            ActivityId::Task { run } => Tasks::of(&self.shared).stop(run).await,
            ActivityId::Command { session, handle } => self.stop_command(session, handle).await,
        };
        match stopped {
            Err(error) if error.code == Some(ErrorCode::Gone) || error.key == "task.run_gone" => Ok(()),
            other => other,
        }
    }

    async fn stop_session(&self, session: SessionId) -> Result<(), ApiError> {
        let handle = self.open.lock().await.get(&session).cloned();
        match handle {
            Some(handle) if handle.is_open() => handle.stop().await,
            // One that is gone does nothing, unless another process works on it.
            Some(_) | None => self.wish_turn_over(session).await.map(|_| ()),
        }
    }

    /// Stops everything; how many things. What waits for a place comes first, so that it does not get one now.
    ///
    /// # Errors
    /// Why something could not be stopped, once all was tried.
    async fn stop_all(&self) -> Result<u32, ApiError> {
        let rows = self.activity_state().await?.rows;
        let (queued, rest): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|row| matches!(row.status, ActivityStatus::Queued { .. }));
        let (mut count, mut refused): (u32, _) = (0, None);
        for rows in [queued, rest] {
            let stops = rows.into_iter().map(|row| async move {
                let stopped = self.stop_activity(row.id.clone()).await;
                // Whoever tends the tasks stops its session in a moment: by then it could have a place.
                if let (Ok(()), ActivityId::Task { .. }, Some(session)) = (&stopped, &row.id, row.session) {
                    return (row.id, self.stop_session(session).await);
                }
                (row.id, stopped)
            });
            for (id, stopped) in futures::future::join_all(stops).await {
                match stopped {
                    Ok(()) => count = count.saturating_add(1),
                    Err(error) => {
                        tracing::warn!(?id, %error, "not stopped with everything");
                        refused = refused.or(Some(error));
                    }
                }
            }
        }
        refused.map_or(Ok(count), Err)
    }
}
