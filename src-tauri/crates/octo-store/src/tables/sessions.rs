//! `sessions`, `prompts`, `toolsets`.

use crate::{
    ListSnapshot, NewSession, Reader, StoreError, ToolsetRow, Tx,
    column::{count, from_word, id, id_or_null, read_count, to_word},
    key::{self, SessionKey},
    tables::search::{SearchWords, like},
};
use octo_protocol::{Event, Millis, SessionId, SessionInfo, Source, StoredTopic, Usage};
use rusqlite::{Row, named_params, params};

/// The columns [`head`] reads, in its order.
macro_rules! head_columns {
    () => {
        "id, title, folder, profile, mode, model, source, pinned, status, created_at, updated_at, \
         usage_input, usage_cache_read, usage_cache_write, usage_output, effort, read_at"
    };
}
pub(crate) use head_columns;

/// Reads a session's info from [`head_columns`].
pub(crate) fn head(row: &Row<'_>) -> Result<SessionInfo, StoreError> {
    Ok(SessionInfo {
        id: id(row, 0)?,
        title: row.get(1)?,
        folder: row.get(2)?,
        profile: from_word(row.get(3)?)?,
        mode: from_word(row.get(4)?)?,
        model: id_or_null(row, 5)?,
        source: from_word(row.get(6)?)?,
        pinned: row.get(7)?,
        status: from_word(row.get(8)?)?,
        created_at: row.get(9)?,
        updated_at: row.get(10)?,
        usage: Usage {
            input: read_count(row, 11)?,
            cache_read: read_count(row, 12)?,
            cache_write: read_count(row, 13)?,
            output: read_count(row, 14)?,
        },
        effort: row.get::<_, Option<String>>(15)?.map(from_word).transpose()?,
        read_at: row.get(16)?,
    })
}

/// The order of the list, matching the index `sessions_list`.
macro_rules! list_order {
    () => {
        " ORDER BY status = 'waiting' DESC, pinned DESC, updated_at DESC, key DESC"
    };
}
pub(crate) use list_order;

impl Reader<'_> {
    /// Returns when a session of the list last changed; `None` if there are no sessions.
    pub fn newest_change(&self) -> Result<Option<Millis>, StoreError> {
        let newest = self.row(
            "SELECT max(updated_at) FROM sessions WHERE deleted_at IS NULL AND source <> 'sub_agent'",
            [],
            |row| Ok(row.get(0)?),
        )?;
        Ok(newest.flatten())
    }

    /// Returns a session's info; `None` if it does not exist or was deleted.
    pub fn session(&self, session: SessionId) -> Result<Option<SessionInfo>, StoreError> {
        self.row(
            concat!("SELECT ", head_columns!(), " FROM sessions WHERE id = ?1 AND deleted_at IS NULL"),
            [session.to_string()],
            head,
        )
    }

    /// Returns the number of a session that was not deleted.
    pub(crate) fn live_key(&self, session: SessionId) -> Result<Option<SessionKey>, StoreError> {
        self.row(
            "SELECT key FROM sessions WHERE id = ?1 AND deleted_at IS NULL",
            [session.to_string()],
            |row| Ok(SessionKey(row.get(0)?)),
        )
    }

    /// Returns a page of the list, and the number of all matching sessions. Sessions whose title contains
    /// `query` match (all for an empty one), ignoring case; those that wait for the person are first, then
    /// pinned ones, then the most recently used.
    pub fn sessions(
        &self,
        query: &str,
        offset: u32,
        limit: u32,
    ) -> Result<(Vec<SessionInfo>, u64), StoreError> {
        let query = query.trim();
        let total = |row: &Row<'_>| read_count(row, 0);
        let (page, total) = if query.is_empty() {
            (
                self.rows(
                    concat!(
                        "SELECT ",
                        head_columns!(),
                        " FROM sessions WHERE deleted_at IS NULL AND source <> 'sub_agent'",
                        list_order!(),
                        " LIMIT ?1 OFFSET ?2"
                    ),
                    [limit, offset],
                    head,
                )?,
                self.row(
                    "SELECT count(*) FROM sessions WHERE deleted_at IS NULL AND source <> 'sub_agent'",
                    [],
                    total,
                )?,
            )
        } else if let Some(phrase) = SearchWords::new(query).phrase() {
            (
                // The plus makes SQLite walk in the list's order; without it, it would sort the hits.
                self.rows(
                    concat!(
                        "SELECT ",
                        head_columns!(),
                        " FROM sessions WHERE deleted_at IS NULL AND source <> 'sub_agent'
                         AND +key IN (SELECT rowid FROM titles_fts WHERE titles_fts MATCH ?1)",
                        list_order!(),
                        " LIMIT ?2 OFFSET ?3"
                    ),
                    params![phrase, limit, offset],
                    head,
                )?,
                self.row(
                    "SELECT count(*) FROM titles_fts CROSS JOIN sessions ON sessions.key = titles_fts.rowid
                     WHERE titles_fts MATCH ?1 AND deleted_at IS NULL AND source <> 'sub_agent'",
                    [phrase],
                    total,
                )?,
            )
        } else {
            let pattern = like(query);
            (
                self.rows(
                    concat!(
                        "SELECT ", head_columns!(), " FROM sessions WHERE deleted_at IS NULL AND source <> 'sub_agent'
                         AND title LIKE ?1 ESCAPE '\\'",
                        list_order!(), " LIMIT ?2 OFFSET ?3"
                    ),
                    params![pattern, limit, offset],
                    head,
                )?,
                self.row(
                    "SELECT count(*) FROM sessions WHERE deleted_at IS NULL AND source <> 'sub_agent' AND title LIKE ?1 ESCAPE '\\'",
                    [pattern],
                    total,
                )?,
            )
        };
        Ok((page, total.unwrap_or(0)))
    }

    /// Returns the most recently used session of a folder, excluding those of the demo, of sub-agents and of
    /// tasks.
    pub fn newest_session_in(&self, folder: &str) -> Result<Option<SessionInfo>, StoreError> {
        self.row(
            concat!(
                "SELECT ",
                head_columns!(),
                " FROM sessions
                 WHERE folder = ?1 AND deleted_at IS NULL AND source <> 'sub_agent' AND source <> 'task' AND source <> ?2
                 ORDER BY updated_at DESC, key DESC LIMIT 1"
            ),
            params![folder, to_word(&Source::Demo)?],
            head,
        )
    }

    /// Returns the list's first `limit` entries with the number of the last event they include.
    pub fn list_snapshot(&self, limit: u32) -> Result<ListSnapshot, StoreError> {
        let (sessions, total) = self.sessions("", 0, limit)?;
        Ok(ListSnapshot { seq: self.last_seq(key::LIST_TOPIC)?, sessions, total })
    }

    /// Returns the sessions with a turn that has not ended, started by `source`. Excludes deleted ones.
    pub fn unfinished_sessions(&self, source: Source) -> Result<Vec<SessionId>, StoreError> {
        self.rows(
            "SELECT DISTINCT sessions.id FROM turns CROSS JOIN sessions ON sessions.key = turns.session
             WHERE turns.ended_at IS NULL AND sessions.deleted_at IS NULL AND sessions.source = ?1",
            [to_word(&source)?],
            |row| id(row, 0),
        )
    }

    /// Returns the frozen prompt and tools.
    pub(crate) fn frozen_prompt(
        &self,
        session: SessionKey,
    ) -> Result<Option<(String, ToolsetRow)>, StoreError> {
        self.row(
            "SELECT prompts.text, toolsets.hash, toolsets.version, toolsets.tools_json FROM sessions
             JOIN prompts ON prompts.hash = sessions.prompt JOIN toolsets ON toolsets.hash = sessions.toolset
             WHERE sessions.key = ?1",
            [session.0],
            |row| {
                let toolset = ToolsetRow { hash: row.get(1)?, version: row.get(2)?, tools_json: row.get(3)? };
                Ok((row.get(0)?, toolset))
            },
        )
    }

    /// Returns the hash of the frozen prompt.
    pub(crate) fn prompt_of(&self, session: SessionKey) -> Result<String, StoreError> {
        let found =
            self.row("SELECT prompt FROM sessions WHERE key = ?1", [session.0], |row| Ok(row.get(0)?))?;
        found.ok_or_else(|| StoreError::Failed("a session without a prompt".to_owned()))
    }
}

impl Tx<'_> {
    /// Stores a new session and emits [`Event::SessionChanged`] on its topic and
    /// [`Event::SessionListed`] on the list's.
    pub fn create_session(&mut self, session: &NewSession) -> Result<(), StoreError> {
        let prompt = self.store_frozen_prompt(&session.system, &session.toolset)?;
        let info = &session.info;
        self.insert_session(info, &prompt, &session.toolset.hash)?;
        self.emit(StoredTopic::Session { id: info.id }, Event::SessionChanged { info: info.clone() })?;
        self.emit(StoredTopic::Sessions, Event::SessionListed { info: info.clone() })?;
        Ok(())
    }

    pub(crate) fn insert_session(
        &self,
        info: &SessionInfo,
        prompt: &str,
        toolset: &str,
    ) -> Result<(), StoreError> {
        self.change(
            "INSERT INTO sessions (id, title, folder, profile, mode, model, source, pinned, status, created_at,
               updated_at, usage_input, usage_cache_read, usage_cache_write, usage_output, prompt, toolset)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
            params![
                info.id.to_string(),
                info.title,
                info.folder,
                to_word(&info.profile)?,
                to_word(&info.mode)?,
                info.model.map(|id| id.to_string()),
                to_word(&info.source)?,
                info.pinned,
                to_word(&info.status)?,
                info.created_at,
                info.updated_at,
                count(info.usage.input),
                count(info.usage.cache_read),
                count(info.usage.cache_write),
                count(info.usage.output),
                prompt,
                toolset,
            ],
        )?;
        Ok(())
    }

    /// Replaces the frozen prompt and tools of a session, as an application update does once.
    pub fn replace_frozen_prompt(
        &mut self,
        session: SessionId,
        system: &str,
        toolset: &ToolsetRow,
    ) -> Result<(), StoreError> {
        let key = self.require_key(session)?;
        let prompt = self.store_frozen_prompt(system, toolset)?;
        self.change_one(
            "the session",
            "UPDATE sessions SET prompt = ?2, toolset = ?3 WHERE key = ?1",
            params![key.0, prompt, toolset.hash],
        )
    }

    /// Stores a prompt and a toolset, each once. Returns the prompt's hash.
    fn store_frozen_prompt(&self, system: &str, toolset: &ToolsetRow) -> Result<String, StoreError> {
        let hash = blake3::hash(system.as_bytes()).to_hex().to_string();
        self.change(
            "INSERT INTO prompts (hash, text) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            params![hash, system],
        )?;
        let added = self.change(
            "INSERT INTO toolsets (hash, version, tools_json) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            params![toolset.hash, toolset.version, toolset.tools_json],
        )?;
        if added == 0 {
            let is_same = self.row(
                "SELECT tools_json = ?2 FROM toolsets WHERE hash = ?1",
                [&toolset.hash, &toolset.tools_json],
                |row| Ok(row.get::<_, bool>(0)?),
            )?;
            if is_same != Some(true) {
                return Err(StoreError::Failed("two toolsets have the same hash".to_owned()));
            }
        }
        Ok(hash)
    }

    /// Moves a session out of every list and search into the trash and emits [`Event::SessionRemoved`].
    pub fn soft_delete(&mut self, session: SessionId, time: Millis) -> Result<(), StoreError> {
        let key = self.live_key(session)?.ok_or(StoreError::UnknownSession(session))?;
        self.change("UPDATE sessions SET deleted_at = ?2 WHERE key = ?1", [key.0, time])?;
        self.delete_sub_agents(key, time)?;
        self.emit(StoredTopic::Sessions, Event::SessionRemoved { id: session })?;
        self.trash_session(key, session, time)
    }

    /// Changes a session's info and emits [`Event::SessionChanged`] and [`Event::SessionListed`]. For a session
    /// that no process has open.
    pub fn change_head(
        &mut self,
        session: SessionId,
        change: impl FnOnce(&mut SessionInfo),
    ) -> Result<(), StoreError> {
        let mut info = self.session(session)?.ok_or(StoreError::UnknownSession(session))?;
        change(&mut info);
        self.emit(StoredTopic::Session { id: session }, Event::SessionChanged { info: info.clone() })?;
        self.emit(StoredTopic::Sessions, Event::SessionListed { info })?;
        Ok(())
    }

    /// Restores a deleted session from the trash and emits [`Event::SessionListed`]. Returns its info. Leaves a
    /// session that was not deleted unchanged.
    pub fn undelete(&mut self, session: SessionId) -> Result<SessionInfo, StoreError> {
        let key = self.require_key(session)?;
        let changed = self.change(
            "UPDATE sessions SET deleted_at = NULL WHERE key = ?1 AND deleted_at IS NOT NULL",
            [key.0],
        )?;
        let info = self.session(session)?.ok_or(StoreError::UnknownSession(session))?;
        if changed > 0 {
            self.untrash_session(session)?;
            self.undelete_sub_agents(key)?;
            self.emit(StoredTopic::Sessions, Event::SessionListed { info: info.clone() })?;
        }
        Ok(info)
    }

    pub(crate) fn project_head(&self, key: SessionKey, info: &SessionInfo) -> Result<(), StoreError> {
        self.change_one(
            "the session",
            "UPDATE sessions SET title = :title, folder = :folder, profile = :profile, mode = :mode, model = :model,
               source = :source, pinned = :pinned, status = :status, created_at = :created_at,
               updated_at = :updated_at, usage_input = :input, usage_cache_read = :cache_read,
               usage_cache_write = :cache_write, usage_output = :output, effort = :effort,
               read_at = :read_at
             WHERE key = :key",
            named_params! {
                ":key": key.0,
                ":title": info.title,
                ":folder": info.folder,
                ":profile": to_word(&info.profile)?,
                ":mode": to_word(&info.mode)?,
                ":model": info.model.map(|id| id.to_string()),
                ":source": to_word(&info.source)?,
                ":pinned": info.pinned,
                ":status": to_word(&info.status)?,
                ":created_at": info.created_at,
                ":updated_at": info.updated_at,
                ":input": count(info.usage.input),
                ":cache_read": count(info.usage.cache_read),
                ":cache_write": count(info.usage.cache_write),
                ":output": count(info.usage.output),
                ":effort": info.effort.as_ref().map(to_word).transpose()?,
                ":read_at": info.read_at,
            },
        )
    }

    pub(crate) fn project_removed(&self, key: SessionKey, time: Millis) -> Result<(), StoreError> {
        self.change_one(
            "the session",
            "UPDATE sessions SET deleted_at = coalesce(deleted_at, ?2) WHERE key = ?1",
            [key.0, time],
        )
    }
}
