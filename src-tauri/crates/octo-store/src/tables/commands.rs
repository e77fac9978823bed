//! `commands`: background commands.

use crate::{
    Reader, StoreError, Tx,
    column::{from_json, id, to_json},
    key::SessionKey,
};
use octo_protocol::BackgroundCommand;
use rusqlite::params;

impl Reader<'_> {
    /// Returns the running background commands, and those whose end the model does not know yet, in order.
    pub(crate) fn commands(&self, session: SessionKey) -> Result<Vec<BackgroundCommand>, StoreError> {
        self.rows(
            "SELECT handle, call, command, cwd, started_at, ended_at, state_json, log, last_line
             FROM commands WHERE session = ?1 ORDER BY position",
            [session.0],
            |row| {
                Ok(BackgroundCommand {
                    handle: row.get(0)?,
                    call: id(row, 1)?,
                    command: row.get(2)?,
                    cwd: row.get(3)?,
                    started_at: row.get(4)?,
                    ended_at: row.get(5)?,
                    state: from_json(row, 6)?,
                    log: row.get(7)?,
                    last_line: row.get(8)?,
                })
            },
        )
    }
}

impl Tx<'_> {
    pub(crate) fn project_commands(
        &self,
        session: SessionKey,
        commands: &[BackgroundCommand],
    ) -> Result<(), StoreError> {
        self.change("DELETE FROM commands WHERE session = ?1", [session.0])?;
        for (position, command) in (0_i64..).zip(commands) {
            self.change(
                "INSERT INTO commands (session, position, handle, call, command, cwd, started_at, ended_at, state_json, log, last_line)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
                params![
                    session.0,
                    position,
                    command.handle,
                    command.call.to_string(),
                    command.command,
                    command.cwd,
                    command.started_at,
                    command.ended_at,
                    to_json(&command.state)?,
                    command.log,
                    command.last_line,
                ],
            )?;
        }
        Ok(())
    }
}
