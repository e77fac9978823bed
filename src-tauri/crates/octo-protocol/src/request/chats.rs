//! Requests about chat services.

use super::{Call, Done, Request};
use crate::{ChatAccount, ChatState, PairedPerson, SettingsSnapshot, Switch, TelegramDraft};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests about chat services.
    ChatRequest in Chats, ChatReplies {
        /// How they are.
        GetChats {} -> ChatState;
        /// Ask the service whose token it is. Keeps nothing.
        TestTelegram {
            /// What was entered.
            draft: TelegramDraft,
        } -> ChatAccount;
        /// Keep it, tested or not, and connect. The token goes into the keychain.
        SaveTelegram {
            /// What was entered.
            draft: TelegramDraft,
            /// The bot it was tested with; none where it was not.
            bot: Option<ChatAccount>,
        } -> SettingsSnapshot;
        /// Let messages come, or not. What is written meanwhile waits at the service for a day.
        SwitchTelegram {
            /// Whether they are to come.
            on: Switch,
        } -> SettingsSnapshot;
        /// Forget it, its token, and who may write. Sessions are kept.
        RemoveTelegram {} -> SettingsSnapshot;
        /// Let somebody write: whoever was given this code in their chat.
        PairPerson {
            /// The code, as it was typed.
            code: String,
        } -> PairedPerson;
        /// Let somebody not write any more. Their sessions are kept.
        UnpairPerson {
            /// Who; see [`PairedPerson::key`].
            #[ts(type = "number")]
            person: i64,
        } -> Done;
    }
}
