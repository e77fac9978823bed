//! `events`: the source of everything else.

use crate::{Reader, StoreError, column::count, key, upcast};
use octo_protocol::{Envelope, StoredTopic};
use rusqlite::params;

impl Reader<'_> {
    /// Returns the number of the topic's last event, 0 if there is none.
    pub fn topic_seq(&self, topic: &StoredTopic) -> Result<u64, StoreError> {
        self.last_seq(self.topic_key(topic)?)
    }

    /// Returns at most `limit` events of the topic after number `seq`, in order.
    pub fn events_since(
        &self,
        topic: &StoredTopic,
        seq: u64,
        limit: u32,
    ) -> Result<Vec<Envelope>, StoreError> {
        let keys = self.topic_key(topic)?.events();
        self.rows(
            "SELECT key, at, v, event_json FROM events WHERE key > ?1 AND key <= ?2 ORDER BY key LIMIT ?3",
            params![keys.start().saturating_add(count(seq)), keys.end(), limit],
            |row| {
                let text: String = row.get(3)?;
                Ok(Envelope {
                    topic: *topic,
                    seq: key::seq_of(row.get(0)?),
                    at: row.get(1)?,
                    v: octo_protocol::EVENT_VERSION,
                    event: upcast::event(row.get(2)?, &text)?,
                })
            },
        )
    }
}
