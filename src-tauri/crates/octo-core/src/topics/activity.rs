//! The running work, in this process and in others of the home.

mod requests;

use super::Topics;
use crate::activity::{ActivityInputs, activity_state};
use octo_protocol::{ActivityState, ApiError};
use octo_store::StoreError;
use std::collections::HashMap;

impl Topics {
    /// Returns all running work, in this process and in others of the home.
    pub(crate) async fn activity(&self) -> Result<ActivityState, ApiError> {
        let lines = self.runtime.board.sessions();
        let neighbours = self.sessions.other_process_sessions().await?;
        let other_turns =
            neighbours.iter().filter_map(|work| Some((work.info.id, work.fork.is_some(), work.turn?.0)));
        let turns: Vec<_> = lines
            .iter()
            .filter_map(|(session, activity)| {
                Some((*session, activity.sub_agent.is_some(), activity.turn?.turn))
            })
            .chain(other_turns)
            .collect();
        let ahead =
            turns.iter().filter_map(|(_, _, turn)| Some((*turn, self.runtime.admission.ahead(*turn)?)));
        let (queue_positions, places) = (ahead.collect(), self.runtime.admission.permits());
        let (token, now) = (self.base.lease.token.clone(), self.base.clock.now());
        let result = self.base.store.read(move |reader| {
            let mut spent = HashMap::new();
            for (session, is_fork, turn) in turns {
                // A sub-agent has one turn, and the ledger records its calls under its session.
                let spending =
                    if is_fork { reader.session_spending(session) } else { reader.turn_spending(turn) };
                match spending {
                    Ok(spending) => {
                        spent.insert(session, spending);
                    }
                    // Deleted meanwhile.
                    Err(StoreError::UnknownSession(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            let is_scheduling = reader.schedule_lease()?.filter(|holder| holder.token == token).map(|_| now);
            let runs = reader.open_runs()?.into_iter().map(|row| row.run).collect();
            Ok(ActivityInputs {
                runs,
                spent,
                queue_positions,
                permits: places,
                schedule_time: is_scheduling,
                other_processes: neighbours,
            })
        });
        Ok(activity_state(&lines, &result.await?))
    }
}
