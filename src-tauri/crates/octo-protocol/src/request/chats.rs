//! Requests about chat services.

use super::{Acknowledgement, Request, TypedRequest};
use crate::{ChatAccount, ChatState, PairedPerson, ServiceDraft, SettingsSnapshot, Switch};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests about chat services.
    ChatRequest in Chats, ChatReplies {
        /// Returns the state of the chat services.
        GetChats {} -> ChatState;
        /// Asks the service for the token's bot. Stores nothing.
        TestTelegram {
            /// The entered settings.
            draft: ServiceDraft,
        } -> ChatAccount;
        /// Stores the settings, tested or not, and connects. The token is stored in the keychain.
        SaveTelegram {
            /// The entered settings.
            draft: ServiceDraft,
            /// The bot the token was tested with; `None` if it was not tested.
            bot: Option<ChatAccount>,
        } -> SettingsSnapshot;
        /// Turns receiving messages on or off. While it is off, messages wait at the service for a day.
        SwitchTelegram {
            /// Whether to receive messages.
            on: Switch,
        } -> SettingsSnapshot;
        /// Removes the service, its token, and the allowed people. Keeps their sessions.
        RemoveTelegram {} -> SettingsSnapshot;
        /// Allows a person to write: the one who received this code in their chat.
        PairPerson {
            /// The code, as the person typed it.
            code: String,
        } -> PairedPerson;
        /// Revokes a person's permission to write. Keeps their sessions.
        UnpairPerson {
            /// The person; see [`PairedPerson::key`].
            #[ts(type = "number")]
            person: i64,
        } -> Acknowledgement;
    }
}
