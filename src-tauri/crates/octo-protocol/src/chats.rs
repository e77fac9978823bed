//! Chat services a person can write to Octo through.

use crate::{ApiError, KeyState, Millis, Mode, Secret, Switch};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A chat service Octo can speak to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ChatService {
    /// Telegram, by a bot of the person's own.
    Telegram,
}

/// The chat services that are set up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export)]
pub struct ChatSettings {
    /// Telegram; none where it is not set up.
    pub telegram: Option<TelegramSettings>,
}

/// How Octo is reached through Telegram. Its token is in the keychain, bound to the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TelegramSettings {
    /// Whether messages are fetched.
    pub on: Switch,
    /// Whether there is a token.
    pub token: KeyState,
    /// Another server than the service's own; none for that.
    pub server: Option<String>,
    /// The bot the token was tested with; none where it was saved untested.
    pub bot: Option<ChatAccount>,
    /// The absolute folder that sessions begun from there work in.
    pub folder: String,
    /// The mode such sessions start in. It cannot be changed from there.
    pub mode: Mode,
}

/// Somebody at a chat service: the bot, or a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ChatAccount {
    /// The service's id of it, which nobody else can choose.
    pub id: String,
    /// What it calls itself.
    pub name: String,
}

/// Telegram as the person enters it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TelegramDraft {
    /// The bot's token; none to keep the one that is saved.
    pub token: Option<Secret>,
    /// See [`TelegramSettings::server`].
    pub server: Option<String>,
    /// See [`TelegramSettings::folder`].
    pub folder: String,
    /// See [`TelegramSettings::mode`].
    pub mode: Mode,
}

/// How the chat services are. Settings say what they are to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ChatState {
    /// Telegram.
    pub telegram: ChatConnection,
    /// Who may write, the first first.
    pub people: Vec<PairedPerson>,
}

/// How the connection to a chat service is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum ChatConnection {
    /// It is not set up, or switched off.
    Off,
    /// It is being made.
    Connecting,
    /// Messages come.
    Connected,
    /// It was lost, and is tried again. What is written meanwhile waits at the service.
    Reconnecting {
        /// Why.
        error: ApiError,
        /// When it is tried again.
        #[ts(type = "number")]
        at: Millis,
    },
    /// It cannot be made until the person changes something.
    Refused {
        /// Why.
        error: ApiError,
    },
    /// Another Octo on this home has it.
    Elsewhere,
}

/// Somebody who may write to Octo through a chat service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct PairedPerson {
    /// Octo's number for them.
    #[ts(type = "number")]
    pub key: i64,
    /// Where they write.
    pub service: ChatService,
    /// What they called themselves when they were paired.
    pub name: String,
    /// When that was.
    #[ts(type = "number")]
    pub paired_at: Millis,
}
