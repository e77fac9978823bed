//! `origins`: the sources of conversations that did not begin with their session.

use crate::{Reader, StoreError, Tx, column::id_or_null, key::SessionKey};
use octo_protocol::{MessageId, SessionId, SessionOrigin};
use rusqlite::params;

impl Reader<'_> {
    /// Returns the origin of a session's conversation; `None` if it began in the session.
    pub(crate) fn origin_of(&self, session: SessionKey) -> Result<Option<SessionOrigin>, StoreError> {
        self.row(
            "SELECT origins.file, origins.title, origins.message, sessions.id, sessions.title FROM origins
             LEFT JOIN sessions ON sessions.key = origins.branched AND sessions.deleted_at IS NULL
             WHERE origins.session = ?1",
            [session.0],
            |row| {
                let file: Option<String> = row.get(0)?;
                let (original_title, current_title): (String, Option<String>) = (row.get(1)?, row.get(4)?);
                Ok(match file {
                    Some(name) => SessionOrigin::File { name },
                    None => SessionOrigin::Branch {
                        session: id_or_null(row, 3)?,
                        title: current_title.unwrap_or(original_title),
                        message: id_or_null(row, 2)?,
                    },
                })
            },
        )
    }

    /// Returns an unused title based on this one: the title followed by the first free number.
    pub fn free_title(&self, title: &str) -> Result<String, StoreError> {
        let base = match title.rsplit_once(" (") {
            Some((base, number)) if number.strip_suffix(')').is_some_and(|n| n.parse::<u32>().is_ok()) => {
                base
            }
            _ => title,
        };
        let mut number = 2_u32;
        loop {
            let numbered = format!("{base} ({number})");
            let is_taken = self.row(
                "SELECT EXISTS (SELECT 1 FROM sessions WHERE title = ?1 AND deleted_at IS NULL)",
                [&numbered],
                |row| Ok(row.get::<_, bool>(0)?),
            )?;
            if is_taken != Some(true) {
                return Ok(numbered);
            }
            number = number.saturating_add(1);
        }
    }

    /// Returns the sessions from which a session's conversation was branched, nearest first, deleted ones too.
    pub fn ancestors(&self, session: SessionId) -> Result<Vec<SessionId>, StoreError> {
        let Some(key) = self.find_key(session)? else { return Ok(Vec::new()) };
        self.rows(
            "WITH RECURSIVE way (key) AS (
               SELECT branched FROM origins WHERE session = ?1
               UNION SELECT origins.branched FROM way JOIN origins ON origins.session = way.key)
             SELECT sessions.id FROM way JOIN sessions ON sessions.key = way.key",
            [key.0],
            |row| crate::column::id(row, 0),
        )
    }
}

impl Tx<'_> {
    pub(crate) fn put_branch(
        &self,
        session: SessionKey,
        branched: SessionKey,
        title: &str,
        message: Option<MessageId>,
    ) -> Result<(), StoreError> {
        self.change(
            "INSERT INTO origins (session, branched, title, message) VALUES (?1, ?2, ?3, ?4)",
            params![session.0, branched.0, title, message.map(|message| message.to_string())],
        )?;
        Ok(())
    }

    pub(crate) fn put_file(&self, session: SessionKey, title: &str, file: &str) -> Result<(), StoreError> {
        self.change(
            "INSERT INTO origins (session, title, file) VALUES (?1, ?2, ?3)",
            params![session.0, title, file],
        )?;
        Ok(())
    }
}
