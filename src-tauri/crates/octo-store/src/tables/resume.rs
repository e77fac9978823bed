//! The data an actor needs to continue a session.

use crate::{Reader, StoreError, StoredSession, StoredTurn, column::id, key::SessionKey};
use octo_protocol::{MessageId, SessionId, StoredTopic, TurnView};

impl Reader<'_> {
    /// Returns everything an actor needs to continue a session; `None` if it does not exist or was deleted.
    pub fn resume(&self, session: SessionId) -> Result<Option<StoredSession>, StoreError> {
        let Some(info) = self.session(session)? else { return Ok(None) };
        let key = self.require_key(session)?;
        let (system, toolset) = self.frozen_prompt(key)?.ok_or(StoreError::UnknownSession(session))?;
        let (retry, context_tokens) = self.retry_and_context_tokens(key)?;
        Ok(Some(StoredSession {
            info,
            system,
            toolset,
            seq: self.topic_seq(&StoredTopic::Session { id: session })?,
            context: self.context(key)?,
            unfinished: self.unfinished_turn(key)?.map(|turn| self.stored_turn(key, turn)).transpose()?,
            last_turn: self.last_turn(key)?,
            questions: self.questions(key)?,
            queue: self.queue(key)?,
            todos: self.todos(key)?,
            commands: self.commands(key)?,
            todo_last_id: self.todo_last_id(key)?,
            budget: self.suggestion_and_budget(key)?.1,
            retry,
            draft: self.draft(key)?,
            context_tokens,
            last_calls: self.last_calls(key)?,
            sub_agent: self.sub_agent_by_key(key)?,
        }))
    }

    fn stored_turn(&self, session: SessionKey, turn: TurnView) -> Result<StoredTurn, StoreError> {
        let messages: Vec<(MessageId, bool)> = self
            .rows(
                "SELECT id, open, key FROM messages WHERE turn = ?1 ORDER BY key",
                [turn.id.to_string()],
                |row| Ok((id(row, 0)?, row.get(1)?, row.get(2)?)),
            )?
            .into_iter()
            .filter(|(_, _, key)| session.rows().contains(key))
            .map(|(id, open, _): (MessageId, bool, i64)| (id, open))
            .collect();
        Ok(StoredTurn {
            calls: self.calls_of_turn(turn.id)?,
            open_message: messages.iter().rev().find(|(_, open)| *open).map(|(id, _)| *id),
            messages: messages.into_iter().map(|(id, _)| id).collect(),
            stopping: self.is_stopping(turn.id)?,
            // The turn's own sum is written when it ends; until then the ledger has it.
            turn: TurnView { usage: self.turn_spending(turn.id)?.usage, ..turn },
        })
    }
}
