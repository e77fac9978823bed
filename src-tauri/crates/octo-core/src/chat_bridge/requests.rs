//! Requests about chat services.

use super::ChatBridge;
use crate::reply::json;
use octo_protocol::{
    Acknowledgement, ApiError, ChatAccount, ChatRequest, ChatService, ServiceDraft, ServiceSettings,
    SettingsSnapshot, Switch,
};
use serde_json::Value;

impl ChatBridge {
    /// Carries out a request.
    pub(crate) async fn request(&self, request: ChatRequest) -> Result<Value, ApiError> {
        let chats = &self.chats;
        match request {
            ChatRequest::GetChats(_) => json(chats.state().await?),
            ChatRequest::TestTelegram(call) => self.test_chat(ChatService::Telegram, call.draft).await,
            ChatRequest::SaveTelegram(call) => {
                self.save_chat(ChatService::Telegram, call.draft, call.bot).await
            }
            ChatRequest::SwitchTelegram(call) => self.switch_chat(ChatService::Telegram, call.on).await,
            ChatRequest::RemoveTelegram(_) => self.remove_chat(ChatService::Telegram).await,
            ChatRequest::PairPerson(call) => json(chats.pair(&call.code).await?),
            ChatRequest::UnpairPerson(call) => {
                let result = self.base.store.write(move |tx| tx.unpair(call.person)).await;
                result?;
                chats.signal_change();
                chats.notify();
                json(Acknowledgement {})
            }
        }
    }

    async fn test_chat(&self, service: ChatService, draft: ServiceDraft) -> Result<Value, ApiError> {
        json(self.chats.test(service, &self.models.network_config(), &draft).await?)
    }

    async fn save_chat(
        &self,
        service: ChatService,
        draft: ServiceDraft,
        bot: Option<ChatAccount>,
    ) -> Result<Value, ApiError> {
        let chats = &self.chats;
        let previous = chats.service(service);
        let new = chats.accept(service, draft, bot).await?;
        let snapshot = self.set_chat(service, move |settings| *settings = Some(new)).await?;
        if let Some(previous) = previous {
            chats.forget_former_token(service, &previous).await?;
        }
        json(snapshot)
    }

    async fn switch_chat(&self, service: ChatService, on: Switch) -> Result<Value, ApiError> {
        let switched = self.set_chat(service, move |settings| {
            if let Some(settings) = settings {
                settings.on = on;
            }
        });
        json(switched.await?)
    }

    async fn remove_chat(&self, service: ChatService) -> Result<Value, ApiError> {
        self.chats.forget(service).await?;
        self.base.store.write(move |tx| tx.forget_chats(service)).await?;
        json(self.set_chat(service, |settings| *settings = None).await?)
    }

    async fn set_chat(
        &self,
        service: ChatService,
        change: impl FnOnce(&mut Option<ServiceSettings>) + Send + 'static,
    ) -> Result<SettingsSnapshot, ApiError> {
        self.settings
            .change(move |_, settings| {
                change(settings.chats.of_mut(service));
                Ok(())
            })
            .await?;
        // The same settings can refer to another token.
        self.chats.signal_change();
        self.chats.notify();
        Ok(self.settings.snapshot().await?.1)
    }
}
