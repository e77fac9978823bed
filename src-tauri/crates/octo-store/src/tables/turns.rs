//! `turns`.

use crate::{
    Reader, StoreError, Tx,
    column::{count, from_json_or_null, id, read_count, to_json},
    key::SessionKey,
};
use octo_protocol::{Event, SessionId, StoredTopic, TurnId, TurnView, Usage};
use rusqlite::{Row, params};
use std::time::Duration;

/// The columns [`turn`] reads, in its order.
macro_rules! turn_columns {
    () => {
        "id, started_at, ended_at, end_json, usage_input, usage_cache_read, usage_cache_write, usage_output, undone"
    };
}

/// Reads a turn from [`turn_columns`].
fn turn(row: &Row<'_>) -> Result<TurnView, StoreError> {
    Ok(TurnView {
        id: id(row, 0)?,
        started_at: row.get(1)?,
        ended_at: row.get(2)?,
        end: from_json_or_null(row, 3)?,
        usage: Usage {
            input: read_count(row, 4)?,
            cache_read: read_count(row, 5)?,
            cache_write: read_count(row, 6)?,
            output: read_count(row, 7)?,
        },
        undone: row.get(8)?,
    })
}

impl Reader<'_> {
    /// Returns the turns with these ids (a JSON array), oldest first.
    pub(crate) fn turns(&self, ids_json: &str) -> Result<Vec<TurnView>, StoreError> {
        let mut turns = self.rows(
            concat!(
                "SELECT ",
                turn_columns!(),
                ", key FROM turns WHERE id IN (SELECT value FROM json_each(?1))"
            ),
            [ids_json],
            |row| Ok((row.get::<_, i64>(9)?, turn(row)?)),
        )?;
        turns.sort_by_key(|(key, _)| *key);
        Ok(turns.into_iter().map(|(_, turn)| turn).collect())
    }

    /// Returns the session's newest turn that has not ended.
    pub(crate) fn unfinished_turn(&self, session: SessionKey) -> Result<Option<TurnView>, StoreError> {
        self.row(
            concat!(
                "SELECT ",
                turn_columns!(),
                " FROM turns
                 WHERE session = ?1 AND ended_at IS NULL ORDER BY key DESC LIMIT 1"
            ),
            [session.0],
            turn,
        )
    }

    /// Returns whether the person stopped the turn.
    pub(crate) fn is_stopping(&self, turn: TurnId) -> Result<bool, StoreError> {
        let found = self.row("SELECT stopping FROM turns WHERE id = ?1", [turn.to_string()], |row| {
            Ok(row.get::<_, bool>(0)?)
        })?;
        Ok(found.unwrap_or(false))
    }

    /// Returns the last `limit` pauses between two turns of a session, across all sessions the person worked
    /// in, newest first. A clock that was set back gives a pause of zero.
    pub fn pauses(&self, limit: u32) -> Result<Vec<Duration>, StoreError> {
        self.rows(
            "SELECT pause FROM (
               SELECT turns.key AS key,
                 started_at - lag(ended_at) OVER (PARTITION BY turns.session ORDER BY turns.key) AS pause
               FROM turns JOIN sessions ON sessions.key = turns.session
               WHERE sessions.source = 'window' AND turns.key > (SELECT max(key) FROM turns) - 10 * ?1)
             WHERE pause IS NOT NULL ORDER BY key DESC LIMIT ?1",
            [limit],
            |row| Ok(Duration::from_millis(u64::try_from(row.get::<_, i64>(0)?).unwrap_or(0))),
        )
    }

    /// Returns the session's newest turn.
    pub(crate) fn last_turn(&self, session: SessionKey) -> Result<Option<TurnView>, StoreError> {
        self.row(
            concat!("SELECT ", turn_columns!(), " FROM turns WHERE session = ?1 ORDER BY key DESC LIMIT 1"),
            [session.0],
            turn,
        )
    }
}

impl Tx<'_> {
    /// The turn follows the one at which the session's files and conversation are: the newest, or after an undo
    /// the restored one (none at the start). The time machine knows; the newest run on the path to its active
    /// step counts.
    pub(crate) fn project_turn_started(
        &self,
        session: SessionKey,
        turn: &TurnView,
    ) -> Result<(), StoreError> {
        self.change(
            "INSERT INTO turns (id, session, parent, started_at, ended_at, end_json,
               usage_input, usage_cache_read, usage_cache_write, usage_output)
             VALUES (?1, ?2, CASE
                 WHEN EXISTS (SELECT 1 FROM time_sessions WHERE session = ?2) THEN (
                   WITH RECURSIVE way (number, parent, turn) AS (
                     SELECT number, parent, turn FROM time_tasks
                       WHERE session = ?2
                         AND number = (SELECT active FROM time_sessions WHERE session = ?2)
                     UNION ALL
                     SELECT above.number, above.parent, above.turn FROM way
                       JOIN time_tasks AS above ON above.session = ?2 AND above.number = way.parent
                       WHERE way.turn IS NULL)
                   SELECT turns.key FROM way JOIN turns ON turns.id = way.turn)
                 ELSE (SELECT max(key) FROM turns WHERE session = ?2) END,
               ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                turn.id.to_string(),
                session.0,
                turn.started_at,
                turn.ended_at,
                turn.end.as_ref().map(to_json).transpose()?,
                count(turn.usage.input),
                count(turn.usage.cache_read),
                count(turn.usage.cache_write),
                count(turn.usage.output),
            ],
        )?;
        Ok(())
    }

    /// Marks the session's open turn, if any, as stopped: the next process to open the session ends it. For a
    /// session that no process has open.
    pub fn stop_unfinished(&mut self, session: SessionId) -> Result<(), StoreError> {
        let key = self.require_key(session)?;
        if let Some(turn) = self.unfinished_turn(key)?
            && !self.is_stopping(turn.id)?
        {
            self.emit(StoredTopic::Session { id: session }, Event::TurnStopping { turn: turn.id })?;
        }
        Ok(())
    }

    pub(crate) fn project_turn_stopping(&self, session: SessionKey, turn: TurnId) -> Result<(), StoreError> {
        self.change_one(
            "the turn",
            "UPDATE turns SET stopping = 1 WHERE id = ?1 AND session = ?2",
            params![turn.to_string(), session.0],
        )
    }

    pub(crate) fn project_turn_ended(&self, session: SessionKey, turn: &TurnView) -> Result<(), StoreError> {
        self.change_one(
            "the turn",
            "UPDATE turns SET started_at = ?3, ended_at = ?4, end_json = ?5,
               usage_input = ?6, usage_cache_read = ?7, usage_cache_write = ?8, usage_output = ?9
             WHERE id = ?1 AND session = ?2",
            params![
                turn.id.to_string(),
                session.0,
                turn.started_at,
                turn.ended_at,
                turn.end.as_ref().map(to_json).transpose()?,
                count(turn.usage.input),
                count(turn.usage.cache_read),
                count(turn.usage.cache_write),
                count(turn.usage.output),
            ],
        )
    }
}
