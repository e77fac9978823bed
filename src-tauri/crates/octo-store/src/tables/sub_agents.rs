//! `forks`: sub-agents, sessions that do a part of another session's work.

use crate::{
    InheritedContext, NewSubAgent, Reader, StoreError, StoredSubAgent, Tx,
    column::{from_json, id, to_json},
    key::SessionKey,
};
use octo_protocol::{Event, Millis, SessionId, StoredTopic, SubAgentOrigin, TurnView};
use rusqlite::params;

impl Reader<'_> {
    /// Returns the parent link of a sub-agent's session; `None` for other sessions.
    pub fn sub_agent(&self, session: SessionId) -> Result<Option<StoredSubAgent>, StoreError> {
        let Some(key) = self.find_key(session)? else { return Ok(None) };
        self.sub_agent_by_key(key)
    }

    pub(crate) fn sub_agent_by_key(&self, session: SessionKey) -> Result<Option<StoredSubAgent>, StoreError> {
        self.row(
            "SELECT parents.id, forks.turn, forks.call, forks.name, forks.tools_json, parents.title FROM forks
             JOIN sessions AS parents ON parents.key = forks.parent WHERE forks.session = ?1",
            [session.0],
            |row| {
                let origin = SubAgentOrigin {
                    session: id(row, 0)?,
                    turn: id(row, 1)?,
                    call: id(row, 2)?,
                    name: row.get(3)?,
                    title: row.get(5)?,
                };
                Ok(StoredSubAgent { origin, forbidden: from_json(row, 4)? })
            },
        )
    }

    /// Returns the sub-agents of a session, deleted ones too, in the order they were started.
    pub fn sub_agents(&self, parent: SessionId) -> Result<Vec<SessionId>, StoreError> {
        let key = self.require_key(parent)?;
        self.rows(
            "SELECT sessions.id FROM forks JOIN sessions ON sessions.key = forks.session
             WHERE forks.parent = ?1 ORDER BY forks.session",
            [key.0],
            |row| id(row, 0),
        )
    }

    /// Returns the parent of a sub-agent, by number.
    pub(crate) fn parent_key(&self, session: SessionKey) -> Result<Option<SessionKey>, StoreError> {
        self.row("SELECT parent FROM forks WHERE session = ?1", [session.0], |row| {
            Ok(SessionKey(row.get(0)?))
        })
    }
}

impl Tx<'_> {
    /// Stores a sub-agent's session, with its parent's frozen prompt and tools, and emits
    /// [`Event::SessionChanged`] on its topic. Emits nothing on the list's.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`] without a parent; [`StoreError::UnknownMessage`] if the parent does not
    /// see the message up to which the sub-agent inherits.
    pub fn create_sub_agent(&mut self, sub_agent: &NewSubAgent) -> Result<(), StoreError> {
        let (info, origin) = (&sub_agent.info, &sub_agent.link.origin);
        let parent = self.live_key(origin.session)?.ok_or(StoreError::UnknownSession(origin.session))?;
        let (_, toolset) = self.frozen_prompt(parent)?.ok_or(StoreError::UnknownSession(origin.session))?;
        let prompt = self.prompt_of(parent)?;
        self.insert_session(info, &prompt, &toolset.hash)?;
        let key = self.require_key(info.id)?;
        self.change(
            "INSERT INTO forks (session, parent, turn, call, name, tools_json) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                key.0,
                parent.0,
                origin.turn.to_string(),
                origin.call.to_string(),
                origin.name,
                to_json(&sub_agent.link.forbidden)?
            ],
        )?;
        let upto = match sub_agent.inherits {
            InheritedContext::Before(message) => Some((message, 0)),
            InheritedContext::Through(message) => Some((message, 1)),
            InheritedContext::Nothing => None,
        };
        if let Some((message, itself)) = upto {
            let message = self.message_key(parent, message)?;
            // By reference: a conversation of megabytes is not written twice.
            self.change(
                "INSERT INTO context (session, generation, position, message)
                 SELECT ?1, 1, position, message FROM context
                 WHERE session = ?2 AND generation = (SELECT generation FROM sessions WHERE key = ?2)
                   AND position < (SELECT position + ?4 FROM context WHERE session = ?2 AND message = ?3
                                     AND generation = (SELECT generation FROM sessions WHERE key = ?2))",
                [key.0, parent.0, message, itself],
            )?;
            self.change(
                "UPDATE sessions SET context_tokens = (SELECT context_tokens FROM sessions WHERE key = ?2)
                 WHERE key = ?1",
                [key.0, parent.0],
            )?;
        }
        self.emit(StoredTopic::Session { id: info.id }, Event::SessionChanged { info: info.clone() })?;
        Ok(())
    }

    /// Deletes the sub-agents of a deleted session along with it.
    pub(crate) fn delete_sub_agents(&self, parent: SessionKey, time: Millis) -> Result<(), StoreError> {
        self.change(
            "UPDATE sessions SET deleted_at = ?2
             WHERE key IN (SELECT session FROM forks WHERE parent = ?1) AND deleted_at IS NULL",
            [parent.0, time],
        )?;
        Ok(())
    }

    /// Restores the sub-agents of a session along with it.
    pub(crate) fn undelete_sub_agents(&self, parent: SessionKey) -> Result<(), StoreError> {
        self.change(
            "UPDATE sessions SET deleted_at = NULL WHERE key IN (SELECT session FROM forks WHERE parent = ?1)",
            [parent.0],
        )?;
        Ok(())
    }

    /// Begins the first turn of a session, which an actor continues when it opens the session.
    pub fn begin_first_turn(
        &mut self,
        session: SessionId,
        turn: TurnView,
        messages: &[octo_protocol::Message],
    ) -> Result<(), StoreError> {
        let topic = StoredTopic::Session { id: session };
        self.emit(topic, Event::TurnStarted { turn })?;
        for message in messages {
            self.emit(topic, Event::MessageAdded { message: message.clone() })?;
            self.append_context(session, message.id)?;
        }
        Ok(())
    }
}
