//! Read access to the store. The methods are next to their tables, in `tables/`.

use crate::{StoreError, key::SessionKey};
use octo_protocol::SessionId;
use rusqlite::{Connection, OptionalExtension};
use std::{cell::RefCell, collections::HashMap};

/// A view of the store at one moment. All its methods may fail with a [`StoreError`].
pub struct Reader<'a> {
    pub(crate) connection: &'a Connection,
    session_keys: &'a SessionKeyCache,
}

/// A connection's cache of session numbers. They never change, so each is looked up once.
#[derive(Default)]
pub(crate) struct SessionKeyCache(RefCell<HashMap<SessionId, SessionKey>>);

impl SessionKeyCache {
    pub(crate) fn forget(&self) {
        self.0.borrow_mut().clear();
    }
}

impl<'a> Reader<'a> {
    pub(crate) fn new(connection: &'a Connection, session_keys: &'a SessionKeyCache) -> Self {
        Self { connection, session_keys }
    }

    /// Returns the session's number, even if it was deleted.
    pub(crate) fn find_key(&self, session: SessionId) -> Result<Option<SessionKey>, StoreError> {
        if let Some(key) = self.session_keys.0.borrow().get(&session) {
            return Ok(Some(*key));
        }
        let found = self
            .connection
            .prepare_cached("SELECT key FROM sessions WHERE id = ?1")?
            .query_row([session.to_string()], |row| row.get(0))
            .optional()?
            .map(SessionKey);
        if let Some(key) = found {
            self.session_keys.0.borrow_mut().insert(session, key);
        }
        Ok(found)
    }

    /// Returns [`Reader::find_key`] of a session that must exist.
    pub(crate) fn require_key(&self, session: SessionId) -> Result<SessionKey, StoreError> {
        self.find_key(session)?.ok_or(StoreError::UnknownSession(session))
    }
}
