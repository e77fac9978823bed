//! Requests about sessions.

use super::{NewSessionKind, Sessions, unknown_session};
use crate::{
    attachments,
    reply::{acknowledge, json},
    session::UserMessage,
};
use octo_protocol::{
    ApiError, Block, Mode, Profile, SessionFolders, SessionHits, SessionId, SessionInfo, SessionList,
    SessionPicture, SessionRequest,
};
use octo_workspace::session_folder;
use serde_json::Value;
use std::path::Path;

impl Sessions {
    /// Carries out a request about sessions.
    pub(crate) async fn request(&self, request: SessionRequest) -> Result<Value, ApiError> {
        let store = &self.runtime.base.store;
        match request {
            SessionRequest::ListSessions(call) => {
                let limit = call.limit.min(200);
                let page = store
                    .read(move |reader| reader.sessions_where(&call.query, &call.filter, call.offset, limit));
                let page = page.await;
                let (sessions, total) = page?;
                json(SessionList { sessions, total })
            }
            SessionRequest::ListFolders(_) => {
                let folders = store.read(|reader| reader.session_folders()).await?;
                json(SessionFolders { folders })
            }
            SessionRequest::SearchSessions(call) => {
                let limit = call.limit.min(100);
                let matches = store.read(move |reader| reader.search(&call.query, &call.filter, limit)).await;
                json(SessionHits { hits: matches? })
            }
            SessionRequest::StartSession(call) => {
                self.runtime.services.browser.person_acted();
                let model = self.model_or_default(call.model).await?;
                let folder = session_folder(Path::new(&call.folder))?;
                self.settings.remember_folder(&folder).await?;
                let source = self.runtime.base.config.source;
                let kind = NewSessionKind::Model { model, effort: call.effort, title: call.title, source };
                json(self.start(folder, call.profile, call.mode, kind, call.blocks).await?)
            }
            SessionRequest::StartDemo(_) => json(self.start_demo().await?),
            SessionRequest::OpenSession(call) => json(self.snapshot(call.session).await?),
            SessionRequest::Messages(call) => {
                let limit = call.limit.min(500);
                let page =
                    store.read(move |reader| reader.page(call.session, Some(call.before), limit)).await;
                json(page?)
            }
            SessionRequest::Send(call) => {
                json(self.send(call.session, UserMessage::in_window(call.blocks)).await?)
            }
            SessionRequest::Stop(call) => acknowledge(self.stop(call.session).await),
            SessionRequest::StopCommand(call) => {
                acknowledge(self.stop_command(call.session, call.handle).await)
            }
            SessionRequest::RetryTurn(call) => json(self.call(call.session, call).await?),
            SessionRequest::AnswerQuestion(call) => json(self.call(call.session, call).await?),
            SessionRequest::AnswerBudget(call) => json(self.call(call.session, call).await?),
            SessionRequest::SetEffort(call) => json(self.call(call.session, call).await?),
            SessionRequest::EstimateSwitch(call) => json(self.call(call.session, call).await?),
            SessionRequest::EditQueued(call) => json(self.call(call.session, call).await?),
            SessionRequest::RemoveQueued(call) => json(self.call(call.session, call).await?),
            SessionRequest::SetMode(call) => json(self.call(call.session, call).await?),
            SessionRequest::SetModel(call) => json(self.call(call.session, call).await?),
            SessionRequest::SetFolder(call) => json(self.call(call.session, call).await?),
            SessionRequest::GetPicture(call) => json(self.picture(call.session, call.path).await?),
            SessionRequest::SetDraft(call) => {
                let result = store.write(move |tx| tx.set_draft(call.session, &call.draft)).await;
                acknowledge(result.map_err(ApiError::from))
            }
            SessionRequest::SetNewDraft(call) => acknowledge(
                store.write(move |tx| tx.set_new_draft(&call.draft)).await.map_err(ApiError::from),
            ),
            SessionRequest::GetDraft(call) => {
                json(store.read(move |reader| reader.draft_of(call.session)).await?)
            }
            SessionRequest::GetNewDraft(_) => json(store.read(|reader| reader.new_draft()).await?),
            SessionRequest::RenameSession(call) => acknowledge(self.rename(call.session, &call.title).await),
            SessionRequest::PinSession(call) => acknowledge(self.pin(call.session, call.pinned).await),
            SessionRequest::MarkRead(call) => acknowledge(self.mark_read(call.session).await),
            SessionRequest::DeleteSession(call) => acknowledge(self.delete(call.session).await),
            SessionRequest::RestoreSession(call) => {
                let restored = store.write(move |tx| tx.undelete(call.session)).await;
                json(restored?)
            }
        }
    }

    /// Returns a picture that an answer names, read from the folder of its session.
    async fn picture(&self, session: SessionId, path: String) -> Result<SessionPicture, ApiError> {
        let info = self.runtime.base.store.read(move |reader| reader.session(session)).await?;
        let info = info.ok_or_else(unknown_session)?;
        attachments::picture(info.folder, path).await
    }

    async fn start_demo(&self) -> Result<SessionInfo, ApiError> {
        let folder = self.runtime.base.config.home.join("demo").join(SessionId::new().to_string());
        octo_workspace::private_folder(&folder).map_err(|error| {
            ApiError::new("start.home_unwritable")
                .arg("home", self.runtime.base.config.home.display())
                .detail(error)
        })?;
        let language = self.runtime.base.store.read(|reader| reader.settings()).await?.language;
        let words =
            octo_protocol::words::say(language, "demo.first_message", &std::collections::BTreeMap::new());
        let blocks = vec![Block::Text { text: words }];
        self.start(session_folder(&folder)?, Profile::GENERAL, Mode::Ask, NewSessionKind::Demo, blocks).await
    }
}
