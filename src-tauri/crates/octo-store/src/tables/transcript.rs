//! `messages` and `blocks`: the stored conversation.

use crate::{
    Reader, StoreError, Tx,
    column::{from_json, from_json_or_null, from_word, id, id_or_null, to_json, to_word},
    key::{self, SessionKey},
};
use octo_protocol::{
    Block, Message, MessageEnd, MessageId, Meta, Origin, SessionId, SessionSnapshot, StoredTopic,
    TranscriptPage, Usage,
};
use rusqlite::{Row, params};
use std::collections::HashMap;

/// The columns [`message`] reads, in its order.
macro_rules! message_columns {
    () => {
        "messages.key, messages.id, turn, role, origin, at, model, end, usage_json, via"
    };
}
pub(crate) use message_columns;

/// Reads a message without its blocks from [`message_columns`], with its key.
pub(crate) fn message(row: &Row<'_>) -> Result<(i64, Message), StoreError> {
    let meta = Meta {
        origin: from_word(row.get(4)?)?,
        at: row.get(5)?,
        model: id_or_null(row, 6)?,
        end: row.get::<_, Option<String>>(7)?.map(from_word).transpose()?,
        usage: from_json_or_null(row, 8)?,
        via: row.get::<_, Option<String>>(9)?.map(from_word).transpose()?,
    };
    let message = Message {
        id: id(row, 1)?,
        turn: id(row, 2)?,
        role: from_word(row.get(3)?)?,
        blocks: Vec::new(),
        meta,
    };
    Ok((row.get(0)?, message))
}

/// Reads `key, text, block_json`.
pub(crate) fn block(row: &Row<'_>) -> Result<(i64, Block), StoreError> {
    let block = match row.get::<_, Option<String>>(1)? {
        Some(text) => Block::Text { text },
        None => from_json(row, 2)?,
    };
    Ok((row.get(0)?, block))
}

/// Returns a block's two columns: text a person may search for, or the block as JSON.
fn columns(block: &Block, origin: Origin) -> Result<(Option<&str>, Option<String>), StoreError> {
    match block {
        // Octo's messages to the model are not part of the text a person reads or remembers.
        Block::Text { text } if origin != Origin::Octo => Ok((Some(text), None)),
        other => Ok((None, Some(to_json(other)?))),
    }
}

impl Reader<'_> {
    /// Returns a message's key, if it exists and belongs to the session.
    pub(crate) fn message_key(&self, session: SessionKey, message: MessageId) -> Result<i64, StoreError> {
        self.row("SELECT key FROM messages WHERE id = ?1", [message.to_string()], |row| {
            Ok(row.get::<_, i64>(0)?)
        })?
        .filter(|key| key::session_of(*key) == session)
        .ok_or(StoreError::UnknownMessage(message))
    }

    /// Returns [`Reader::message_key`] of a message the session may see: its own, or its parent's.
    pub(crate) fn visible_message_key(
        &self,
        session: SessionKey,
        message: MessageId,
    ) -> Result<i64, StoreError> {
        match self.message_key(session, message) {
            Err(StoreError::UnknownMessage(_)) => match self.parent_key(session)? {
                Some(parent) => self.message_key(parent, message),
                None => Err(StoreError::UnknownMessage(message)),
            },
            found => found,
        }
    }

    /// Returns a page of `limit` messages before `before`, or the newest page; with their turns and calls.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`], [`StoreError::UnknownMessage`].
    pub fn page(
        &self,
        session: SessionId,
        before: Option<MessageId>,
        limit: u32,
    ) -> Result<TranscriptPage, StoreError> {
        let key = self.live_key(session)?.ok_or(StoreError::UnknownSession(session))?;
        let rows = key.rows();
        let end = match before {
            Some(before) => self.message_key(key, before)? - 1,
            None => *rows.end(),
        };
        let mut messages = self.rows(
            concat!(
                "SELECT ",
                message_columns!(),
                " FROM messages
                 WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC LIMIT ?3"
            ),
            params![rows.start(), end, i64::from(limit) + 1],
            message,
        )?;
        let earlier = messages.len() > limit as usize;
        messages.truncate(limit as usize);
        messages.reverse();
        self.page_of(messages, earlier)
    }

    /// Returns a message of a session; `None` if it does not exist, as after a discard.
    pub fn message(&self, session: SessionId, message: MessageId) -> Result<Option<Message>, StoreError> {
        let Some(session_key) = self.live_key(session)? else { return Ok(None) };
        let key = match self.message_key(session_key, message) {
            Ok(key) => key,
            Err(StoreError::UnknownMessage(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let sql = concat!("SELECT ", message_columns!(), " FROM messages WHERE key = ?1");
        let mut found = self.rows(sql, [key], self::message)?;
        let blocks = self.rows(
            "SELECT key, text, block_json FROM blocks WHERE key BETWEEN ?1 AND ?1 | 65535 ORDER BY key",
            [key],
            block,
        )?;
        attach(&mut found, blocks);
        Ok(found.pop().map(|(_, message)| message))
    }

    /// Returns everything a client needs to draw the session, with its newest `limit` messages. Streaming text
    /// is not stored; the actor that has it adds it.
    pub fn snapshot(&self, session: SessionId, limit: u32) -> Result<Option<SessionSnapshot>, StoreError> {
        let Some(info) = self.session(session)? else { return Ok(None) };
        let key = self.require_key(session)?;
        let (retry, context_tokens) = self.retry_and_context_tokens(key)?;
        let (suggestion, budget) = self.suggestion_and_budget(key)?;
        Ok(Some(SessionSnapshot {
            seq: self.topic_seq(&StoredTopic::Session { id: session })?,
            info,
            page: self.page(session, None, limit)?,
            questions: self.questions(key)?,
            queue: self.queue(key)?,
            todos: self.todos(key)?,
            commands: self.commands(key)?,
            streaming: Vec::new(),
            retry,
            draft: self.draft(key)?,
            notes: self.notes(key)?,
            context_tokens,
            spending: self.spending_of(key)?,
            suggestion,
            budget,
            fork: self.sub_agent_by_key(key)?.map(|fork| fork.origin),
            origin: self.origin_of(key)?,
        }))
    }
}

/// Puts blocks (in order) into their messages (in order).
pub(crate) fn attach(messages: &mut [(i64, Message)], blocks: Vec<(i64, Block)>) {
    let indices: HashMap<i64, usize> =
        messages.iter().enumerate().map(|(index, (key, _))| (*key, index)).collect();
    for (key, block) in blocks {
        if let Some((_, message)) =
            indices.get(&key::message_of(key)).and_then(|index| messages.get_mut(*index))
        {
            message.blocks.push(block);
        }
    }
}

impl Tx<'_> {
    /// Adds a message after all others of the session. `open` while its blocks are still to follow.
    pub(crate) fn project_message(
        &self,
        session: SessionKey,
        message: &Message,
        state: MessageState,
    ) -> Result<(), StoreError> {
        let rows = session.rows();
        let last_key = self.row(
            "SELECT max(key) FROM messages WHERE key BETWEEN ?1 AND ?2",
            [rows.start(), rows.end()],
            |row| Ok(row.get::<_, Option<i64>>(0)?),
        )?;
        let key = session.message(last_key.flatten().map_or(0, |last_key| key::position_of(last_key) + 1))?;
        let meta = &message.meta;
        self.change(
            "INSERT INTO messages (key, id, turn, role, origin, at, model, end, usage_json, open, via)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                key,
                message.id.to_string(),
                message.turn.to_string(),
                to_word(&message.role)?,
                to_word(&meta.origin)?,
                meta.at,
                meta.model.map(|id| id.to_string()),
                meta.end.as_ref().map(to_word).transpose()?,
                meta.usage.as_ref().map(to_json).transpose()?,
                state == MessageState::Open,
                meta.via.as_ref().map(to_word).transpose()?,
            ],
        )?;
        for (index, block) in (0..).zip(&message.blocks) {
            let (text, block_json) = columns(block, meta.origin)?;
            self.change(
                "INSERT INTO blocks (key, text, block_json) VALUES (?1, ?2, ?3)",
                params![key::block(key, index)?, text, block_json],
            )?;
        }
        Ok(())
    }

    pub(crate) fn project_block(
        &self,
        session: SessionKey,
        message: MessageId,
        index: u32,
        block: &Block,
    ) -> Result<(), StoreError> {
        let message = self.message_key(session, message)?;
        let (text, block_json) = columns(block, Origin::Model)?;
        self.change(
            "INSERT INTO blocks (key, text, block_json) VALUES (?1, ?2, ?3)",
            params![key::block(message, index)?, text, block_json],
        )?;
        Ok(())
    }

    /// The sums of turn and session are unchanged: events of the turn and of the session's info update them.
    pub(crate) fn project_message_ended(
        &self,
        session: SessionKey,
        message: MessageId,
        end: MessageEnd,
        usage: Option<&Usage>,
    ) -> Result<(), StoreError> {
        let message = self.message_key(session, message)?;
        self.change(
            "UPDATE messages SET end = ?2, usage_json = ?3, open = 0 WHERE key = ?1",
            params![message, to_word(&end)?, usage.map(to_json).transpose()?],
        )?;
        if let Some(usage) = usage {
            self.project_context_tokens(session, usage.context_tokens())?;
        }
        Ok(())
    }

    pub(crate) fn project_message_discarded(
        &self,
        session: SessionKey,
        message: MessageId,
    ) -> Result<(), StoreError> {
        let message = self.message_key(session, message)?;
        let range = key::blocks(message);
        let range = [range.start(), range.end()];
        let blocks =
            self.rows("SELECT key, text, block_json FROM blocks WHERE key BETWEEN ?1 AND ?2", range, block)?;
        let calls: Vec<String> = blocks
            .iter()
            .filter_map(|(_, block)| match block {
                Block::ToolCall(call) => Some(call.id.to_string()),
                _ => None,
            })
            .collect();
        if !calls.is_empty() {
            self.change(
                "DELETE FROM calls WHERE id IN (SELECT value FROM json_each(?1))",
                [to_json(&calls)?],
            )?;
        }
        self.change("DELETE FROM blocks WHERE key BETWEEN ?1 AND ?2", range)?;
        self.change("DELETE FROM context WHERE message = ?1", [message])?;
        self.change("DELETE FROM messages WHERE key = ?1", [message])?;
        Ok(())
    }
}

/// Whether a message's blocks are still to follow.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageState {
    Whole,
    Open,
}
