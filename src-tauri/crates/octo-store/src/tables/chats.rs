//! `chats` and its related tables: the allowed people, their inbound messages that have no session yet, and
//! each chat's delivery position in its session. No events: subscribers of the settings learn that something
//! changed.

use crate::{
    Reader, StoreError, Tx,
    column::{count, from_word, id_or_null, read_count, to_word},
    tables::sessions::{head, head_columns},
};
use octo_protocol::{ChatService, Millis, SessionId, SessionInfo};
use rusqlite::{Row, params};

/// An allowed person, with their chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatRow {
    /// Its number.
    pub key: i64,
    /// The service.
    pub service: ChatService,
    /// The account they write to.
    pub account: String,
    /// The service's id for them.
    pub person: String,
    /// Their name at the time of pairing.
    pub name: String,
    /// When they were paired.
    pub paired_at: Millis,
    /// The session of the chat; `None` if the next message starts one, or the session was deleted.
    pub session: Option<SessionId>,
    /// The number of the session's last event that was delivered to the chat.
    pub delivered_seq: u64,
    /// The event being delivered; `None` if everything sent is known to have arrived.
    pub delivering_seq: Option<u64>,
    /// Whether the person's last message came from a window.
    pub last_from_window: bool,
}

/// An inbound message that has no session yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboundMessageRow {
    /// Its number, which determines the processing order.
    pub key: i64,
    /// The chat; see [`ChatRow::key`].
    pub chat: i64,
    /// When Octo fetched it.
    pub at: Millis,
    /// Its content, as the fetching code wrote it.
    pub message_json: String,
}

/// A pairing code that Octo sent to a stranger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairingCodeRow {
    /// The account they wrote to.
    pub account: String,
    /// The service's id for them.
    pub person: String,
    /// The name they give themselves.
    pub name: String,
    /// The code, as it was sent.
    pub code: String,
    /// When it expires.
    pub expires_at: Millis,
    /// When it was last sent.
    pub sent_at: Millis,
}

/// The fetch position of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchPosition {
    /// The number of the first update not yet fetched.
    pub next_update: i64,
    /// When Octo last fetched any.
    pub fetched_at: Millis,
}

macro_rules! chat_columns {
    () => {
        "key, service, account, person, name, paired_at, \
         (SELECT id FROM sessions WHERE sessions.id = chats.session AND deleted_at IS NULL), \
         told, telling, at_desk"
    };
}

fn chat(row: &Row<'_>) -> Result<ChatRow, StoreError> {
    Ok(ChatRow {
        key: row.get(0)?,
        service: from_word(row.get(1)?)?,
        account: row.get(2)?,
        person: row.get(3)?,
        name: row.get(4)?,
        paired_at: row.get(5)?,
        session: id_or_null(row, 6)?,
        delivered_seq: read_count(row, 7)?,
        delivering_seq: Some(read_count(row, 8)?).filter(|seq| *seq > 0),
        last_from_window: row.get(9)?,
    })
}

fn inbound_message(row: &Row<'_>) -> Result<InboundMessageRow, StoreError> {
    Ok(InboundMessageRow { key: row.get(0)?, chat: row.get(1)?, at: row.get(2)?, message_json: row.get(3)? })
}

impl Reader<'_> {
    /// Returns the people who may write through a service, oldest first.
    pub fn chats(&self, service: ChatService) -> Result<Vec<ChatRow>, StoreError> {
        let sql = concat!("SELECT ", chat_columns!(), " FROM chats WHERE service = ?1 ORDER BY key");
        self.rows(sql, [to_word(&service)?], chat)
    }

    /// Returns one of the chats.
    pub fn chat(&self, key: i64) -> Result<Option<ChatRow>, StoreError> {
        self.row(concat!("SELECT ", chat_columns!(), " FROM chats WHERE key = ?1"), [key], chat)
    }

    /// Returns the inbound messages without a session, oldest first.
    pub fn inbound_messages(&self, limit: u32) -> Result<Vec<InboundMessageRow>, StoreError> {
        self.rows(
            "SELECT key, chat, at, letter_json FROM chat_letters ORDER BY key LIMIT ?1",
            [limit],
            inbound_message,
        )
    }

    /// Returns the pairing codes sent to strangers.
    pub fn pairing_codes(&self) -> Result<Vec<PairingCodeRow>, StoreError> {
        self.rows(
            "SELECT account, person, name, code, until, said_at FROM chat_offers ORDER BY rowid",
            [],
            |row| {
                Ok(PairingCodeRow {
                    account: row.get(0)?,
                    person: row.get(1)?,
                    name: row.get(2)?,
                    code: row.get(3)?,
                    expires_at: row.get(4)?,
                    sent_at: row.get(5)?,
                })
            },
        )
    }

    /// Returns the fetch position of an account; `None` if it was never fetched.
    pub fn fetch_position(
        &self,
        service: ChatService,
        account: &str,
    ) -> Result<Option<FetchPosition>, StoreError> {
        self.row(
            "SELECT next, fetched_at FROM chat_accounts WHERE service = ?1 AND account = ?2",
            params![to_word(&service)?, account],
            |row| Ok(FetchPosition { next_update: row.get(0)?, fetched_at: row.get(1)? }),
        )
    }

    /// Returns the sessions started in a chat that are not deleted, most recently used first.
    pub fn chat_sessions(&self, chat: i64, limit: u32) -> Result<Vec<SessionInfo>, StoreError> {
        self.rows(
            concat!(
                "SELECT ",
                head_columns!(),
                " FROM sessions WHERE deleted_at IS NULL
                   AND sessions.id IN (SELECT session FROM chat_sessions WHERE chat = ?1)
                 ORDER BY updated_at DESC, sessions.key DESC LIMIT ?2"
            ),
            params![chat, limit],
            head,
        )
    }
}

impl Tx<'_> {
    /// Allows a person to write. A person who already may keeps their chat.
    pub fn pair(
        &mut self,
        service: ChatService,
        account: &str,
        (person, name): (&str, &str),
        time: Millis,
    ) -> Result<ChatRow, StoreError> {
        self.change(
            "INSERT INTO chats (service, account, person, name, paired_at) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO UPDATE SET name = excluded.name",
            params![to_word(&service)?, account, person, name, time],
        )?;
        let found = self.row(
            concat!(
                "SELECT ",
                chat_columns!(),
                " FROM chats WHERE service = ?1 AND account = ?2 AND person = ?3"
            ),
            params![to_word(&service)?, account, person],
            chat,
        )?;
        found.ok_or_else(|| StoreError::Failed("a chat that was just stored is not there".to_owned()))
    }

    /// Revokes a person's permission to write. Deletes their inbound messages that have no session.
    pub fn unpair(&mut self, chat: i64) -> Result<(), StoreError> {
        self.change("DELETE FROM chats WHERE key = ?1", [chat])?;
        Ok(())
    }

    /// Deletes a service's data: its allowed people and its fetch position.
    pub fn forget_chats(&mut self, service: ChatService) -> Result<(), StoreError> {
        self.change("DELETE FROM chats WHERE service = ?1", [to_word(&service)?])?;
        self.change("DELETE FROM chat_accounts WHERE service = ?1", [to_word(&service)?])?;
        self.change("DELETE FROM chat_offers", [])?;
        Ok(())
    }

    /// Stores the fetched messages and the fetch position: the service forgets a message once Octo asks for the
    /// next ones.
    pub fn add_inbound_messages(
        &mut self,
        service: ChatService,
        account: &str,
        fetched: FetchPosition,
        messages: &[(i64, String)],
    ) -> Result<(), StoreError> {
        self.change(
            "INSERT INTO chat_accounts (service, account, next, fetched_at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET next = excluded.next, fetched_at = excluded.fetched_at",
            params![to_word(&service)?, account, fetched.next_update, fetched.fetched_at],
        )?;
        for (chat, message_json) in messages {
            self.change(
                // The person's permission may have been revoked meanwhile.
                "INSERT INTO chat_letters (chat, at, letter_json)
                 SELECT key, ?2, ?3 FROM chats WHERE key = ?1",
                params![chat, fetched.fetched_at, message_json],
            )?;
        }
        Ok(())
    }

    /// Removes a processed inbound message. Runs in the transaction that adds its message to a session, which
    /// keeps it in exactly one of the two.
    pub fn remove_inbound_message(&mut self, message: i64) -> Result<(), StoreError> {
        self.change("DELETE FROM chat_letters WHERE key = ?1", [message])?;
        Ok(())
    }

    /// Connects a chat to this session from its event `told` on; with `None`, the chat's next message starts a
    /// session.
    pub fn set_chat_session(
        &mut self,
        chat: i64,
        session: Option<SessionId>,
        copied: u64,
    ) -> Result<(), StoreError> {
        self.change(
            "UPDATE chats SET session = ?2, told = ?3, telling = 0, at_desk = 0 WHERE key = ?1",
            params![chat, session.map(|id| id.to_string()), count(copied)],
        )?;
        Ok(())
    }

    /// Records that a session was started in a chat.
    pub fn record_chat_session(&mut self, chat: i64, session: SessionId) -> Result<(), StoreError> {
        self.change(
            "INSERT OR IGNORE INTO chat_sessions (chat, session) SELECT key, ?2 FROM chats WHERE key = ?1",
            params![chat, session.to_string()],
        )?;
        Ok(())
    }

    /// Replaces the pairing codes sent to strangers.
    pub fn replace_pairing_codes(&mut self, codes: &[PairingCodeRow]) -> Result<(), StoreError> {
        self.change("DELETE FROM chat_offers", [])?;
        for offer in codes {
            self.change(
                "INSERT INTO chat_offers (account, person, name, code, until, said_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![offer.account, offer.person, offer.name, offer.code, offer.expires_at, offer.sent_at],
            )?;
        }
        Ok(())
    }

    /// Records that an event of its session is being delivered to a chat. Returns whether the chat still
    /// belongs to that session, and is still allowed.
    pub fn begin_delivery(&mut self, chat: i64, session: SessionId, seq: u64) -> Result<bool, StoreError> {
        let changed = self.change(
            "UPDATE chats SET telling = ?3 WHERE key = ?1 AND session = ?2",
            params![chat, session.to_string(), count(seq)],
        )?;
        Ok(changed > 0)
    }

    /// Records that the session's events up to this one were delivered to a chat. Returns whether the chat
    /// still belongs to that session.
    pub fn finish_delivery(
        &mut self,
        chat: i64,
        session: SessionId,
        seq: u64,
        at_desk: bool,
    ) -> Result<bool, StoreError> {
        let changed = self.change(
            "UPDATE chats SET told = ?3, telling = 0, at_desk = ?4 WHERE key = ?1 AND session = ?2",
            params![chat, session.to_string(), count(seq), at_desk],
        )?;
        Ok(changed > 0)
    }
}
