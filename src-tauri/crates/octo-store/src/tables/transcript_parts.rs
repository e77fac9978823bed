//! Parts of a conversation that are not necessarily its end.

use crate::{
    Reader, StoreError,
    column::to_json,
    key,
    tables::transcript::{attach, block, message, message_columns},
};
use octo_protocol::{Message, SessionId, TranscriptPage, TranscriptPart, TranscriptPlace};
use rusqlite::params;
use std::collections::BTreeSet;

impl Reader<'_> {
    /// Returns at most `limit` messages at a position, with their turns and calls.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`], [`StoreError::UnknownMessage`].
    pub fn transcript_part(
        &self,
        session: SessionId,
        position: TranscriptPlace,
        limit: u32,
    ) -> Result<TranscriptPart, StoreError> {
        let key = self.live_key(session)?.ok_or(StoreError::UnknownSession(session))?;
        let rows = key.rows();
        let start = match position {
            TranscriptPlace::After { message } => self.message_key(key, message)? + 1,
            TranscriptPlace::Around { message } => {
                let position = self.message_key(key, message)?;
                let before = self.row(
                    "SELECT min(key) FROM (SELECT key FROM messages WHERE key BETWEEN ?1 AND ?2
                                           ORDER BY key DESC LIMIT ?3)",
                    params![rows.start(), position, i64::from(limit / 2) + 1],
                    |row| Ok(row.get::<_, Option<i64>>(0)?),
                )?;
                before.flatten().unwrap_or(position)
            }
        };
        let mut messages = self.rows(
            concat!(
                "SELECT ",
                message_columns!(),
                " FROM messages
                 WHERE key BETWEEN ?1 AND ?2 ORDER BY key LIMIT ?3"
            ),
            params![start, rows.end(), i64::from(limit) + 1],
            message,
        )?;
        let later = messages.len() > limit as usize;
        messages.truncate(limit as usize);
        let earlier = self.row(
            "SELECT EXISTS (SELECT 1 FROM messages WHERE key BETWEEN ?1 AND ?2)",
            [*rows.start(), start - 1],
            |row| Ok(row.get::<_, bool>(0)?),
        )?;
        Ok(TranscriptPart { page: self.page_of(messages, earlier == Some(true))?, later })
    }

    /// Makes a page of messages, given with their keys and in order; adds their blocks, turns and calls.
    pub(crate) fn page_of(
        &self,
        mut messages: Vec<(i64, Message)>,
        earlier: bool,
    ) -> Result<TranscriptPage, StoreError> {
        if let (Some((first_key, _)), Some((last_key, _))) = (messages.first(), messages.last()) {
            let blocks = self.rows(
                "SELECT key, text, block_json FROM blocks WHERE key BETWEEN ?1 AND ?2 ORDER BY key",
                [*first_key, *key::blocks(*last_key).end()],
                block,
            )?;
            attach(&mut messages, blocks);
        }
        let messages: Vec<Message> = messages.into_iter().map(|(_, message)| message).collect();
        let turns: BTreeSet<String> = messages.iter().map(|message| message.turn.to_string()).collect();
        let calls = self.calls_of(&messages)?;
        Ok(TranscriptPage { turns: self.turns(&to_json(&turns)?)?, calls, messages, earlier })
    }

    /// Returns the whole stored conversation, including undone turns.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`].
    pub fn whole_transcript(&self, session: SessionId) -> Result<TranscriptPage, StoreError> {
        let rows = self.live_key(session)?.ok_or(StoreError::UnknownSession(session))?.rows();
        let messages = self.rows(
            concat!("SELECT ", message_columns!(), " FROM messages WHERE key BETWEEN ?1 AND ?2 ORDER BY key"),
            [rows.start(), rows.end()],
            message,
        )?;
        self.page_of(messages, false)
    }
}
