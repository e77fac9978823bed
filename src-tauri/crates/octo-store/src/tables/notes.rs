//! `notes`: Octo's own messages in a session: answers to slash commands, and reasons why it was not compacted.

use crate::{
    Reader, StoreError, Tx,
    column::{from_json, from_word, to_json, to_word},
    key::{self, SessionKey},
};
use octo_protocol::{ApiError, Millis, Note, NoteKind};
use rusqlite::params;

/// The maximum number of notes read with a session: far more than anyone scrolls past, and bounded.
const MAX_NOTES: u32 = 500;

impl Reader<'_> {
    /// Returns the session's newest notes, oldest first.
    pub(crate) fn notes(&self, session: SessionKey) -> Result<Vec<Note>, StoreError> {
        let keys = session.events();
        let mut notes = self.rows(
            "SELECT key, at, note_json, kind FROM notes WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC LIMIT ?3",
            params![keys.start(), keys.end(), MAX_NOTES],
            |row| {
                Ok(Note {
                    seq: key::seq_of(row.get(0)?),
                    at: row.get(1)?,
                    kind: from_word(row.get(3)?)?,
                    note: from_json(row, 2)?,
                })
            },
        )?;
        notes.reverse();
        Ok(notes)
    }
}

impl Tx<'_> {
    /// Stores a note under the number of its event, the newest of the session.
    pub(crate) fn project_note(
        &self,
        session: SessionKey,
        time: Millis,
        kind: NoteKind,
        note: &ApiError,
    ) -> Result<(), StoreError> {
        self.change(
            "INSERT INTO notes (key, at, note_json, kind) VALUES (?1, ?2, ?3, ?4)",
            params![session.event(self.last_seq(session)?)?, time, to_json(note)?, to_word(&kind)?],
        )?;
        Ok(())
    }
}
