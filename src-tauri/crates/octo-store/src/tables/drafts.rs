//! `drafts`, `new_draft`: unsent text and attachments. No events: a draft belongs to this machine, and an open
//! client has it already.

use crate::{
    Reader, StoreError, Tx,
    column::{from_json, to_json},
    key::SessionKey,
};
use octo_protocol::{Draft, SessionId};
use rusqlite::params;

impl Reader<'_> {
    /// Returns the person's unsent text and attachments for the next new session.
    pub fn new_draft(&self) -> Result<Draft, StoreError> {
        let draft =
            self.row("SELECT draft_json FROM new_draft WHERE only = 1", [], |row| from_json(row, 0))?;
        Ok(draft.unwrap_or_default())
    }

    /// Returns the draft of a session.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`].
    pub fn draft_of(&self, session: SessionId) -> Result<Draft, StoreError> {
        self.draft(self.require_key(session)?)
    }

    /// Returns the person's unsent text and attachments.
    pub(crate) fn draft(&self, session: SessionKey) -> Result<Draft, StoreError> {
        let draft = self
            .row("SELECT draft_json FROM drafts WHERE session = ?1", [session.0], |row| from_json(row, 0))?;
        Ok(draft.unwrap_or_default())
    }
}

impl Tx<'_> {
    /// Stores the draft of a session; an empty one deletes the stored draft.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`].
    pub fn set_draft(&mut self, session: SessionId, draft: &Draft) -> Result<(), StoreError> {
        let key = self.require_key(session)?;
        if draft.is_empty() {
            self.change("DELETE FROM drafts WHERE session = ?1", [key.0])?;
        } else {
            self.change(
                "INSERT INTO drafts (session, draft_json) VALUES (?1, ?2)
                 ON CONFLICT (session) DO UPDATE SET draft_json = excluded.draft_json",
                params![key.0, to_json(draft)?],
            )?;
        }
        Ok(())
    }

    /// Stores the draft for the next new session; an empty one deletes the stored draft.
    pub fn set_new_draft(&mut self, draft: &Draft) -> Result<(), StoreError> {
        if draft.is_empty() {
            self.change("DELETE FROM new_draft", [])?;
        } else {
            self.change(
                "INSERT INTO new_draft (only, draft_json) VALUES (1, ?1)
                 ON CONFLICT (only) DO UPDATE SET draft_json = excluded.draft_json",
                [to_json(draft)?],
            )?;
        }
        Ok(())
    }
}
