//! `calls`.

use crate::{
    Reader, StoreError, StoredCall, Tx,
    column::{from_json, from_json_or_null, id, to_json},
    key::SessionKey,
};
use octo_protocol::{CallId, CallState, CallView, Message, ToolResult, TurnId};
use rusqlite::{Row, params};
use std::collections::HashMap;

/// Reads `id, turn, tool, state_json, view_json`.
fn call(row: &Row<'_>) -> Result<CallView, StoreError> {
    Ok(CallView {
        id: id(row, 0)?,
        turn: id(row, 1)?,
        tool: row.get(2)?,
        state: from_json(row, 3)?,
        view: from_json_or_null(row, 4)?,
    })
}

impl Reader<'_> {
    /// Returns the calls of these messages, in the order in which the messages make them.
    pub(crate) fn calls_of(&self, messages: &[Message]) -> Result<Vec<CallView>, StoreError> {
        let ids: Vec<CallId> = messages.iter().flat_map(Message::calls).map(|call| call.id).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut found: HashMap<CallId, CallView> = self
            .rows(
                "SELECT id, turn, tool, state_json, view_json FROM calls
                 WHERE id IN (SELECT value FROM json_each(?1))",
                [to_json(&ids)?],
                call,
            )?
            .into_iter()
            .map(|call| (call.id, call))
            .collect();
        Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
    }

    /// Returns the calls of a turn with their results, in the order of their first event.
    pub(crate) fn calls_of_turn(&self, turn: TurnId) -> Result<Vec<StoredCall>, StoreError> {
        self.rows(
            "SELECT id, turn, tool, state_json, view_json, result_json FROM calls WHERE turn = ?1 ORDER BY key",
            [turn.to_string()],
            |row| Ok(StoredCall { view: call(row)?, result: from_json_or_null(row, 5)? }),
        )
    }
}

impl Tx<'_> {
    /// Stores the result of a call that ended, before the message that will contain it exists.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`] for a call without an emitted [`octo_protocol::Event::CallChanged`].
    pub fn set_call(&mut self, call: CallId, result: &ToolResult) -> Result<(), StoreError> {
        self.change_one(
            "the call",
            "UPDATE calls SET result_json = ?2 WHERE id = ?1",
            params![call.to_string(), to_json(result)?],
        )
    }

    pub(crate) fn project_call(&self, session: SessionKey, call: &CallView) -> Result<(), StoreError> {
        let (started_at, ended_at) = match call.state {
            CallState::Planned | CallState::Asking => (None, None),
            CallState::Started { at } => (Some(at), None),
            CallState::Ended { at, .. } => (None, Some(at)),
        };
        self.change(
            "INSERT INTO calls (id, session, turn, tool, state_json, started_at, ended_at, view_json)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (id) DO UPDATE SET
               turn = excluded.turn, tool = excluded.tool, state_json = excluded.state_json, view_json = excluded.view_json,
               started_at = coalesce(excluded.started_at, started_at), ended_at = excluded.ended_at",
            params![
                call.id.to_string(),
                session.0,
                call.turn.to_string(),
                call.tool,
                to_json(&call.state)?,
                started_at,
                ended_at,
                call.view.as_ref().map(to_json).transpose()?,
            ],
        )?;
        Ok(())
    }
}
