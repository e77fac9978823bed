//! The bridge between chat services and sessions: it receives people's messages, passes them to sessions, and
//! reports the sessions' answers.
//!
//! - [`orders`]: requests of a message to Octo itself, as pure functions
//! - [`posts`]: the posts to a chat for an event of its session, as pure functions
//! - [`fetch`]: receives messages and stores them
//! - [`inbound`]: handles the stored messages
//! - [`reporter`]: waits for events of sessions and reports them
//! - [`sending`]: sends, with as many retries as needed and no more
//! - [`sessions`]: the operations of a chat on sessions
//!
//! [`crate::chats`], below sessions, contains the settings, the token and the list of admitted people.
//!
//! A person's message is on disk before the bridge asks the service for more, and leaves its table in the
//! transaction that puts it into its session: it reaches one session, once. Reports to a chat follow the
//! numbered events of its session. The start of a delivery is on disk before the delivery is sent; after a
//! crash the bridge therefore reports that an answer may be missing and does not send the answer a second time.
//! The bridge ignores everyone whom the person at the computer did not admit by a code. A chat can approve
//! nothing, and cannot change a session's mode or folder.
//!
//! Of all processes on a home, the one with the schedule's lease does this, so all unattended work happens in
//! one process. Settings and codes are in the store, so any window can change the settings and enter the codes.

mod fetch;
mod inbound;
mod orders;
mod posts;
mod reporter;
mod requests;
mod sending;
mod sessions;

use crate::{base::Base, chats::Chats, models::Models, sessions::Sessions, settings::LiveSettings};
use octo_chats::ServiceClient;
use octo_protocol::{ApiError, ChatAccount, ChatService, Language, words};
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
        for service in ChatService::ALL {
            fetch::begin(self, service);
            reporter::begin(self, service);
        }
    }

    /// Whether this process does the unattended work.
    async fn is_in_charge(&self) -> Result<bool, ApiError> {
        let lease = self.base.store.read(|reader| reader.schedule_lease()).await?;
        Ok(lease.is_some_and(|lease| lease.token == self.base.lease.token))
    }
}

/// A connected chat service: its client and the account that the client uses.
#[derive(Clone)]
struct ServiceLink {
    client: ServiceClient,
    account: ChatAccount,
}

/// A person's chat to send posts to.
struct ChatRecipient<'a> {
    bridge: &'a ChatBridge,
    link: &'a ServiceLink,
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
