//! `context`: the model's context, as opposed to the stored transcript.

use crate::{
    Reader, StoreError, Tx,
    key::SessionKey,
    tables::transcript::{attach, block, message, message_columns},
};
use octo_protocol::{Message, MessageId, SessionId};
use rusqlite::params;

impl Reader<'_> {
    /// Returns the messages of the current generation, in order.
    pub(crate) fn context(&self, session: SessionKey) -> Result<Vec<Message>, StoreError> {
        let mut messages = self.rows(
            concat!(
                "SELECT ",
                message_columns!(),
                " FROM context CROSS JOIN messages ON messages.key = context.message
                 WHERE context.session = ?1
                   AND context.generation = (SELECT generation FROM sessions WHERE key = ?1)
                 ORDER BY context.position"
            ),
            [session.0],
            message,
        )?;
        let blocks = self.rows(
            "SELECT blocks.key, text, block_json FROM context
             CROSS JOIN blocks ON blocks.key BETWEEN context.message AND context.message | 65535
             WHERE context.session = ?1
               AND context.generation = (SELECT generation FROM sessions WHERE key = ?1)
             ORDER BY context.position, blocks.key",
            [session.0],
            block,
        )?;
        attach(&mut messages, blocks);
        Ok(messages.into_iter().map(|(_, message)| message).collect())
    }
}

impl Tx<'_> {
    /// Adds a message to the end of the model's context.
    pub fn append_context(&mut self, session: SessionId, message: MessageId) -> Result<(), StoreError> {
        let key = self.require_key(session)?;
        let message = self.message_key(key, message)?;
        self.change_one(
            "the session",
            "INSERT INTO context (session, generation, position, message)
             SELECT key, generation,
               coalesce((SELECT max(position) FROM context
                         WHERE session = sessions.key AND context.generation = sessions.generation), -1) + 1,
               ?2
             FROM sessions WHERE key = ?1",
            [key.0, message],
        )
    }

    /// Replaces the model's context. The earlier generations are kept.
    pub fn new_generation(&mut self, session: SessionId, messages: &[MessageId]) -> Result<(), StoreError> {
        let key = self.require_key(session)?;
        self.change_one(
            "the session",
            "UPDATE sessions SET generation = generation + 1 WHERE key = ?1",
            [key.0],
        )?;
        for (position, message) in (0_i64..).zip(messages) {
            let message = self.visible_message_key(key, *message)?;
            self.change_one(
                "the session",
                "INSERT INTO context (session, generation, position, message)
                 SELECT key, generation, ?2, ?3 FROM sessions WHERE key = ?1",
                params![key.0, position, message],
            )?;
        }
        Ok(())
    }

    /// Removes a message from the model's context, and from all its generations: restoring an earlier step must
    /// not bring it back. It stays in the transcript.
    pub fn drop_from_context(&mut self, session: SessionId, message: MessageId) -> Result<(), StoreError> {
        let key = self.require_key(session)?;
        let message = self.visible_message_key(key, message)?;
        self.change("DELETE FROM context WHERE session = ?1 AND message = ?2", [key.0, message])?;
        Ok(())
    }
}
