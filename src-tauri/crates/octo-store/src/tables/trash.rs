//! `trash`: deleted items that can be restored.

use crate::{
    Reader, StoreError, TrashAge, TrashFilter, TrashRow, Tx,
    column::{count, from_word, id, id_or_null, read_count, to_word},
    key::{self, SessionKey},
    tables::search::like,
};
use octo_protocol::{
    Event, Millis, RemovedBy, SessionId, StoredTopic, TrashChoice, TrashEntry, TrashForm, TrashId, TrashKind,
    TrashTotals, TurnId,
};
use rusqlite::{Row, named_params, params};

/// The maximum number of projects returned.
const MAX_PROJECTS: u32 = 200;

/// The columns [`row`] reads, in its order.
macro_rules! trash_columns {
    () => {
        "id, kind, form, path, name, folder, size, files, mode, link, at, who, session, turn, project, command, \
         made_again"
    };
}

fn row(row: &Row<'_>) -> Result<TrashRow, StoreError> {
    Ok(TrashRow {
        entry: TrashEntry {
            id: id(row, 0)?,
            kind: from_word(row.get(1)?)?,
            form: from_word(row.get(2)?)?,
            name: row.get(4)?,
            folder: row.get(5)?,
            size: read_count(row, 6)?,
            files: read_count(row, 7)?,
            link: row.get(9)?,
            at: row.get(10)?,
            who: from_word(row.get(11)?)?,
            session: id_or_null(row, 12)?,
            turn: id_or_null(row, 13)?,
            project: row.get(14)?,
            command: row.get(15)?,
        },
        path: row.get(3)?,
        mode: row.get(8)?,
        is_reproducible: row.get(16)?,
    })
}

fn totals(row: &Row<'_>) -> Result<TrashTotals, StoreError> {
    Ok(TrashTotals { things: read_count(row, 0)?, bytes: read_count(row, 1)? })
}

/// The rows that a filter matches. `:query` is a pattern or null.
macro_rules! filtered {
    () => {
        " FROM trash WHERE (:kind IS NULL OR kind = :kind) AND (:project IS NULL OR project = :project)
          AND (:query IS NULL OR name LIKE :query ESCAPE '\\' OR folder LIKE :query ESCAPE '\\')"
    };
}

impl Reader<'_> {
    /// Returns the totals of the trash.
    pub fn trash_totals(&self) -> Result<TrashTotals, StoreError> {
        let found = self.row("SELECT count(*), coalesce(sum(size), 0) FROM trash", [], totals)?;
        Ok(found.unwrap_or_default())
    }

    /// Returns the totals with the number of the last event of the trash's topic.
    pub fn trash_snapshot(&self) -> Result<(u64, TrashTotals), StoreError> {
        Ok((self.last_seq(key::TRASH_TOPIC)?, self.trash_totals()?))
    }

    /// Returns a page of the entries matching the filter, newest first, and their totals.
    pub fn trash_page(
        &self,
        filter: &TrashFilter,
        offset: u32,
        limit: u32,
    ) -> Result<(Vec<TrashRow>, TrashTotals), StoreError> {
        let query = filter.query.trim();
        let query = (!query.is_empty()).then(|| like(query));
        let kind = filter.kind.as_ref().map(to_word).transpose()?;
        let page = self.rows(
            concat!(
                "SELECT ",
                trash_columns!(),
                filtered!(),
                " ORDER BY at DESC, key DESC LIMIT :limit OFFSET :offset"
            ),
            named_params! {
                ":kind": kind, ":project": filter.project, ":query": query, ":limit": limit, ":offset": offset,
            },
            row,
        )?;
        let found = self.row(
            concat!("SELECT count(*), coalesce(sum(size), 0)", filtered!()),
            named_params! { ":kind": kind, ":project": filter.project, ":query": query },
            totals,
        )?;
        Ok((page, found.unwrap_or_default()))
    }

    /// Returns one entry.
    pub fn trash_row(&self, id: TrashId) -> Result<Option<TrashRow>, StoreError> {
        self.row(concat!("SELECT ", trash_columns!(), " FROM trash WHERE id = ?1"), [id.to_string()], row)
    }

    /// Returns the entry of a deleted session.
    pub fn trash_of_session(&self, session: SessionId) -> Result<Option<TrashRow>, StoreError> {
        self.row(
            concat!("SELECT ", trash_columns!(), " FROM trash WHERE session = ?1 AND kind = 'session'"),
            [session.to_string()],
            row,
        )
    }

    /// Returns the entries of files that were at exactly this path, newest first.
    pub fn trash_at_path(&self, path: &[u8]) -> Result<Vec<TrashRow>, StoreError> {
        self.rows(
            concat!(
                "SELECT ",
                trash_columns!(),
                " FROM trash WHERE path = ?1 AND kind = 'file' ORDER BY at DESC, key DESC"
            ),
            [path],
            row,
        )
    }

    /// Returns the selected entries, oldest first. Unknown ids are skipped.
    pub fn trash_chosen(&self, choice: &TrashChoice) -> Result<Vec<TrashRow>, StoreError> {
        match choice {
            TrashChoice::These { ids } => {
                let rows = ids.iter().map(|id| self.trash_row(*id)).collect::<Result<Vec<_>, _>>()?;
                Ok(rows.into_iter().flatten().collect())
            }
            TrashChoice::Before { at } => self.rows(
                concat!("SELECT ", trash_columns!(), " FROM trash WHERE at < ?1 ORDER BY at, key"),
                [at],
                row,
            ),
        }
    }

    /// Returns the totals of the selected entries.
    pub fn trash_count(&self, choice: &TrashChoice) -> Result<TrashTotals, StoreError> {
        match choice {
            TrashChoice::These { .. } => {
                let rows = self.trash_chosen(choice)?;
                let bytes = rows.iter().map(|row| row.entry.size).sum();
                Ok(TrashTotals { things: rows.len() as u64, bytes })
            }
            TrashChoice::Before { at } => {
                let found = self.row(
                    "SELECT count(*), coalesce(sum(size), 0) FROM trash WHERE at < ?1",
                    [at],
                    totals,
                )?;
                Ok(found.unwrap_or_default())
            }
        }
    }

    /// Returns the projects with deletions, most recently used first.
    pub fn trash_projects(&self) -> Result<Vec<String>, StoreError> {
        self.rows(
            "SELECT project FROM trash WHERE project IS NOT NULL GROUP BY project ORDER BY max(at) DESC LIMIT ?1",
            [MAX_PROJECTS],
            |row| Ok(row.get(0)?),
        )
    }

    /// Returns the data for deciding which entries have expired, oldest first.
    pub fn trash_ages(&self) -> Result<Vec<TrashAge>, StoreError> {
        self.rows("SELECT id, at, size, made_again FROM trash ORDER BY at, key", [], |row| {
            Ok(TrashAge {
                id: id(row, 0)?,
                at: row.get(1)?,
                size: read_count(row, 2)?,
                is_reproducible: row.get(3)?,
            })
        })
    }

    /// Returns all files in the trash.
    pub fn trash_files(&self) -> Result<Vec<TrashId>, StoreError> {
        self.rows("SELECT id FROM trash WHERE kind = 'file'", [], |row| id(row, 0))
    }

    /// Returns the last texts of a session, deleted or not, oldest first.
    pub fn last_texts(&self, session: SessionId, limit: u32) -> Result<Vec<String>, StoreError> {
        let range = self.require_key(session)?.rows();
        let mut texts = self.rows(
            "SELECT text FROM blocks WHERE key BETWEEN ?1 AND ?2 AND text IS NOT NULL AND trim(text) <> ''
             ORDER BY key DESC LIMIT ?3",
            params![range.start(), range.end(), limit],
            |row| Ok(row.get::<_, String>(0)?),
        )?;
        texts.reverse();
        Ok(texts)
    }

    /// Returns the turn of a session that was running at a moment.
    fn turn_at(&self, session: SessionId, time: Millis) -> Result<Option<TurnId>, StoreError> {
        let Some(key) = self.find_key(session)? else { return Ok(None) };
        self.row(
            "SELECT id FROM turns WHERE session = ?1 AND started_at <= ?2 AND (ended_at IS NULL OR ended_at >= ?2)
             ORDER BY key DESC LIMIT 1",
            [key.0, time],
            |row| id(row, 0),
        )
    }
}

impl Tx<'_> {
    /// Adds entries; existing ones stay as they are. An entry without a turn gets the turn that was running in
    /// its session at that moment. Emits [`Event::TrashChanged`] if it added any; returns their number.
    pub fn trash_add(&mut self, rows: &[TrashRow]) -> Result<usize, StoreError> {
        let mut added = 0;
        for row in rows {
            added += self.insert_trash(row)?;
        }
        if added > 0 {
            self.trash_changed()?;
        }
        Ok(added)
    }

    fn insert_trash(&self, row: &TrashRow) -> Result<usize, StoreError> {
        let entry = &row.entry;
        let turn = match (entry.turn, entry.session) {
            (Some(turn), _) => Some(turn),
            (None, Some(session)) => self.turn_at(session, entry.at)?,
            (None, None) => None,
        };
        self.change(
            "INSERT INTO trash (id, kind, form, path, name, folder, size, files, mode, link, at, who, session, turn,
                                project, command, made_again)
             VALUES (:id, :kind, :form, :path, :name, :folder, :size, :files, :mode, :link, :at, :who, :session, :turn,
                     :project, :command, :made_again)
             ON CONFLICT (id) DO NOTHING",
            named_params! {
                ":id": entry.id.to_string(),
                ":kind": to_word(&entry.kind)?,
                ":form": to_word(&entry.form)?,
                ":path": row.path,
                ":name": entry.name,
                ":folder": entry.folder,
                ":size": count(entry.size),
                ":files": count(entry.files),
                ":mode": row.mode,
                ":link": entry.link,
                ":at": entry.at,
                ":who": to_word(&entry.who)?,
                ":session": entry.session.map(|id| id.to_string()),
                ":turn": turn.map(|id| id.to_string()),
                ":project": entry.project,
                ":command": entry.command,
                ":made_again": row.is_reproducible,
            },
        )
    }

    /// Removes entries that were restored or permanently deleted. Emits [`Event::TrashChanged`] if any existed.
    pub fn trash_drop(&mut self, ids: &[TrashId]) -> Result<usize, StoreError> {
        let mut dropped = 0;
        for id in ids {
            dropped += self.change("DELETE FROM trash WHERE id = ?1", [id.to_string()])?;
        }
        if dropped > 0 {
            self.trash_changed()?;
        }
        Ok(dropped)
    }

    fn trash_changed(&mut self) -> Result<(), StoreError> {
        let totals = self.trash_totals()?;
        self.emit(StoredTopic::Trash, Event::TrashChanged { totals })?;
        Ok(())
    }

    /// Adds the entry of a session that was just deleted.
    pub(crate) fn trash_session(
        &mut self,
        key: SessionKey,
        session: SessionId,
        time: Millis,
    ) -> Result<(), StoreError> {
        let range = key.rows();
        let (title, folder, size, files) = self
            .row(
                "SELECT title, folder,
                   coalesce((SELECT sum(length(coalesce(text, '')) + length(coalesce(block_json, ''))) FROM blocks
                             WHERE blocks.key BETWEEN ?2 AND ?3), 0),
                   (SELECT count(*) FROM messages WHERE messages.key BETWEEN ?2 AND ?3)
                 FROM sessions WHERE key = ?1",
                params![key.0, range.start(), range.end()],
                |row| {
                    Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, read_count(row, 2)?, read_count(row, 3)?))
                },
            )?
            .ok_or(StoreError::UnknownSession(session))?;
        let row = TrashRow {
            path: folder.clone().into_bytes(),
            mode: 0,
            is_reproducible: false,
            entry: TrashEntry {
                id: TrashId::new(),
                kind: TrashKind::Session,
                form: TrashForm::Folder,
                name: title,
                project: Some(folder.clone()),
                folder,
                size,
                files,
                link: None,
                at: time,
                who: RemovedBy::Person,
                session: Some(session),
                turn: None,
                command: None,
            },
        };
        self.trash_add(&[row])?;
        Ok(())
    }

    /// Permanently deletes a session and its sub-agents, with all their contents. Their cost stays in the
    /// ledger, and therefore their bare rows stay too, without title or folder.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`]; [`StoreError::Failed`] for a session that was not deleted.
    pub fn purge_session(&mut self, session: SessionId) -> Result<(), StoreError> {
        let key = self.require_key(session)?;
        if self.live_key(session)?.is_some() {
            return Err(StoreError::Failed("a session that was not deleted cannot be purged".to_owned()));
        }
        // Tables refer to each other in ways only their own code knows; leftover references fail the commit.
        self.connection.execute_batch("PRAGMA defer_foreign_keys = ON")?;
        for fork in self.sub_agents(session)? {
            self.purge_session(fork)?;
        }
        let (rows, events) = (key.rows(), key.events());
        for table in ["blocks", "messages"] {
            let sql = format!("DELETE FROM {table} WHERE key BETWEEN ?1 AND ?2");
            self.change(&sql, [rows.start(), rows.end()])?;
        }
        for table in ["events", "notes"] {
            let sql = format!("DELETE FROM {table} WHERE key BETWEEN ?1 AND ?2");
            self.change(&sql, [events.start(), events.end()])?;
        }
        // Includes tables that did not exist when this was written.
        let of_sessions = self.rows(
            "SELECT tables.name, keys.\"from\" FROM sqlite_schema AS tables, pragma_foreign_key_list(tables.name) AS keys
             WHERE tables.type = 'table' AND keys.\"table\" = 'sessions' AND tables.name <> 'ledger'",
            [],
            |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)),
        )?;
        for (table, column) in of_sessions {
            self.change(&format!("DELETE FROM \"{table}\" WHERE \"{column}\" = ?1"), [key.0])?;
        }
        self.change("DELETE FROM rules WHERE folder = ?1", [format!("session/{session}")])?;
        self.change_one(
            "the session",
            "UPDATE sessions SET title = '', folder = '', retry_json = NULL, suggestion_json = NULL, budget_json = NULL
             WHERE key = ?1",
            [key.0],
        )
    }

    /// Removes the entry of a restored session.
    pub(crate) fn untrash_session(&mut self, session: SessionId) -> Result<(), StoreError> {
        match self.trash_of_session(session)? {
            Some(row) => {
                self.trash_drop(&[row.entry.id])?;
                Ok(())
            }
            // Permanently deleted: only its bare row is left.
            None => Err(StoreError::UnknownSession(session)),
        }
    }
}
