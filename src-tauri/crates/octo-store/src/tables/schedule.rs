//! `task_states`, `schedule_lease`: the person's choices for scheduled tasks, the time up to which their runs
//! were decided, and the process that decides. No events: subscribers of the tasks learn that something
//! changed.

use crate::{Holder, HolderState, LeaseOutcome, Reader, StoreError, Tx, lease::holder};
use octo_protocol::{Millis, Switch};
use rusqlite::params;
use std::collections::HashMap;

/// The data about a task that is not in its file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskStateRow {
    /// True if the task runs on schedule, false while the person has paused it.
    pub on: Switch,
    /// The hash of its file as the person wrote or accepted it; `None` if they never saw it.
    pub accepted: Option<String>,
    /// The time up to which its runs were decided; `None` if the next check is the first to decide any.
    pub decided_until: Option<Millis>,
}

impl Reader<'_> {
    /// Returns the data about each task, by the name of its file.
    pub fn task_states(&self) -> Result<HashMap<String, TaskStateRow>, StoreError> {
        let rows = self.rows("SELECT task, paused, accepted, decided FROM task_states", [], |row| {
            let switch = if row.get(1)? { Switch::Off } else { Switch::On };
            Ok((row.get(0)?, TaskStateRow { on: switch, accepted: row.get(2)?, decided_until: row.get(3)? }))
        })?;
        Ok(rows.into_iter().collect())
    }

    /// Returns the data about one task; the data of a new task if there is none.
    pub fn task_state(&self, task: &str) -> Result<TaskStateRow, StoreError> {
        let row =
            self.row("SELECT paused, accepted, decided FROM task_states WHERE task = ?1", [task], |row| {
                let switch = if row.get(0)? { Switch::Off } else { Switch::On };
                Ok(TaskStateRow { on: switch, accepted: row.get(1)?, decided_until: row.get(2)? })
            })?;
        Ok(row.unwrap_or_default())
    }

    /// Returns the holder of the schedule's lease, dead or alive.
    pub fn schedule_lease(&self) -> Result<Option<Holder>, StoreError> {
        self.row("SELECT process, started, boot, token FROM schedule_lease", [], |row| Ok(holder(row)?))
    }
}

impl Tx<'_> {
    /// Replaces the data about a task.
    pub fn put_task_state(&mut self, task: &str, state: &TaskStateRow) -> Result<(), StoreError> {
        self.change(
            "INSERT INTO task_states (task, paused, accepted, decided) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET
               paused = excluded.paused, accepted = excluded.accepted, decided = excluded.decided",
            params![task, state.on == Switch::Off, state.accepted, state.decided_until],
        )?;
        Ok(())
    }

    /// Records that a task's runs are decided up to this moment. Does nothing for a task without a row.
    pub fn set_task_decided(&mut self, task: &str, until: Option<Millis>) -> Result<(), StoreError> {
        self.change("UPDATE task_states SET decided = ?2 WHERE task = ?1", params![task, until])?;
        Ok(())
    }

    /// Takes the schedule's lease for `holder`, unless a living process has it. `probe` determines whether a
    /// holder is alive: [`crate::probe`] outside tests.
    pub fn take_schedule_lease(
        &mut self,
        holder: &Holder,
        probe: impl Fn(&Holder) -> HolderState,
    ) -> Result<LeaseOutcome, StoreError> {
        let previous = match self.schedule_lease()? {
            Some(current) if current.token == holder.token => return Ok(LeaseOutcome::Taken),
            Some(current) if probe(&current) == HolderState::Alive => {
                return Ok(LeaseOutcome::HeldBy(current));
            }
            previous => previous,
        };
        let started = i64::try_from(holder.started).unwrap_or(i64::MAX);
        self.change(
            "INSERT INTO schedule_lease (only, process, started, boot, token) VALUES (1, ?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET
               process = excluded.process, started = excluded.started, boot = excluded.boot, token = excluded.token",
            params![holder.process, started, holder.boot, holder.token],
        )?;
        Ok(previous.map_or(LeaseOutcome::Taken, LeaseOutcome::TakenOver))
    }

    /// Releases the schedule's lease, if `token` has it.
    pub fn release_schedule_lease(&mut self, token: &str) -> Result<(), StoreError> {
        self.change("DELETE FROM schedule_lease WHERE token = ?1", [token])?;
        Ok(())
    }
}
