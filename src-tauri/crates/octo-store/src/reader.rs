//! What can be read. The methods stand beside their tables, in `tables/`.

use crate::{StoreError, key::SessionKey};
use octo_protocol::SessionId;
use rusqlite::{Connection, OptionalExtension};
use std::{cell::RefCell, collections::HashMap};

/// A view of the store as of one moment. All its methods may fail as [`StoreError`] says.
pub struct Reader<'a> {
    pub(crate) connection: &'a Connection,
    known: &'a Known,
}

/// Session numbers seen on a connection. They never change, so they are looked up once.
#[derive(Default)]
pub(crate) struct Known(RefCell<HashMap<SessionId, SessionKey>>);

impl Known {
    pub(crate) fn forget(&self) {
        self.0.borrow_mut().clear();
    }
}

impl<'a> Reader<'a> {
    pub(crate) fn new(connection: &'a Connection, known: &'a Known) -> Self {
        Self { connection, known }
    }

    /// The session's number, whether or not it was deleted.
    pub(crate) fn find_key(&self, session: SessionId) -> Result<Option<SessionKey>, StoreError> {
        if let Some(key) = self.known.0.borrow().get(&session) {
            return Ok(Some(*key));
        }
        let found = self
            .connection
            .prepare_cached("SELECT key FROM sessions WHERE id = ?1")?
            .query_row([session.to_string()], |row| row.get(0))
            .optional()?
            .map(SessionKey);
        if let Some(key) = found {
            self.known.0.borrow_mut().insert(session, key);
        }
        Ok(found)
    }

    /// [`Reader::find_key`] of a session that must be there.
    pub(crate) fn key(&self, session: SessionId) -> Result<SessionKey, StoreError> {
        self.find_key(session)?.ok_or(StoreError::UnknownSession(session))
    }
}
