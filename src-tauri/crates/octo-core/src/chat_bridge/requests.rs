//! Requests about chat services.

use super::ChatBridge;
use crate::reply::json;
use octo_protocol::{
    Acknowledgement, ApiError, ChatRequest, ChatService, SettingsSnapshot, TelegramSettings,
};
use serde_json::Value;

impl ChatBridge {
    /// Carries out a request.
    pub(crate) async fn request(&self, request: ChatRequest) -> Result<Value, ApiError> {
        let chats = &self.chats;
        match request {
            ChatRequest::GetChats(_) => json(chats.state().await?),
            ChatRequest::TestTelegram(call) => json(chats.test(&self.models.reach(), &call.draft).await?),
            ChatRequest::SaveTelegram(call) => {
                let before = chats.telegram();
                let telegram = chats.accept(call.draft, call.bot).await?;
                let snapshot = self.set_telegram(move |known| *known = Some(telegram)).await?;
                if let Some(before) = before {
                    chats.forget_former(&before).await?;
                }
                json(snapshot)
            }
            ChatRequest::SwitchTelegram(call) => {
                let switched = self.set_telegram(move |known| {
                    if let Some(telegram) = known {
                        telegram.on = call.on;
                    }
                });
                json(switched.await?)
            }
            ChatRequest::RemoveTelegram(_) => {
                chats.forget().await?;
                let gone = self.base.store.write(|tx| tx.forget_chats(ChatService::Telegram)).await;
                gone?;
                json(self.set_telegram(|known| *known = None).await?)
            }
            ChatRequest::PairPerson(call) => json(chats.pair(&call.code).await?),
            ChatRequest::UnpairPerson(call) => {
                let gone = self.base.store.write(move |tx| tx.unpair(call.person)).await;
                gone?;
                chats.changed();
                chats.tell();
                json(Acknowledgement {})
            }
        }
    }

    async fn set_telegram(
        &self,
        change: impl FnOnce(&mut Option<TelegramSettings>) + Send + 'static,
    ) -> Result<SettingsSnapshot, ApiError> {
        self.settings
            .change(move |_, settings| {
                change(&mut settings.chats.telegram);
                Ok(())
            })
            .await?;
        // The same settings can refer to another token.
        self.chats.changed();
        self.chats.tell();
        Ok(self.settings.snapshot().await?.1)
    }
}
