//! `task_states`, `schedule_lease`: what the person chose for tasks that run at their time, up to when their times were
//! decided, and which process decides. No events: whoever watches the tasks is told that something changed.

use crate::{Holder, LeaseOutcome, Life, Reader, StoreError, Tx, lease::holder};
use octo_protocol::{Millis, Switch};
use rusqlite::params;
use std::collections::HashMap;

/// What is known of a task besides its file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskStateRow {
    /// Whether it runs at its times: off while the person paused it.
    pub on: Switch,
    /// The hash of its file as the person wrote or accepted it; none where they never saw it.
    pub accepted: Option<String>,
    /// Up to when its times were decided; none where that begins with the next look.
    pub decided: Option<Millis>,
}

impl Reader<'_> {
    /// What is known of each task, by the name of its file.
    pub fn task_states(&self) -> Result<HashMap<String, TaskStateRow>, StoreError> {
        let rows = self.rows("SELECT task, paused, accepted, decided FROM task_states", [], |row| {
            let on = if row.get(1)? { Switch::Off } else { Switch::On };
            Ok((row.get(0)?, TaskStateRow { on, accepted: row.get(2)?, decided: row.get(3)? }))
        })?;
        Ok(rows.into_iter().collect())
    }

    /// What is known of one task; what is known of a new one where nothing is.
    pub fn task_state(&self, task: &str) -> Result<TaskStateRow, StoreError> {
        let row =
            self.row("SELECT paused, accepted, decided FROM task_states WHERE task = ?1", [task], |row| {
                let on = if row.get(0)? { Switch::Off } else { Switch::On };
                Ok(TaskStateRow { on, accepted: row.get(1)?, decided: row.get(2)? })
            })?;
        Ok(row.unwrap_or_default())
    }

    /// Who has the lease of the schedule, dead or alive.
    pub fn schedule_lease(&self) -> Result<Option<Holder>, StoreError> {
        self.row("SELECT process, started, boot, token FROM schedule_lease", [], |row| Ok(holder(row)?))
    }
}

impl Tx<'_> {
    /// Replaces what is known of a task.
    pub fn put_task_state(&mut self, task: &str, state: &TaskStateRow) -> Result<(), StoreError> {
        self.change(
            "INSERT INTO task_states (task, paused, accepted, decided) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET
               paused = excluded.paused, accepted = excluded.accepted, decided = excluded.decided",
            params![task, state.on == Switch::Off, state.accepted, state.decided],
        )?;
        Ok(())
    }

    /// A task's times are decided up to this moment. On a task of which nothing else is known this says nothing.
    pub fn task_decided(&mut self, task: &str, until: Option<Millis>) -> Result<(), StoreError> {
        self.change("UPDATE task_states SET decided = ?2 WHERE task = ?1", params![task, until])?;
        Ok(())
    }

    /// Takes the lease of the schedule for `holder`, unless a living process has it. `probe` says who lives:
    /// [`crate::probe`] outside tests.
    pub fn take_schedule_lease(
        &mut self,
        holder: &Holder,
        probe: impl Fn(&Holder) -> Life,
    ) -> Result<LeaseOutcome, StoreError> {
        let previous = match self.schedule_lease()? {
            Some(current) if current.token == holder.token => return Ok(LeaseOutcome::Taken),
            Some(current) if probe(&current) == Life::Alive => return Ok(LeaseOutcome::HeldBy(current)),
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

    /// Gives the lease of the schedule back, if `token` has it.
    pub fn release_schedule_lease(&mut self, token: &str) -> Result<(), StoreError> {
        self.change("DELETE FROM schedule_lease WHERE token = ?1", [token])?;
        Ok(())
    }
}
