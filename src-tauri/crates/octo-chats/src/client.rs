//! What Octo asks of any chat service.

use crate::{ChatError, InboundUpdate, Person, Post, Telegram, telegram};
use octo_llm::Network;
use octo_protocol::{ApiError, ChatService};
use secrecy::SecretString;
use std::{future::Future, time::Duration};

/// A client of an account at a chat service.
pub trait ChatClient: Send + Sync {
    /// Returns the id of the account if the credentials contain it.
    fn known_id(&self) -> Option<&str>;

    /// Asks the service for the account's identity, which also tests the credentials.
    ///
    /// # Errors
    /// Returns [`ChatError::UnknownToken`] if the service does not know the token.
    fn account(&self) -> impl Future<Output = Result<Person, ChatError>> + Send;

    /// Returns the updates from `offset` on (`None` means from the first unfetched one), oldest first; nothing if
    /// there are none during `timeout`, at most [`crate::POLL_TIME`]. The service then forgets everything before
    /// `offset`.
    ///
    /// # Errors
    /// Returns [`ChatError::Conflict`] if another program requests the same bot's updates.
    fn fetch_updates(
        &self,
        offset: Option<i64>,
        timeout: Duration,
    ) -> impl Future<Output = Result<Vec<InboundUpdate>, ChatError>> + Send;

    /// Sends a post to a person's chat.
    ///
    /// # Errors
    /// Returns [`ChatError::Refused`] for example if they blocked the account.
    fn send(&self, person: &str, post: &Post) -> impl Future<Output = Result<(), ChatError>> + Send;

    /// Shows a typing indicator in a person's chat for about five seconds.
    ///
    /// # Errors
    /// Returns the errors of [`Self::send`].
    fn typing(&self, person: &str) -> impl Future<Output = Result<(), ChatError>> + Send;

    /// Tells the service that a button press was handled, so that the person's client stops waiting. The client
    /// shows `text`, unless it is empty.
    ///
    /// # Errors
    /// Returns [`ChatError::Refused`] if the press is too old.
    fn acknowledge(&self, press: &str, text: &str) -> impl Future<Output = Result<(), ChatError>> + Send;

    /// Downloads a file that was attached to a message.
    ///
    /// # Errors
    /// Returns [`ChatError::Refused`] if it no longer exists, or is larger than `limit` bytes.
    fn file(&self, file: &str, limit: u64) -> impl Future<Output = Result<Vec<u8>, ChatError>> + Send;
}

/// Returns the normalized address of a service's server, and the host its token is bound to. `None` means the
/// service's own server.
///
/// # Errors
/// Returns `chat.server_wrong` if the text is not an address, contains a name or a password, or would send the
/// token unencrypted over a network.
pub fn server_address(service: ChatService, address: Option<&str>) -> Result<(String, String), ApiError> {
    match service {
        ChatService::Telegram => telegram::server_address(address),
    }
}

/// The client of the account at any service. Cheap to clone.
#[derive(Clone, Debug)]
pub enum ServiceClient {
    /// Telegram.
    Telegram(Telegram),
}

/// Evaluates a call on the client inside a [`ServiceClient`].
macro_rules! dispatch {
    ($service:ident, $client:ident => $call:expr) => {
        match $service {
            ServiceClient::Telegram($client) => $call,
        }
    };
}

impl ServiceClient {
    /// Creates the client of an account from its token, with the network settings. `None` as `server` means the
    /// service's own server.
    ///
    /// # Errors
    /// Returns [`ChatError::Connection`] for an unusable address, proxy or certificate, and [`ChatError::UnknownToken`] for a
    /// text that cannot be a token.
    pub fn new(
        service: ChatService,
        network: &Network,
        server: Option<&str>,
        token: SecretString,
    ) -> Result<Self, ChatError> {
        match service {
            ChatService::Telegram => Telegram::new(network, server, token).map(Self::Telegram),
        }
    }

    /// Returns its service.
    pub fn service(&self) -> ChatService {
        match self {
            Self::Telegram(_) => ChatService::Telegram,
        }
    }
}

impl ChatClient for ServiceClient {
    fn known_id(&self) -> Option<&str> {
        dispatch!(self, client => client.known_id())
    }

    async fn account(&self) -> Result<Person, ChatError> {
        dispatch!(self, client => client.account().await)
    }

    async fn fetch_updates(
        &self,
        offset: Option<i64>,
        timeout: Duration,
    ) -> Result<Vec<InboundUpdate>, ChatError> {
        dispatch!(self, client => client.fetch_updates(offset, timeout).await)
    }

    async fn send(&self, person: &str, post: &Post) -> Result<(), ChatError> {
        dispatch!(self, client => client.send(person, post).await)
    }

    async fn typing(&self, person: &str) -> Result<(), ChatError> {
        dispatch!(self, client => client.typing(person).await)
    }

    async fn acknowledge(&self, press: &str, text: &str) -> Result<(), ChatError> {
        dispatch!(self, client => client.acknowledge(press, text).await)
    }

    async fn file(&self, file: &str, limit: u64) -> Result<Vec<u8>, ChatError> {
        dispatch!(self, client => client.file(file, limit).await)
    }
}
