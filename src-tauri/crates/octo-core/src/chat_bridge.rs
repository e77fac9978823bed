//! The bridge between chat services and sessions: it listens to what people write there, hands it to sessions, and tells
//! what these answer.
//!
//! | Part | What it is |
//! | --- | --- |
//! | [`orders`] | what a message asks of Octo itself: pure |
//! | [`telling`] | what a chat is told of an event of its session: pure |
//! | [`fetch`] | the part that waits for what people write, and keeps it |
//! | [`hand`] | what becomes of it |
//! | [`tell`] | the part that waits for what sessions do, and says it |
//! | [`speak`] | sending, as often as it takes and no oftener |
//! | [`sessions`] | what a chat does with sessions |
//!
//! The settings, the token and who is let in are [`crate::chats`], below sessions.
//!
//! What a person wrote is on the disk before the service is asked for more, and leaves its table in the transaction that
//! puts it into its session: it reaches one session, once. What a chat is told stands on the numbered events of its
//! session; that it is being told is on the disk before it is sent, so that after a crash it is said that an answer may be
//! missing, not the answer a second time. Nobody is heard whom the person at the computer did not let in by a code, nothing
//! is approved from a chat, and a session's mode and folder are not changed from there.
//!
//! Of all processes on a home the one with the schedule's lease does this: what is done unattended is done in one place.
//! Settings and codes are in the store, so that any window may be where they are chosen and typed.

mod fetch;
mod hand;
mod orders;
mod sessions;
mod speak;
mod tell;
mod telling;

use crate::{base::Base, chats::Chats, models::Models, sessions::Sessions, settings::LiveSettings};
use octo_chats::Telegram;
use octo_protocol::{ApiError, ChatAccount, Language, words};
use octo_store::ChatRow;
use std::{collections::BTreeMap, sync::Arc};

/// The bridge between chat services and sessions.
pub(crate) struct ChatBridge {
    base: Arc<Base>,
    chats: Arc<Chats>,
    models: Arc<Models>,
    sessions: Sessions,
    settings: LiveSettings,
}

impl ChatBridge {
    pub(crate) fn new(sessions: Sessions, settings: LiveSettings) -> Self {
        let (base, services) = (&sessions.runtime().base, &sessions.runtime().services);
        Self {
            base: Arc::clone(base),
            chats: Arc::clone(&services.chats),
            models: Arc::clone(&services.models),
            sessions,
            settings,
        }
    }

    /// Begins to receive and deliver messages, for as long as the application runs.
    pub(crate) fn begin(self: &Arc<Self>) {
        fetch::begin(self);
        tell::begin(self);
    }

    /// Whether this process does the unattended work.
    async fn is_in_charge(&self) -> Result<bool, ApiError> {
        let lease = self.base.store.read(|reader| reader.schedule_lease()).await?;
        Ok(lease.is_some_and(|lease| lease.token == self.base.lease.token))
    }
}

/// The current account at a service.
#[derive(Clone)]
struct Line {
    telegram: Telegram,
    account: ChatAccount,
}

/// A person's chat to send posts to.
struct Talk<'a> {
    bridge: &'a ChatBridge,
    line: &'a Line,
    chat: &'a ChatRow,
}

/// The texts of chats, in the person's language.
#[derive(Clone, Copy)]
struct Words(Language);

impl Words {
    fn of(bridge: &ChatBridge) -> Self {
        Self(bridge.base.preferences().language)
    }

    fn say(self, key: &str) -> String {
        self.fill(key, &[])
    }

    fn fill(self, key: &str, args: &[(&str, &str)]) -> String {
        let args: BTreeMap<String, String> =
            args.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        words::say(self.0, key, &args)
    }

    /// Returns the message of an error, without the details meant for the log.
    fn error(self, error: &ApiError) -> String {
        words::say(self.0, &format!("error.{}", error.key), &error.args)
    }
}
