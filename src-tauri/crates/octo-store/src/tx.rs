//! A write in progress.

use crate::{
    Reader, StoreError,
    key::{self, SessionKey},
    project,
    reader::SessionKeyCache,
};
use octo_protocol::{EVENT_VERSION, Envelope, Event, Millis, StoredTopic};
use rusqlite::{Connection, params};
use std::{
    ops::Deref,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

/// A transaction. It reads its own writes, and is rolled back as a whole if its closure fails.
pub struct Tx<'a> {
    reader: Reader<'a>,
    envelopes: Vec<Arc<Envelope>>,
}

impl<'a> Deref for Tx<'a> {
    type Target = Reader<'a>;

    fn deref(&self) -> &Reader<'a> {
        &self.reader
    }
}

impl<'a> Tx<'a> {
    pub(crate) fn new(connection: &'a Connection, session_keys: &'a SessionKeyCache) -> Self {
        Self { reader: Reader::new(connection, session_keys), envelopes: Vec::new() }
    }

    pub(crate) fn into_envelopes(self) -> Vec<Arc<Envelope>> {
        self.envelopes
    }

    /// Appends an event to its topic, with the topic's next number, and changes the tables it describes. It is
    /// published after the commit. Returns its number.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`] for a topic that does not exist; [`StoreError::Failed`] for an event that
    /// does not belong to the topic or contradicts the stored data (a message added twice, a block of an
    /// unknown message).
    pub fn emit(&mut self, topic: StoredTopic, event: Event) -> Result<u64, StoreError> {
        let number = self.topic_key(&topic)?;
        let time = now();
        let seq = self.last_seq(number)? + 1;
        self.connection
            .prepare_cached("INSERT INTO events (key, at, v, event_json) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![number.event(seq)?, time, EVENT_VERSION, serde_json::to_string(&event)?])?;
        project::project(self, &topic, number, time, &event)?;
        self.envelopes.push(Arc::new(Envelope { topic, seq, at: time, v: EVENT_VERSION, event }));
        Ok(seq)
    }
}

impl Reader<'_> {
    pub(crate) fn topic_key(&self, topic: &StoredTopic) -> Result<SessionKey, StoreError> {
        match topic {
            StoredTopic::Session { id } => self.require_key(*id),
            StoredTopic::Sessions => Ok(key::LIST_TOPIC),
            StoredTopic::Settings => Ok(key::SETTINGS_TOPIC),
            StoredTopic::Trash => Ok(key::TRASH_TOPIC),
        }
    }

    pub(crate) fn last_seq(&self, topic: SessionKey) -> Result<u64, StoreError> {
        let keys = topic.events();
        let last_seq: Option<i64> = self
            .connection
            .prepare_cached("SELECT max(key) FROM events WHERE key BETWEEN ?1 AND ?2")?
            .query_row([keys.start(), keys.end()], |row| row.get(0))?;
        Ok(last_seq.map_or(0, key::seq_of))
    }
}

pub(crate) fn now() -> Millis {
    // A clock before 1970 is a broken clock; such events get the epoch as their time.
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |elapsed| Millis::try_from(elapsed.as_millis()).unwrap_or(Millis::MAX))
}
