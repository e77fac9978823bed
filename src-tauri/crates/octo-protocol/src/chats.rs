//! Chat services through which a person can write to Octo.

use crate::{ApiError, KeyState, Millis, Mode, Secret, Switch};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A chat service that Octo supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum ChatService {
    /// Telegram, through the person's own bot.
    Telegram,
}

impl ChatService {
    /// All of them.
    pub const ALL: [Self; 1] = [Self::Telegram];
}

/// The chat services the person has set up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export, export_to = "protocol.ts")]
pub struct ChatSettings {
    /// Telegram; `None` if it is not set up.
    pub telegram: Option<ServiceSettings>,
}

impl ChatSettings {
    /// Returns the settings of a service; `None` if it is not set up.
    pub fn of(&self, service: ChatService) -> Option<&ServiceSettings> {
        match service {
            ChatService::Telegram => self.telegram.as_ref(),
        }
    }

    /// Returns the place of a service's settings.
    pub fn of_mut(&mut self, service: ChatService) -> &mut Option<ServiceSettings> {
        match service {
            ChatService::Telegram => &mut self.telegram,
        }
    }
}

/// How Octo connects to a service. The token is in the keychain, bound to the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts", rename = "TelegramSettings")]
pub struct ServiceSettings {
    /// Whether Octo fetches messages.
    pub on: Switch,
    /// Whether a token is stored.
    pub token: KeyState,
    /// A server other than the service's own; `None` for the service's.
    pub server: Option<String>,
    /// The bot the token was tested with; `None` if the person saved it untested.
    pub bot: Option<ChatAccount>,
    /// The absolute folder for sessions started from the chat.
    pub folder: String,
    /// The mode for such sessions. It cannot be changed from the chat.
    pub mode: Mode,
}

/// An account at a chat service: the bot, or a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct ChatAccount {
    /// The service's id for it, unique and not chosen by the account.
    pub id: String,
    /// The name it gives itself.
    pub name: String,
}

/// A service's settings as the person enters them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts", rename = "TelegramDraft")]
pub struct ServiceDraft {
    /// The bot's token; `None` to keep the saved one.
    pub token: Option<Secret>,
    /// See [`ServiceSettings::server`].
    pub server: Option<String>,
    /// See [`ServiceSettings::folder`].
    pub folder: String,
    /// See [`ServiceSettings::mode`].
    pub mode: Mode,
}

/// The state of the chat services; settings hold the intended configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct ChatState {
    /// Telegram.
    pub telegram: ChatConnection,
    /// The people who may write, oldest first.
    pub people: Vec<PairedPerson>,
}

/// The state of the connection to a chat service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum ChatConnection {
    /// Not set up, or switched off.
    Off,
    /// Octo is connecting.
    Connecting,
    /// Octo receives messages.
    Connected,
    /// The connection was lost, and Octo will retry. Meanwhile messages wait at the service.
    Reconnecting {
        /// The error.
        error: ApiError,
        /// When Octo retries.
        #[ts(type = "number")]
        at: Millis,
    },
    /// The connection cannot succeed until the person changes something.
    Refused {
        /// The error.
        error: ApiError,
    },
    /// Another Octo process on this home has the connection.
    Elsewhere,
}

/// A person who may write to Octo through a chat service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct PairedPerson {
    /// Octo's number for them.
    #[ts(type = "number")]
    pub key: i64,
    /// The chat service they use.
    pub service: ChatService,
    /// Their name at the time of pairing.
    pub name: String,
    /// When they were paired.
    #[ts(type = "number")]
    pub paired_at: Millis,
}
