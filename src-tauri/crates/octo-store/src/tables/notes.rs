//! `notes`: Octo's own answers to slash commands.

use crate::{
    Reader, StoreError, Tx,
    column::{from_json, json},
    key::{self, SessionKey},
};
use octo_protocol::{ApiError, Millis, Note};
use rusqlite::params;

/// How many are read back with a session: far more than anyone scrolls past, and bounded.
const READ_BACK: u32 = 500;

impl Reader<'_> {
    /// The session's newest notes, oldest first.
    pub(crate) fn notes(&self, session: SessionKey) -> Result<Vec<Note>, StoreError> {
        let keys = session.events();
        let mut notes = self.rows(
            "SELECT key, at, note_json FROM notes WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC LIMIT ?3",
            params![keys.start(), keys.end(), READ_BACK],
            |row| Ok(Note { seq: key::seq_of(row.get(0)?), at: row.get(1)?, note: from_json(row, 2)? }),
        )?;
        notes.reverse();
        Ok(notes)
    }
}

impl Tx<'_> {
    /// Keeps the answer under the number of its event, the newest of the session.
    pub(crate) fn project_note(
        &self,
        session: SessionKey,
        at: Millis,
        note: &ApiError,
    ) -> Result<(), StoreError> {
        self.change(
            "INSERT INTO notes (key, at, note_json) VALUES (?1, ?2, ?3)",
            params![session.event(self.last_seq(session)?)?, at, json(note)?],
        )?;
        Ok(())
    }
}
