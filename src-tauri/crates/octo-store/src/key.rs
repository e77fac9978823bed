//! Packed row numbers.
//!
//! Messages, blocks and events are stored under one integer made of the session's number and their position in
//! it. Rows that are read together (a page of messages with their blocks, the events of a topic after a number)
//! are then one range of one tree, without a second index, and numbering continues from the range's end.

use crate::StoreError;
use std::ops::RangeInclusive;

const POSITION_BITS: u32 = 24;
const INDEX_BITS: u32 = 16;
const SEQ_BITS: u32 = 32;
/// Session numbers fit 23 bits, which keeps a packed key positive.
const SESSION_MAX: i64 = (1 << 23) - 1;
const POSITION_MAX: i64 = (1 << POSITION_BITS) - 1;
const INDEX_MAX: i64 = (1 << INDEX_BITS) - 1;
const SEQ_MAX: i64 = (1 << SEQ_BITS) - 1;

/// The number of a session, or of another topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SessionKey(pub i64);

/// The session list's number as a topic.
pub(crate) const LIST_TOPIC: SessionKey = SessionKey(0);
/// The settings' number as a topic.
pub(crate) const SETTINGS_TOPIC: SessionKey = SessionKey(-1);
/// The trash's number as a topic.
pub(crate) const TRASH_TOPIC: SessionKey = SessionKey(-9);

fn number_overflow(table: &str) -> StoreError {
    StoreError::Failed(format!("{table} is beyond what a key can hold"))
}

impl SessionKey {
    /// Returns the key range of the session's messages and blocks.
    pub(crate) fn rows(self) -> RangeInclusive<i64> {
        let shift = POSITION_BITS + INDEX_BITS;
        (self.0 << shift)..=(((self.0 + 1) << shift) - 1)
    }

    /// Returns the key of the message at a position.
    pub(crate) fn message(self, position: i64) -> Result<i64, StoreError> {
        if !(0..=SESSION_MAX).contains(&self.0) {
            return Err(number_overflow("the number of sessions"));
        }
        if !(0..=POSITION_MAX).contains(&position) {
            return Err(number_overflow("the number of messages"));
        }
        Ok((self.0 << (POSITION_BITS + INDEX_BITS)) | (position << INDEX_BITS))
    }

    /// Returns the key of the topic's event `seq`.
    pub(crate) fn event(self, seq: u64) -> Result<i64, StoreError> {
        match i64::try_from(seq) {
            Ok(seq) if seq <= SEQ_MAX => Ok((self.0 << SEQ_BITS) + seq),
            _ => Err(number_overflow("the number of events")),
        }
    }

    /// Returns the key range of the topic's events.
    pub(crate) fn events(self) -> RangeInclusive<i64> {
        (self.0 << SEQ_BITS)..=((self.0 << SEQ_BITS) + SEQ_MAX)
    }
}

/// Returns the session of a message or block.
pub(crate) fn session_of(row: i64) -> SessionKey {
    SessionKey(row >> (POSITION_BITS + INDEX_BITS))
}

/// Returns the position of a message or of a block's message.
pub(crate) fn position_of(row: i64) -> i64 {
    (row >> INDEX_BITS) & POSITION_MAX
}

/// Returns the message of a block.
pub(crate) fn message_of(block: i64) -> i64 {
    block & !INDEX_MAX
}

/// Returns the key of a message's block.
pub(crate) fn block(message: i64, index: u32) -> Result<i64, StoreError> {
    if i64::from(index) > INDEX_MAX {
        return Err(number_overflow("the number of blocks"));
    }
    Ok(message | i64::from(index))
}

/// Returns the key range of a message's blocks.
pub(crate) fn blocks(message: i64) -> RangeInclusive<i64> {
    message..=(message | INDEX_MAX)
}

/// Returns the number of an event in its topic.
pub(crate) fn seq_of(event: i64) -> u64 {
    (event & SEQ_MAX).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn keys_split_into_their_parts(
            session in 1..=SESSION_MAX, position in 0..=POSITION_MAX, index in 0..=65_535u32, seq in 1..=u64::from(u32::MAX),
        ) {
            let key = SessionKey(session);
            let message = key.message(position).unwrap();
            let part = block(message, index).unwrap();
            prop_assert!(message >= 0);
            prop_assert_eq!(session_of(part), key);
            prop_assert_eq!(position_of(part), position);
            prop_assert_eq!(message_of(part), message);
            prop_assert!(key.rows().contains(&part));
            prop_assert!(!SessionKey(session + 1).rows().contains(&part));
            prop_assert!(!SessionKey(session - 1).rows().contains(&part));
            for topic in [key, LIST_TOPIC, SETTINGS_TOPIC, TRASH_TOPIC] {
                let event = topic.event(seq).unwrap();
                prop_assert_eq!(seq_of(event), seq);
                prop_assert!(topic.events().contains(&event));
                prop_assert!(!SessionKey(topic.0 + 1).events().contains(&event));
                prop_assert!(!SessionKey(topic.0 - 1).events().contains(&event));
            }
        }
    }

    #[test]
    fn overflowing_numbers_are_errors() {
        assert!(SessionKey(SESSION_MAX + 1).message(0).is_err());
        assert!(SessionKey(1).message(POSITION_MAX + 1).is_err());
        assert!(SessionKey(1).event(1 << SEQ_BITS).is_err());
        assert!(block(0, 65_536).is_err());
    }
}
